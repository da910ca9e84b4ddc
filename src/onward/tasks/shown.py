"""How the scores of a task kind are shown."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.types import Array

Marks = NDArray[np.bool_]


def everyone(targets: Array) -> Marks:
    """Mark every sample."""
    return np.ones(len(targets), np.bool_)


@dataclass(frozen=True)
class Shown:
    """What a task kind tells whoever shows its scores.

    Parameters
    ----------
    counts
        What its headline counts, in words.
    source
        The papers that its scores are from, where they have any.
    metrics
        What stands in tables, by the names of `onward.report.summary.Summary.metrics`; by default
        what the protocol fills.
    class_mean
        The score in which classes count alike, if it has one.
    precisions
        Whether its scores by class are average precisions.
    sets
        Whether a decision is a set of labels.
    right
        Marks the decisions that are right, given the targets too; None where one is not simply
        right or wrong.
    asks
        Marks the samples that ask for a decision.
    """

    counts: str
    source: str = ""
    metrics: tuple[str, ...] = ()
    class_mean: str | None = None
    precisions: bool = False
    sets: bool = False
    right: Callable[[Array, Array], Marks] | None = None
    asks: Callable[[Array], Marks] = everyone
