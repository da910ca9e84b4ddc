"""Run a table, and set what came out beside what was published."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from onward.executors.executor import Execution
from onward.report.summary import Measure, Summary
from onward.reproduce.claims import Cell, Judgement, judge
from onward.reproduce.plan import Plan, Planned
from onward.reproduce.table import Row
from onward.results.record import RunRecord
from onward.sweep import sweep
from onward.turns import Watch


@dataclass(frozen=True, eq=False)
class Outcome:
    """A table made again.

    Parameters
    ----------
    plan
        What was run.
    scores
        Our scores, by cell and repetition.
    judgements
        The answers to the claims that name anything that was run.
    summaries
        By row, its runs under each protocol, in the order of the columns; a summary's label is
        the name of the protocol, with the options of the column if it has any.
    """

    plan: Plan
    scores: Mapping[Cell, Mapping[int, float]]
    judgements: tuple[Judgement, ...]
    summaries: Mapping[str, tuple[Summary, ...]]

    def ours(self, cell: Cell) -> Measure | None:
        """Return our number for a cell, None if it was not run."""
        values = self.scores.get(cell)
        return None if values is None else Measure(tuple(values.values()))

    def runs(self) -> list[tuple[Row, tuple[RunRecord, ...]]]:
        """Return rows with their runs under the first of their protocols."""
        found = [(row, self.summaries[row.name]) for row in self.plan.rows()]
        return [(row, summaries[0].records) for row, summaries in found if summaries]

    def unjudged(self) -> list[str]:
        """Return the names of the claims of which nothing was run."""
        judged = {judgement.claim.name for judgement in self.judgements}
        return [claim.name for claim in self.plan.table.claims if claim.name not in judged]


def reproduce(
    plan: Plan,
    out: Path,
    *,
    watch: Watch = lambda event: None,
    **execution: Unpack[Execution],
) -> Outcome:
    """Run what is planned, or finish what was begun: runs complete in `out` are not run again.

    `execution` is where, and how many at a time: keywords of `onward.sweep.sweep`.
    """
    # The cheap ones first: most of the table is there soon, whatever the others take.
    order = sorted(plan.planned, key=lambda each: each.row.seconds[plan.recipe])
    jobs = [job for each in order for job in each.jobs()]
    records = sweep(jobs, out, watch=watch, **execution)
    left = iter(records)
    return outcome(plan, [(each, [next(left) for _ in each.repetitions]) for each in order])


def outcome(plan: Plan, records: Sequence[tuple[Planned, Sequence[RunRecord]]]) -> Outcome:
    """Set finished runs beside the published values."""
    scores: dict[Cell, dict[int, float]] = {}
    summaries: dict[str, list[Summary]] = {row.name: [] for row in plan.rows()}
    for each, runs in records:
        # Run by run: several columns may be read out of one look at a run's answers.
        for number, run in zip(each.repetitions, runs, strict=True):
            for column in each.columns:
                value = column.value(run)
                if not math.isnan(value):
                    scores.setdefault(Cell(each.row.name, column.name), {})[number] = value
        first = each.columns[0]
        label = " ".join([first.protocol, *map(str, first.load.values())])
        summaries[each.row.name].append(Summary(label, tuple(runs)))
    fixed = {each.row.name for each, runs in records if any(run.spec.same_rows for run in runs)}
    answers = [
        judge(claim, scores, plan.table.published, same_rows=fixed) for claim in plan.table.claims
    ]
    return Outcome(
        plan=plan,
        scores=scores,
        judgements=tuple(answer for answer in answers if answer.tested),
        summaries={name: tuple(found) for name, found in summaries.items()},
    )
