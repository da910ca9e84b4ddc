"""What differs between two runs, two groups of seeds, or two specs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.report.comparison import Comparison, compare_methods
from onward.report.disagreement import Disagreement, disagreements
from onward.report.fields import Change, changes, flat
from onward.report.numbers import finite
from onward.report.provenance import environments
from onward.report.sides import Group
from onward.report.summary import COSTS, DEVICE_COSTS, Measure, Summary, mean_cost, shown_metrics
from onward.results.record import RunRecord

_LARGEST = 5


@dataclass(frozen=True)
class Cell:
    """One cell of the score matrix on both sides, mean over seeds; a static test has no period."""

    test: str
    learned_upto: str
    tested_on: str | None
    a: float
    b: float

    @property
    def difference(self) -> float:
        """How much higher the first one is."""
        return self.a - self.b


@dataclass(frozen=True)
class MetricDifference:
    """A metric on both sides; ``paired`` compares seed by seed where seeds are shared."""

    name: str
    a: Measure
    b: Measure
    paired: Comparison | None


@dataclass(frozen=True, eq=False)
class Difference:
    """Everything that two sides differ in.

    Parameters
    ----------
    seeds
        What both have run.
    same_scores
        Whether every score is the same; None where there are none to compare.
    comparable
        Whether both were measured on the same samples, under the same protocol.
    cells
        The cells that differ most, and ``cells_differing`` how many do, of ``cells_shared``.
    """

    a: Group
    b: Group
    spec: list[Change]
    seeds: list[int]
    same_scores: bool | None = None
    comparable: bool = True
    environment: list[Change] = field(default_factory=list)
    cost: list[Change] = field(default_factory=list)
    metrics: list[MetricDifference] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    cells_differing: int = 0
    cells_shared: int = 0
    answers: list[Disagreement] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether the same was asked and, as far as there are runs, the same came out."""
        answers_agree = not any(one.different for one in self.answers)
        return not self.spec and self.same_scores is not False and answers_agree

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data; numbers in the unit of the scores."""
        return {
            "a": {"name": self.a.name, "label": self.a.label, "seeds": self.a.seeds},
            "b": {"name": self.b.name, "label": self.b.label, "seeds": self.b.seeds},
            "same": self.same,
            "same_scores": self.same_scores,
            "comparable": self.comparable,
            "seeds": self.seeds,
            "spec": [asdict(one) for one in self.spec],
            "environment": [asdict(one) for one in self.environment],
            "cost": [asdict(one) for one in self.cost],
            "metrics": [_metric_json(one) for one in self.metrics],
            "cells": {
                "shared": self.cells_shared,
                "differing": self.cells_differing,
                "largest": [asdict(one) | {"difference": one.difference} for one in self.cells],
            },
            "answers": [asdict(one) for one in self.answers],
        }


def difference(a: Group, b: Group) -> Difference:
    """Compare two groups of runs that differ in nothing but their seed, or two specs."""
    spec = _spec_changes(a, b)
    runs = _pairs(a, b)
    comparable = _measured_on(a) == _measured_on(b)
    if not a.records or not b.records:
        return Difference(a, b, spec, [], comparable=comparable)
    cells = list(_cells(runs)) if a.spec.task == b.spec.task else []
    differing = [cell for cell in cells if cell.a != cell.b]
    return Difference(
        a,
        b,
        spec,
        sorted({one.spec.seed for one, _ in runs} & {other.spec.seed for _, other in runs}),
        same_scores=_same(runs),
        comparable=comparable,
        environment=_environment(a, b),
        cost=_cost(a, b),
        metrics=_metrics(a, b, comparable=comparable),
        cells=sorted(differing, key=lambda cell: -abs(cell.difference))[:_LARGEST],
        cells_differing=len(differing),
        cells_shared=len(cells),
        answers=disagreements(runs) if a.spec.task == b.spec.task else [],
    )


def _measured_on(group: Group) -> tuple[object, ...]:
    spec = group.spec
    return spec.benchmark, spec.data_digest, spec.task, spec.protocol.get("tests"), spec.periods


def _spec_changes(a: Group, b: Group) -> list[Change]:
    found = changes(a.spec.model_dump(mode="json"), b.spec.model_dump(mode="json"))
    found = [change for change in found if change.field != "seed"]
    if a.seeds != b.seeds:
        single = len(a.seeds) == len(b.seeds) == 1
        seeds = Change("seed", *a.seeds, *b.seeds) if single else Change("seeds", a.seeds, b.seeds)
        found.append(seeds)
    return found


def _pairs(a: Group, b: Group) -> list[tuple[RunRecord, RunRecord]]:
    """Return the runs that share a seed; two single runs are compared whatever their seeds."""
    if len(a.records) == len(b.records) == 1:
        return [(a.records[0], b.records[0])]
    others = {record.spec.seed: record for record in b.records}
    return [
        (record, others[record.spec.seed]) for record in a.records if record.spec.seed in others
    ]


def _same(runs: Sequence[tuple[RunRecord, RunRecord]]) -> bool | None:
    if not runs:
        return None
    return all(one.scores == other.scores and one.points == other.points for one, other in runs)


def _environment(a: Group, b: Group) -> list[Change]:
    found = []
    for group in (a, b):
        several: dict[str, list[str]] = {}
        for one in environments(group.records):
            for name, value in flat(one.model_dump()).items():
                several.setdefault(name, []).append(str(value))
        found.append({name: ", ".join(sorted(set(values))) for name, values in several.items()})
    return changes(found[0], found[1])


def _cost(a: Group, b: Group) -> list[Change]:
    names = (*COSTS, "peak_memory_bytes", *DEVICE_COSTS)
    return changes(mean_cost(a.records, names), mean_cost(b.records, names))


def _metrics(a: Group, b: Group, *, comparable: bool) -> list[MetricDifference]:
    done = [tuple(record for record in group.records if record.complete) for group in (a, b)]
    if not all(done):
        return []
    first, second = Summary(a.label, done[0]), Summary(b.label, done[1])
    shared = [name for name in shown_metrics([first]) if name in shown_metrics([second])]
    return [
        MetricDifference(
            name,
            first.metrics[name],
            second.metrics[name],
            compare_methods(first, second, name) if comparable else None,
        )
        for name in shared
    ]


def _cells(runs: Sequence[tuple[RunRecord, RunRecord]]) -> Iterator[Cell]:
    """Yield the cells that both sides have, of tests and periods with the same names."""
    if not runs:
        return
    first, second = runs[0]
    names = first.spec.periods
    if names != second.spec.periods:
        return
    for test in [name for name in first.period_tests if name in second.period_tests]:
        a, b = (_mean([run[side].matrix(test=test) for run in runs]) for side in (0, 1))
        for i, j in np.argwhere(~np.isnan(a + b)):
            yield Cell(test, names[i], names[j], float(a[i, j]), float(b[i, j]))
    for test in [name for name in first.static_tests if name in second.static_tests]:
        a, b = (_mean([run[side].static(test) for run in runs]) for side in (0, 1))
        for i in np.flatnonzero(~np.isnan(a + b)):
            yield Cell(test, names[i], None, float(a[i]), float(b[i]))


def _mean(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.asarray(np.mean(arrays, axis=0), np.float64)


def _metric_json(one: MetricDifference) -> dict[str, Any]:
    paired = one.paired
    return {
        "metric": one.name,
        "a": finite(one.a.mean),
        "b": finite(one.b.mean),
        "difference": finite(one.a.mean - one.b.mean if paired is None else paired.gain.mean),
        "seeds": [] if paired is None else list(paired.seeds),
        "answer": None if paired is None else paired.verdict.answer,
        "p": None if paired is None else finite(paired.verdict.p),
        "seeds_needed": None if paired is None else paired.verdict.needed,
    }
