"""Reading and checking what callers pass to a metric, in one place for all of them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def score_matrix(R: ArrayLike) -> Floats:
    """Return a private float copy of a score matrix, or say what is wrong with it."""
    matrix = _floats(R, "a square score matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(
            f"expected a square score matrix of at least one period, got shape {matrix.shape}; "
            "pass one row per learned_upto and one column per tested_on, NaN where nothing was "
            "tested, and slice a run in progress to R[:t, :t]"
        )
    return matrix


def score_cube(per_class_R: ArrayLike) -> Floats:
    """Return a private float copy of a per-class score matrix of shape (T, T, C)."""
    cube = _floats(per_class_R, "per-class scores of shape (T, T, C)")
    if cube.ndim != 3 or cube.shape[0] != cube.shape[1] or cube.size == 0:
        raise ValueError(
            f"expected per-class scores of shape (T, T, C), got shape {cube.shape}; pass "
            "learned_upto first, tested_on second and the class last"
        )
    return cube


def score_table(values: ArrayLike, what: str) -> Floats:
    """Return a private float copy of a non-empty 2-D array; ``what`` names it in errors."""
    table = _floats(values, what)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"expected {what}, got shape {table.shape}; pass a 2-D array")
    return table


def score_vector(values: ArrayLike, what: str) -> Floats:
    """Return a private float copy of a non-empty list of numbers; ``what`` names it in errors."""
    vector = _floats(values, what)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"expected {what} as a flat list of at least one number, got shape {vector.shape}; "
            "pass a list or a 1-D array"
        )
    return vector


def mean(cells: NDArray[Any]) -> float:
    """Mean of the cells a metric needs: NaN if there are none or if any of them is empty."""
    return float(cells.mean()) if cells.size else float("nan")


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide; a share of nothing is NaN."""
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))


def _floats(values: ArrayLike, what: str) -> Floats:
    # np.asarray would silently uncover the masked cells of a masked array.
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"expected {what}, got rows of different lengths; fill the missing cells with NaN"
        ) from None
    if array.dtype.kind not in "iuf":
        raise ValueError(
            f"expected {what} of real numbers, got dtype {array.dtype}; convert to float and "
            "write NaN (not None) for an empty cell"
        )
    # A copy even when the dtype fits, so that no metric can change what its caller holds.
    floats = array.astype(np.float64)
    if np.isinf(floats).any():
        raise ValueError(f"expected {what} without infinities, got inf; write NaN for no score")
    return floats
