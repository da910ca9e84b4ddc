"""The labels of a table of yours: names of classes, or a message why they cannot be."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onward.errors import OnwardError

# With more different values than this, numbers with a fraction are measurements, not classes.
_MOST_FRACTIONS = 20


def read_labels(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return labels as texts, null where there is none.

    The column has texts, whole numbers or truth values. White space around a text is no part of it,
    and an empty one is a missing label.

    Examples
    --------
    >>> read_labels(pa.chunked_array([[1.0, 2.0, None]]), "kind").to_pylist()
    ['1', '2', None]
    >>> read_labels(pa.chunked_array([["cat", " cat ", "dog", " "]]), "kind").to_pylist()
    ['cat', 'cat', 'dog', None]
    """
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), None, column)
        if pc.all(pc.equal(pc.floor(column), column)).as_py() is not False:
            column = column.cast(pa.int64(), safe=False)
    try:
        texts = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise OnwardError(
            f"expected names of classes in column {name!r}, found values of type {kind}. Name "
            "another one with label_column"
        ) from error
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    distinct = pc.unique(texts).drop_null()
    labelled = len(texts) - texts.null_count
    if not labelled:
        raise OnwardError(f"expected labels in column {name!r}, found none in any row")
    if len(distinct) < 2:
        raise OnwardError(
            f"expected two classes or more in column {name!r}, found {distinct[0].as_py()!r} only. "
            "Name another one with label_column"
        )
    if len(distinct) > _MOST_FRACTIONS and _has_fractions(distinct):
        raise OnwardError(
            f"expected names of classes in column {name!r}, found {len(distinct):,} different "
            f"numbers such as {distinct[0].as_py()}, which looks like a measurement. Name another "
            "column, or sort the numbers into a few ranges first (low, middle, high)"
        )
    if len(distinct) > max(labelled // 2, _MOST_FRACTIONS):
        raise OnwardError(
            f"expected names of classes in column {name!r}, found {len(distinct):,} different "
            f"ones in {labelled:,} rows, such as {distinct[0].as_py()!r}: each would hardly be "
            "seen twice. Name another column with label_column"
        )
    return texts


def _has_fractions(distinct: pa.Array) -> bool:
    try:
        numbers = np.asarray(distinct.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return False
    return bool((numbers != np.floor(numbers)).any())
