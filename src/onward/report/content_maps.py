"""Score matrices as numbers for the page, which draws them as tables on one colour scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from onward.report.fields import printable
from onward.report.style import MAP
from onward.report.summary import Summary
from onward.report.verdict import BASELINE

# From one end over a light middle to the other: told apart by all eyes.
_AWAY = ("#0b4a8f", "#4b8fcb", "#a9cde8", "#f4f3ef", "#f6c690", "#dd8233", "#9a4a06")
_STEPS = 17


@dataclass
class Cells:
    """How many cells the page still has room for, in all matrices together."""

    left: int = 80_000


def scales() -> dict[str, list[str]]:
    """Return the colours of scores, low to high, and of differences, behind to ahead."""
    viridis = mpl.colormaps[MAP]
    return {
        "scores": [to_hex(viridis(at)) for at in np.linspace(0, 1, _STEPS)],
        "differences": list(_AWAY),
    }


def maps(
    group: Sequence[Summary],
    limits: tuple[float, float],
    cells: Cells,
) -> dict[str, Any] | None:
    """Return the mean score matrices of a setting; None if it has none.

    Scores are in tenths of a percent. Where there is no room for all methods, the leading ones and
    the baseline are kept.

    Parameters
    ----------
    group
        One setting's methods, the best first.
    limits
        The ends of the colour scale, the same for all settings of a chapter.
    cells
        What is left of the page's room; it is used up here.
    """
    filled = [item for item in group if np.isfinite(item.matrix).any()]
    if not filled:
        return None
    rows = _rows(filled)
    size = len(rows) * len(filled[0].spec.periods)
    room = max(cells.left // size, 1)
    # The baseline is what the others are held against, wherever it stands.
    kept = sorted(filled, key=lambda item: item.label != BASELINE)[:room]
    shown = [item for item in filled if item in kept]
    cells.left -= len(shown) * size
    labels = [item.label for item in shown]
    base = labels.index(BASELINE) if BASELINE in labels else len(labels) - 1
    return {
        "periods": list(map(printable, filled[0].spec.periods)),
        "rows": rows,
        "low": _tenths(np.array([limits[0]]))[0],
        "high": _tenths(np.array([limits[1]]))[0],
        "methods": [
            {"label": item.label, "cells": _tenths(item.matrix[rows].ravel())} for item in shown
        ],
        "first": 0 if base else min(1, len(labels) - 1),
        "second": base,
        "left_out": len(filled) - len(shown),
    }


def _rows(group: Sequence[Summary]) -> list[int]:
    """Return the models that are shown: all, or the last one where only that is tested."""
    periods = len(group[0].spec.periods)
    if group[0].spec.protocol["tests"] == "last":
        return [periods - 1]
    return list(range(periods))


def _tenths(scores: NDArray[np.float64]) -> list[int | None]:
    return [None if np.isnan(score) else round(1000 * float(score)) for score in scores]
