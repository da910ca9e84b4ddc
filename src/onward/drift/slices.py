"""What each period holds: its samples, their groups and their labels, whatever the benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onward.drift.tags import Tags, one_below_the_other
from onward.errors import OnwardError
from onward.fit import CLASSES
from onward.types import Array, Benchmark, Period, Rows, Stream, Table

LEAST = 20
"""Fewer samples say nothing about a period."""


@dataclass(frozen=True, eq=False)
class Slice:
    """A period as it is measured.

    Parameters
    ----------
    name, start
        What it is called, and when it begins; None where there is an order and no dates.
    rows
        All of its samples, as rows of the table.
    drawn
        Places among them: those that are embedded. All, or as many as were asked for.
    groups
        The group of each row.
    """

    name: str
    start: str | None
    rows: Rows
    drawn: Rows
    groups: Array

    @property
    def embedded(self) -> Rows:
        """The rows that are embedded."""
        return np.asarray(self.rows[self.drawn])


def slices(
    benchmark: Benchmark, stream: Stream, most: int, seed: int, *, by_sample: bool
) -> tuple[list[Slice], Tags | None]:
    """Return what each period holds, and the labels of its samples; None where there are none.

    Parameters
    ----------
    benchmark, stream
        The data, and how it was cut.
    most
        How many samples of a period are embedded.
    seed
        Which ones these are.
    by_sample
        Whether every sample counts as a group of its own.
    """
    if len(stream) < 2:
        raise OnwardError(
            f"expected two periods or more, found {len(stream)} in {benchmark.name} / "
            f"{benchmark.data}. Drift is what changes from one to another: cut the data finer"
        )
    pairs = CLASSES in benchmark.task.lacks
    found, labels = [], []
    groups = _groups(stream.table, by_sample=by_sample)
    for number, period in enumerate(stream):
        rows, shown = _samples(period, pairs=pairs)
        if len(rows) < LEAST:
            raise OnwardError(
                f"expected at least {LEAST} samples in every period, found {len(rows)} in "
                f"{period.name}. Cut the data into fewer periods, or bring more samples"
            )
        rng = np.random.default_rng([seed, number])
        drawn = np.sort(rng.permutation(len(rows))[:most])
        start = None if period.start is None else str(period.start)
        found.append(Slice(period.name, start, rows, drawn, groups[rows]))
        labels.append(shown)
    if pairs:
        return found, _named_labels(stream.table, found)
    return found, Tags("labels", stream[-1].classes, labels)


def brief(name: str) -> str:
    """Return a name of a period that is short: of a span of time, where it begins.

    Examples
    --------
    >>> brief("2017-05"), brief("2005-03-14..2009-09-28")
    ('2017-05', '2005-03-14…')
    """
    return name.split("..")[0] + "…" if ".." in name else name


def _samples(period: Period, *, pairs: bool) -> tuple[Rows, Array]:
    """Return the samples of a period, each once, and their labels, -1 where there is none.

    Of pairs, tests are questions about other drawings of the same things: they are left out.
    """
    parts = [period.train, period.validation, *([] if pairs else [period.test])]
    parts = [part for part in parts if len(part)]
    bare = np.full((len(period.unlabelled), 1), -1)
    rows = np.concatenate([*(part.rows for part in parts), period.unlabelled])
    columns = [_as_rows(part.labels) for part in parts] + [bare]
    rows, first = np.unique(rows, return_index=True)
    return rows, one_below_the_other(columns)[first]


def _as_rows(labels: Array) -> Array:
    """Return one label, many labels or boxes as rows of class numbers."""
    if labels.ndim == 3:
        labels = labels[..., 0]
    return labels.reshape(len(labels), -1).astype(np.int64)


def _groups(table: Table, *, by_sample: bool) -> Array:
    if "group" in table.columns.schema.names and not by_sample:
        return table.values("group").astype(str)
    return np.arange(len(table)).astype(str)


def _named_labels(table: Table, found: Sequence[Slice]) -> Tags | None:
    """Return the labels of pairs, which belong to no class but may have a name of one."""
    if "label" not in table.columns.schema.names:
        return None
    values = table.columns.column("label").to_pylist()
    names = sorted({str(values[row]) for part in found for row in part.rows if values[row]})
    place = {name: number for number, name in enumerate(names)}
    return Tags(
        "labels",
        tuple(names),
        [np.array([[place.get(str(values[row]), -1)] for row in part.rows]) for part in found],
    )
