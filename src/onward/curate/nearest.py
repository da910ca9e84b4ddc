"""The rows of a store that are nearest to queries, exactly."""

from pathlib import Path
from typing import Any

import numpy as np

from onward.curate.looking import Scan
from onward.curate.scan import scan
from onward.curate.store import Store, as_store
from onward.errors import OnwardError
from onward.table import Array, Rows


def top_k(queries: Any, store: Store | Path | str | Array, k: int) -> tuple[Array, Rows]:
    """Return the k rows with the highest inner products with each query, best first.

    The pool is read once in blocks and never held. A score is the sum of products in float64,
    rounded to float32; of equal scores the smaller row comes first.

    Parameters
    ----------
    queries
        Numbers of any float type (query, width).
    store
        What ``onward curate embed`` wrote, or its folder, or one .npy file, or an array
        (rows, width), in memory or mapped into it.
    k
        How many; all of them if there are fewer.

    Returns
    -------
    scores, rows
        float32 and int64 of the shape (query, k), or (query, rows) if these are fewer.

    Examples
    --------
    >>> pool = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float16)
    >>> scores, rows = top_k([[1.0, 0.0]], pool, 3)
    >>> rows.tolist(), scores.round(2).tolist()
    ([[0, 2, 3]], [[1.0, 1.0, 0.6000000238418579]])
    """
    held, asked = as_store(store), require_queries(queries)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise OnwardError(f"expected a whole number of rows, 0 or more, found k = {k!r}")
    require_width(asked.shape[1], held.width)
    best = min(int(k), len(held))
    scores = np.empty((len(asked), best), np.float32)
    rows = np.empty((len(asked), best), np.int64)
    if scores.size:
        found = scan(held, Scan(asked[:, None], best)).best
        for at in range(len(asked)):
            scores[at], rows[at] = found[0, at]
    return scores, rows


def require_queries(queries: Any, where: str = "queries") -> Array:
    """Return queries as float64 (query, width), or say what is wrong with them."""
    try:
        asked = np.asarray(queries, np.float64)
    except (TypeError, ValueError) as error:
        raise OnwardError(f"expected numbers (query, width) as {where}, found {error}") from error
    if asked.ndim != 2:
        raise OnwardError(
            f"expected numbers (query, width) as {where}, found the shape {asked.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(asked).all(1))
    if len(wrong):
        raise OnwardError(
            f"expected finite numbers as {where}, found NaN or infinity in row {wrong[0]:,}"
        )
    return asked


def require_width(found: int, of_store: int) -> None:
    """Say if queries and a store cannot be compared."""
    if found != of_store:
        raise OnwardError(
            f"expected queries of {of_store:,} numbers, as the store's rows have, found "
            f"{found:,}. Both have to be of one model"
        )
