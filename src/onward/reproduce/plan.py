"""What has to be run for a table, and what the data at hand cannot give."""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onward.errors import unknown
from onward.reproduce.claims import Cell
from onward.reproduce.table import Column, Missing, PaperTable, Row, Run, first_of_each_run
from onward.sweep import Job

RECIPES = ("cpu", "paper")
_FEW = 8


@dataclass(frozen=True)
class Planned:
    """The runs behind some columns of one row: they differ in their seed alone."""

    row: Row
    columns: tuple[Column, ...]
    run: Run
    repetitions: tuple[int, ...]

    def jobs(self) -> list[Job]:
        """Return the runs."""
        run = self.run
        return [
            Job(run.source, run.method, number * run.seed_step, run.options)
            for number in self.repetitions
        ]


@dataclass(frozen=True)
class Plan:
    """Everything that will be run for a table, and why the rest will not."""

    table: PaperTable
    data: str
    recipe: str
    planned: tuple[Planned, ...]
    missing: Mapping[Cell, str]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(len(each.repetitions) for each in self.planned)

    @property
    def seconds(self) -> float:
        """About how many CPU seconds they take."""
        return sum(len(each.repetitions) * each.row.seconds[self.recipe] for each in self.planned)

    def rows(self) -> list[Row]:
        """Return the rows that have a run."""
        names = {each.row.name for each in self.planned}
        return [row for row in self.table.rows if row.name in names]

    def columns(self) -> list[Column]:
        """Return the columns that have a run."""
        names = {column.name for each in self.planned for column in each.columns}
        return [column for column in self.table.columns if column.name in names]

    def left_out(self) -> dict[str, list[str]]:
        """Return the labels of whole rows and columns that the data cannot give, by reason."""
        shown = {column.name for column in self.columns()}
        here = {row.name for row in self.rows()}
        found: dict[str, list[str]] = {}
        for cell, reason in self.missing.items():
            row, column = self.table.row(cell.row), self.table.column(cell.column)
            name = f"{row.label}: {column.heading}, {column.protocol}"
            if cell.column not in shown:
                name = f"{column.heading} ({column.protocol})"
            elif cell.row not in here:
                name = row.label
            names = found.setdefault(reason, [])
            if name not in names:
                names.append(name)
        return {reason: _few(names) for reason, names in found.items()}


def _few(names: list[str]) -> list[str]:
    """Return the first and the last of many names."""
    return names if len(names) <= _FEW else [*names[:2], f"… {len(names) - 3} more", names[-1]]


def plan(
    table: PaperTable,
    data: str,
    recipe: str,
    *,
    rows: Sequence[str] = (),
    seeds: Sequence[int] | None = None,
) -> Plan:
    """Say what has to be run.

    Rows are chosen by names, or patterns such as ``linear/*``; all by default. Seeds are the same
    repetitions for every row; by default as many as it and its claims need.
    """
    if recipe not in RECIPES:
        raise unknown("recipe", recipe, RECIPES, "onward reproduce --help")
    planned, missing = [], {}
    for row in chosen_rows(table, rows):
        for first in first_of_each_run(table.columns):
            run: Run | None = None
            columns: list[Column] = []
            for column in table.columns:
                if not column.shares_runs(first):
                    continue
                found = table.run(row, column, data, recipe)
                if isinstance(found, Missing):
                    missing[Cell(row.name, column.name)] = found.reason
                else:
                    run = found
                    columns.append(column)
            wanted = range(table.seeds(row, first)) if seeds is None else seeds
            if run is not None:
                planned.append(Planned(row, tuple(columns), run, tuple(wanted)))
    return Plan(table, data, recipe, tuple(planned), missing)


def chosen_rows(table: PaperTable, names: Sequence[str]) -> list[Row]:
    """Return the rows that some names or patterns choose, in the order of the table."""
    known = [row.name for row in table.rows]
    for name in names:
        if not fnmatch.filter(known, name):
            raise unknown(f"row of {table.name}", name, known, f"onward reproduce {table.name} -h")
    return [
        row
        for row in table.rows
        if not names or any(fnmatch.fnmatchcase(row.name, name) for name in names)
    ]
