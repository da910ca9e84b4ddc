"""Columns of a table of yours as inputs: numbers, embeddings, words.

Numbers and embeddings are centred and scaled by the first period alone. A missing number becomes
the first period's mean; a column that misses some in the first period has a further one that says
where. Truth values are 0 and 1. A date becomes the days from it to the sample's own time, since
the date itself would only tell the period. Words are hashed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onward.data.features import standardise
from onward.data.words import bag_of_words
from onward.data.yours_images import YourImages, drawing_features
from onward.data.yours_times import Times
from onward.errors import OnwardError
from onward.types import Array, Rows, Table

NUMBERS, EMBEDDING, WORDS, IMAGE = "numbers", "embedding", "words", "image"
_MOST_BYTES = 2 << 30
_SHOWN = 3
_FEW_ROWS = 100
_LARGEST = float(np.finfo(np.float32).max)
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Kinds:
    """The feature columns, by how they become numbers."""

    numbers: tuple[str, ...] = ()
    embeddings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def kind_of(column: pa.ChunkedArray) -> str | None:
    """Return how a column can become numbers: numbers, date, embedding, words, or not at all."""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return NUMBERS
    if pa.types.is_decimal(kind):
        return NUMBERS
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    ) and (pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)):
        return EMBEDDING
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return WORDS
    return None


def feature_arrays(rows: pa.Table, kinds: Kinds, times: Times, text_width: int) -> dict[str, Array]:
    """Return the wide columns ``numbers``, ``embedding`` and ``words``, as there are any."""
    found: dict[str, Array] = {}
    if kinds.numbers:
        found[NUMBERS] = _numbers(rows, kinds.numbers, times)
    if kinds.embeddings:
        parts = [_embedding(rows.column(name), name) for name in kinds.embeddings]
        found[EMBEDDING] = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
    if kinds.words:
        _require_room(rows.num_rows, text_width)
        found[WORDS] = bag_of_words({name: rows.column(name) for name in kinds.words}, text_width)
    return found


def prepare(table: Table, *, reference: date, raw_images: bool) -> Table:
    """Give samples their input. What is fitted is fitted on the samples before `reference`.

    `reference` is when the second period starts. With `raw_images`, the input is the images
    themselves.
    """
    if raw_images:
        return table.with_input(table.wide[IMAGE])
    first = table.values("time") < np.datetime64(reference)
    blocks: list[Array] = []
    image = table.wide.get(IMAGE)
    if isinstance(image, YourImages):
        features = drawing_features(image)
        blocks.append(standardise(features, features[first]))
    if NUMBERS in table.wide:
        numbers = _without_gaps(np.asarray(table.wide[NUMBERS]), first)
        blocks.append(standardise(numbers, numbers[first]))
    if EMBEDDING in table.wide:
        embedding = np.asarray(table.wide[EMBEDDING])
        blocks.append(standardise(embedding, embedding[first]))
    if WORDS in table.wide:
        blocks.append(np.asarray(table.wide[WORDS], np.float32))
    if len(blocks) == 1:
        return table.with_input(blocks[0])
    # Together, inputs have about the length that one kind alone has.
    return table.with_input(np.concatenate(blocks, axis=1) / np.float32(len(blocks) ** 0.5))


def _numbers(rows: pa.Table, names: Sequence[str], times: Times) -> NDArray[np.float64]:
    """Return numbers, NaN where there is none; refuse those that are none or too large."""
    matrix = np.empty((rows.num_rows, len(names)), np.float64)
    for place, name in enumerate(names):
        column = rows.column(name)
        if kind_of(column) == "date":
            days = column.cast(pa.timestamp("us"), safe=False).to_numpy()
            matrix[:, place] = (times - days) / _DAY
            continue
        values = column.cast(pa.float64(), safe=False).to_numpy()
        # Also false of NaN, which a missing number is here, too.
        if not (values.min() >= -_LARGEST and values.max() <= _LARGEST):
            wrong = ~(np.abs(values) <= _LARGEST) & np.asarray(column.is_valid())
            if wrong.any():
                found = np.flatnonzero(wrong)
                raise _not_finite(name, found, values[found[:_SHOWN]])
        matrix[:, place] = values
    return matrix


def _embedding(column: pa.ChunkedArray, name: str) -> NDArray[np.float32]:
    fixed = pa.types.is_fixed_size_list(column.type)
    widths = np.full(len(column), column.type.list_size if fixed else 0)
    if not fixed:
        widths = np.asarray(pc.list_value_length(column).fill_null(-1).to_numpy(), np.int64)
    widths[~np.asarray(column.is_valid())] = -1
    sizes, counts = np.unique(widths, return_counts=True)
    usual = int(sizes[counts.argmax()])
    odd = np.flatnonzero(widths != usual)
    if len(odd) or usual <= 0:
        shown = ", ".join(f"row {row} has {max(int(widths[row]), 0)}" for row in odd[:_SHOWN])
        raise OnwardError(
            f"expected {max(usual, 1)} numbers in every row of column {name!r}, found "
            f"{len(odd):,} rows with another number ({shown}). Mend them or take them out"
        )
    flat = pc.list_flatten(column)
    values = np.asarray(flat.cast(pa.float32(), safe=False).to_numpy(), np.float32)
    matrix = values.reshape(len(column), usual)
    wrong = np.flatnonzero(~np.isfinite(matrix).all(1))
    if len(wrong):
        shown_values = [matrix[row][~np.isfinite(matrix[row])][0] for row in wrong[:_SHOWN]]
        raise _not_finite(name, wrong, np.array(shown_values))
    return matrix


def _not_finite(name: str, rows: Rows, values: Array) -> OnwardError:
    pairs = zip(rows.tolist(), values.tolist(), strict=False)
    shown = ", ".join(f"row {row}: {value}" for row, value in pairs)
    return OnwardError(
        f"expected finite numbers in column {name!r}, found {len(rows):,} that are not ({shown}). "
        "Leave the cell empty if the value is missing"
    )


def _without_gaps(numbers: Array, first: NDArray[np.bool_]) -> Array:
    """Fill gaps with the first period's mean; say where they are if the first period has some."""
    gaps = np.isnan(numbers)
    if not gaps.any():
        return numbers
    past, known = numbers[first], ~gaps[first]
    counts = known.sum(0)
    means = np.where(known, past, 0).sum(0) / np.maximum(counts, 1)
    filled = np.where(gaps, means, numbers)
    told = counts < len(past)
    return np.concatenate([filled, gaps[:, told]], axis=1)


