"""A task kind: here, one of Onward's that judges otherwise."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onward.tasks.one_label import OneLabel
from onward.types import Array


@dataclass(frozen=True)
class TwoGuesses(OneLabel):
    """Each sample has one label, and a model may guess twice."""

    name: str = "two_guesses"
    headline: str = "in_two"

    def decode(self, outputs: Any, classes: tuple[str, ...], *tests: int) -> Array:
        """Return the best two classes of each sample, the better one first."""
        super().decode(outputs, classes, *tests)
        return np.argsort(-np.asarray(outputs), axis=1, kind="stable")[:, :2]

    def score(self, decisions: Array, targets: Array) -> dict[str, float]:
        """Return the share of samples whose class is one of the two."""
        right = (decisions == targets[:, None]).any(1)
        return {"in_two": float(right.mean()) if len(right) else float("nan")}

    def by_class(self, decisions: Array, targets: Array, classes: int) -> Array:
        """Return the same for each class; NaN where it has no sample."""
        right = (decisions == targets[:, None]).any(1)
        tested = np.bincount(targets, minlength=classes)
        hits = np.bincount(targets, weights=right, minlength=classes)
        return np.divide(hits, tested, out=np.full(classes, np.nan), where=tested > 0)


TWO_GUESSES = TwoGuesses()
