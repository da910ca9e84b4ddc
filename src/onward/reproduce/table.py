"""What a published table is: rows that are methods, columns that are metrics, and claims."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from onward.benchmarks import Source
from onward.errors import OnwardError
from onward.metrics import METRICS
from onward.reproduce.claims import Cell, Claim
from onward.reproduce.published import UNPUBLISHED, PublishedValues, Value
from onward.results.predictions import POOLED
from onward.results.record import RunRecord

_SEEDS = 5


@dataclass(frozen=True)
class Column:
    """One metric under one protocol.

    Parameters
    ----------
    name
        What it is called in the file of published values.
    heading
        What it is called above the column, its protocol left out.
    protocol
        The protocol that it is measured under.
    metric
        A name of `onward.metrics.METRICS`; of any other measure what it is called.
    load
        Options of `onward.load` that this column has and others have not.
    after
        Of the score over all tests of the past together: after which period.
    measure
        What any other number is of a run, that is no metric of the score matrix.
    shown
        What `onward.report.summary.Summary.metrics` calls such a number, if it has it.
    edition
        What sets the data of this column apart from that of others, such as its features.
    """

    name: str
    heading: str
    protocol: str
    metric: str
    load: Mapping[str, Any] = field(default_factory=dict)
    after: int | None = None
    measure: Callable[[RunRecord], float] | None = None
    shown: str | None = None
    edition: str = ""

    def value(self, run: RunRecord) -> float:
        """Return what a run has in this column; NaN where it has nothing."""
        if self.after is not None:
            pooled = run.static(POOLED)
            return float(pooled[self.after]) if self.after < len(pooled) else math.nan
        if self.measure is not None:
            return self.measure(run)
        return METRICS[self.metric].function(run.matrix())

    def shares_runs(self, other: "Column") -> bool:
        """Whether one run gives the numbers of both columns."""
        return (self.protocol, self.load) == (other.protocol, other.load)


@dataclass(frozen=True)
class Row:
    """One method.

    Parameters
    ----------
    name
        What ``--rows`` takes.
    label
        What it is called in the table.
    key
        The row of the file of published values; None of a method that the paper has no number of.
    method, options
        A method of the catalogue, and its keyword arguments.
    seconds
        About how many CPU seconds a run takes, by recipe: ``cpu`` on embedded data, ``paper`` at
        the published size.
    load
        Options of `onward.load` that this row has and others have not.
    protocol
        Its own, where that is another one than the column's.
    training, adapted
        By recipe, what is otherwise there: numbers of the recipe, and options of the method.
    seeds
        How often it is repeated under other seeds; a claim that names it may ask for more.
    """

    name: str
    label: str
    key: Mapping[str, str] | None
    method: str
    seconds: Mapping[str, float]
    options: Mapping[str, Any] = field(default_factory=dict)
    load: Mapping[str, Any] = field(default_factory=dict)
    protocol: str | None = None
    training: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    adapted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seeds: int = _SEEDS

    def run(
        self,
        column: Column,
        data: str,
        recipe: str,
        benchmark: str,
        load: Mapping[str, Any] | None = None,
    ) -> "Run":
        """Return what its cell is computed from, perhaps with other options of `onward.load`."""
        protocol, options = self.protocol or column.protocol, self.load if load is None else load
        training = self.training.get(recipe, {})
        source = Source(benchmark, data, protocol, recipe, dict(options), training)
        return Run(source, self.method, {**self.options, **self.adapted.get(recipe, {})})


@dataclass(frozen=True)
class Run:
    """What a cell is computed from, all but the seed: repetition n has the seed n × `seed_step`.

    A benchmark may deal its data so that two protocols share a deal under other seeds than equal
    ones; cells are paired by repetition.
    """

    source: Source
    method: str
    options: Mapping[str, Any]
    seed_step: int = 1


@dataclass(frozen=True)
class Missing:
    """Why the data at hand cannot give a cell."""

    reason: str


@dataclass(frozen=True)
class Caveats:
    """What keeps numbers from being the published ones: on some data, by some recipe, always."""

    data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recipe: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    always: tuple[str, ...] = ()

    def __call__(self, data: str, recipe: str) -> tuple[str, ...]:
        """Return those that concern these."""
        return *self.data.get(data, ()), *self.recipe.get(recipe, ()), *self.always


@dataclass(frozen=True)
class Panel:
    """Names of rows that differ in one number, by that number; what it is stands at the axis."""

    axis: str
    rows: dict[float, str]
    logarithmic: bool = False


@dataclass(frozen=True)
class Curves:
    """Rows along parameters, as a picture shows them: for each, a panel for each of some columns.

    ``reference`` is the row that the others are measured against: levels differ from data to
    data, gains can be compared.
    """

    title: str
    reference: str
    parameters: tuple[Panel, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class PaperTable:
    """A published table: everything that is needed to make it again.

    Parameters
    ----------
    name
        Such as ``clear/table1``.
    title, citation
        What it shows, and where it was published.
    package, file
        Where its published values are; no file where the paper has figures alone.
    rows, columns
        What it consists of.
    run
        Says what a cell is computed from: called with row, column, data and recipe. Of a row that
        says it all, it is `Row.run` with the name of its benchmark.
    caveats
        Says what keeps numbers on this data under this recipe from being the published ones:
        `Caveats`, say.
    claims
        What the paper concludes from it.
    notes
        What is odd about the published values.
    curves
        A picture of the rows along a parameter, if the table has one.
    pictures
        Which other pictures there are: a name of `onward.reproduce.pictures.PICTURES`.
    published_runs
        How many runs a published number is the mean of.
    upright
        Whether it is printed with its columns one below the other, and rows side by side: tables
        that follow methods from period to period are.
    usual
        Which data it is made on, where nobody says.
    edition
        Which data the published numbers were measured on, and with which model, in words.
    """

    name: str
    title: str
    citation: str
    package: str
    file: str | None
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    run: Callable[[Row, Column, str, str], Run | Missing]
    caveats: Callable[[str, str], tuple[str, ...]]
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    curves: Curves | None = None
    pictures: str | None = None
    published_runs: int = 5
    upright: bool = False
    usual: str = "emoji"
    edition: str = ""

    def __post_init__(self) -> None:
        rows, columns = {row.name for row in self.rows}, {column.name for column in self.columns}
        for claim in self.claims:
            for cell in claim.cells:
                if cell.row not in rows or cell.column not in columns:
                    raise OnwardError(f"the claim {claim.name!r} of {self.name} names no {cell}")

    @property
    def short_name(self) -> str:
        """The name without its family: what files are called."""
        return self.name.rpartition("/")[2]

    def command(self, data: str, recipe: str) -> str:
        """Return the command that makes it."""
        return f"onward reproduce {self.name} --data {data} --recipe {recipe} --out DIR"

    @cached_property
    def _values(self) -> PublishedValues | None:
        return None if self.file is None else PublishedValues(self.package, self.file)

    def row(self, name: str) -> Row:
        """Return the row of this name."""
        return next(row for row in self.rows if row.name == name)

    def column(self, name: str) -> Column:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)

    def published(self, cell: Cell) -> Value:
        """Return the published number of a cell."""
        row = self.row(cell.row)
        if row.key is None or self._values is None or not self._values.has(cell.column):
            return Value(None, None, UNPUBLISHED)
        return self._values.value(row.key, cell.column)

    def seeds(self, row: Row, column: Column) -> int:
        """Return how many seeds a cell needs: the row's own number, or what its claims ask for."""
        together = {c.name for c in self.columns if c.shares_runs(column)}
        asked = [
            claim.seeds
            for claim in self.claims
            if any(cell.row == row.name and cell.column in together for cell in claim.cells)
        ]
        return max([row.seeds, *asked])

    def cost(self, recipe: str) -> tuple[int, float]:
        """Return how many runs the whole table takes, and about how many CPU seconds."""
        counts = [
            (self.seeds(row, column), row.seconds[recipe])
            for row in self.rows
            for column in first_of_each_run(self.columns)
        ]
        return sum(seeds for seeds, _ in counts), sum(seeds * each for seeds, each in counts)


def first_of_each_run(columns: tuple[Column, ...]) -> list[Column]:
    """Return one column for each run that a row needs."""
    return [
        column
        for at, column in enumerate(columns)
        if not any(column.shares_runs(earlier) for earlier in columns[:at])
    ]
