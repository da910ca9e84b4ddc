"""Samples as columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.errors import LookAheadError

Array = NDArray[Any]
Rows = NDArray[np.int64]


class Column(Protocol):
    """A wide column: anything with a shape that is indexed by an array of rows.

    A numpy array is one. A lazy one decodes images or reads shards when it is indexed, so that a
    table can be larger than memory. Where that is cheaper in some orders than in others, it has a
    method ``shuffled(rows, rng)`` that returns the positions of these rows in a random order that
    suits it. Where its values are pairs of an image and a text, it has a ``dtype``, see
    `onward.pairs`.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, then the shape of one value."""

    def __getitem__(self, rows: Rows, /) -> Array:
        """Return the values of these rows, in this order."""


@dataclass(frozen=True, eq=False)
class Table:
    """Samples as columns: Arrow for what is narrow, arrays or lazy readers for what is wide.

    Parameters
    ----------
    columns
        One row per sample: ``id``, ``time`` and, as the data has them, ``label``, ``group``,
        ``text`` and attributes.
    wide
        Row-aligned wide columns, such as ``image``. A learner sees the one named ``input``.
    digest
        Content hash: two tables with one digest hold the same samples.
    shown
        The narrow columns that a learner may read while it learns.
    """

    columns: pa.Table
    wide: Mapping[str, Column]
    digest: str
    shown: tuple[str, ...] = ("time",)

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def values(self, name: str) -> Array:
        """Return one narrow column as a numpy array."""
        return column_values(self.columns, name)

    def with_input(self, column: Column) -> "Table":
        """Return this table with the column that learners see."""
        return replace(self, wide={**self.wide, "input": column})


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows of a table, with the labels that go with them at one moment.

    One label per sample is an array of class indices; many labels are a row of them per sample,
    -1 where it has fewer than the others; boxes are rows of them too, see `onward.tasks.boxes`.
    """

    rows: Rows
    labels: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, positions: Rows | slice) -> "Samples":
        return Samples(self.rows[positions], self.labels[positions])

    def labels_of(self, rows: Rows) -> Array:
        """Return the labels of some of these samples, which are sorted by row."""
        at = np.searchsorted(self.rows, rows)
        strangers = at == len(self)
        strangers[~strangers] = self.rows[at[~strangers]] != rows[~strangers]
        if strangers.any():
            raise LookAheadError(
                f"expected samples that came with labels, found {np.count_nonzero(strangers)} "
                f"others (first: row {rows[strangers][0]}). Use their inputs: view.unlabelled"
            )
        return np.asarray(self.labels[at])

    @property
    def newest(self) -> Array:
        """The label of each sample; of many labels the one that was introduced last.

        Of an image with boxes that is its last class.
        """
        if self.labels.ndim == 3:
            return np.asarray(self.labels[..., 0].max(1), np.int64)
        return self.labels if self.labels.ndim == 1 else self.labels.max(1)

    @staticmethod
    def join(parts: Sequence["Samples"]) -> "Samples":
        """Return all parts, one after the other; a part without samples has no say in the shape."""
        filled = [part for part in parts if len(part)] or parts[:1]
        return Samples(
            np.concatenate([part.rows for part in filled]),
            np.concatenate([part.labels for part in filled]),
        )


def column_values(columns: pa.Table, name: str) -> Array:
    """Return one column of an Arrow table as a numpy array."""
    return np.asarray(columns.column(name).to_numpy(zero_copy_only=False))


def images_as_inputs(table: Table) -> Table:
    """Let learners see the images of a table as they are."""
    return table.with_input(table.wide["image"])
