"""Which rows of a table of yours become samples: once each, and only with what they need."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.data.hashing import Hashes, hash_numbers, hash_texts, mix_in
from onward.data.yours_images import ImageParts
from onward.data.yours_times import Times
from onward.errors import OnwardError
from onward.types import Array, Rows

_SHOWN = 3


def content_hashes(
    times: Times,
    texts: Mapping[str, pa.ChunkedArray | None],
    wide: Mapping[str, Array],
    images: ImageParts | None,
) -> Hashes:
    """Hash what each row says: its time, label and group, its features and its image."""
    hashes = hash_numbers(times.astype(np.int64))
    for column in texts.values():
        if column is not None:
            hashes = mix_in(hashes, hash_texts(column))
    for array in wide.values():
        hashes = mix_in(hashes, hash_numbers(array))
    return hashes if images is None else mix_in(hashes, images.hashes)


def complete_rows(
    times: Times, images: ImageParts | None, missing: str, time_column: str
) -> tuple[Rows, dict[str, int], tuple[str, ...]]:
    """Return the rows that have a time and an image, what was left out, and which images.

    `missing` says whether to ``stop`` at such rows, or to ``skip`` them.
    """
    timeless = np.isnat(times)
    imageless = np.zeros(len(times), np.bool_) if images is None else ~images.there
    gone = () if images is None else tuple(images.paths[row] for row in np.flatnonzero(imageless))
    if missing == "stop":
        if timeless.any():
            raise OnwardError(
                f"expected a time in every row of column {time_column!r}, found {_rows(timeless)} "
                f"without. {_GO_ON}"
            )
        if imageless.any():
            paths = ", ".join(path or "(no path)" for path in gone[:_SHOWN])
            raise OnwardError(
                f"expected an image for every row, found {_rows(imageless)} without ({paths}). "
                f"Relative paths begin at the table's folder. {_GO_ON}"
            )
    kept = np.flatnonzero(~timeless & ~imageless)
    if not len(kept):
        raise OnwardError("expected rows with a time and an image, found none")
    counts = {"without a time": timeless, "without their image": imageless & ~timeless}
    return kept, {name: int(n.sum()) for name, n in counts.items() if n.any()}, gone


_GO_ON = 'Mend them, or leave these rows out with missing="skip" (--missing skip)'


def each_once(
    ids: pa.ChunkedArray, content: Hashes, kept: Rows, id_column: str
) -> tuple[Rows, int]:
    """Keep one of the rows with one id, and return how many were left out.

    Rows with one id and another content contradict each other: they are refused. A row without
    an id is refused too.
    """
    column = ids.take(pa.array(kept)).combine_chunks()
    if column.null_count:
        rows = kept[np.asarray(column.is_null())]
        raise OnwardError(
            f"expected an id in every row of column {id_column!r}, found {len(rows):,} without "
            f"(first: row {rows[0]}). Without id_column, the row number is the id"
        )
    codes = np.asarray(column.dictionary_encode().indices.to_numpy(), np.int64)
    if len(codes) and codes.max() + 1 == len(codes):
        return kept, 0
    _, first, members = np.unique(codes, return_index=True, return_inverse=True)
    original = first[members]
    mine = content[kept]
    conflicts = np.flatnonzero(mine != mine[original])
    if len(conflicts):
        shown = ", ".join(
            f"{column[int(place)].as_py()!r} in rows {kept[original[place]]} and {kept[place]}"
            for place in conflicts[:_SHOWN]
        )
        raise OnwardError(
            f"expected one row for each id of column {id_column!r}, found {len(conflicts):,} that "
            f"contradict an earlier row with the same id ({shown}). Mend them, or leave id_column "
            "away: the row number is then the id"
        )
    return kept[np.sort(first)], len(kept) - len(first)


def _rows(wrong: NDArray[np.bool_]) -> str:
    rows = np.flatnonzero(wrong)
    return f"{len(rows):,} of {len(wrong):,} rows ({', '.join(map(str, rows[:_SHOWN]))}, …)"