def _require_room(rows: int, width: int) -> None:
    if width < 2 or width & (width - 1):
        raise OnwardError(f"expected a power of two for text_width, such as 512, found {width}")
    if rows * width * 4 > _MOST_BYTES:
        fits = 1 << (_MOST_BYTES // (rows * 4)).bit_length() - 1
        raise OnwardError(
            f"expected words to fit into {_MOST_BYTES >> 30} GB, found {rows:,} rows of {width} "
            f"numbers each. Choose text_width={max(fits, 2)} or fewer rows"
        )


def named_features(rows: pa.Table, names: Sequence[str]) -> Kinds:
    """Sort feature columns by how they become numbers."""
    kinds = {name: kind_of(rows.column(name)) for name in names}
    strange = [name for name, kind in kinds.items() if kind is None]
    if strange:
        raise OnwardError(
            f"expected numbers, lists of numbers or texts in column {strange[0]!r}, found values "
            f"of type {rows.schema.field(strange[0]).type}. Name other columns with "
            "feature_columns"
        )

    def of(*wanted: str) -> tuple[str, ...]:
        return tuple(name for name, kind in kinds.items() if kind in wanted)

    return Kinds(of(NUMBERS, "date"), of(EMBEDDING), of(WORDS))


def _names_rows(column: pa.ChunkedArray) -> bool:
    # In a few rows, different measurements are nothing odd.
    whole = pa.types.is_integer(column.type) and len(column) > _FEW_ROWS
    return whole and pc.count_distinct(column, mode="all").as_py() == len(column)


def default_features(rows: pa.Table, taken: Collection[str]) -> Kinds:
    """Return all columns of numbers and embeddings that serve nothing else; else all texts.

    Whole numbers of which every row has its own name rows, and are left out.
    """
    free = [
        name
        for name in rows.column_names
        if name not in taken and not _names_rows(rows.column(name))
    ]
    numeric = [name for name in free if kind_of(rows.column(name)) in (NUMBERS, EMBEDDING)]
    chosen = numeric or [name for name in free if kind_of(rows.column(name)) == WORDS]
    if not chosen:
        raise OnwardError(
            f"expected columns of numbers or texts to learn from, found none beside "
            f"{', '.join(sorted(taken))}. Add features, or name an image_column"
        )
    return named_features(rows, chosen)
