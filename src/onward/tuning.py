"""Choosing hyperparameters without looking ahead: on the first periods, and inside them."""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from pydantic import ValidationError

from onward.benchmarks import Source, unknown_hyperparameter
from onward.errors import OnwardError, unknown
from onward.executors.executor import Execution
from onward.failures import FailedRun, RunsFailedError
from onward.files import storage, write_atomic
from onward.learners import choose
from onward.models import stored_recipe
from onward.results.record import RunRecord
from onward.results.schema import Stored
from onward.stored import stored
from onward.sweep import Job, benchmark_of, sweep
from onward.turns import Watch

COUNTED = ("runs", "iterations", "samples", "macs", "cpu_seconds")
"""What a tuning may be limited by, and what it says it has spent."""


class Candidate(Stored):
    """One point of the grid: its settings, how it did, and what that cost.

    ``score`` is None if it diverged; it is then charged as much as the most expensive one that did
    not. What a method does not report is None in ``spent``.
    """

    settings: dict[str, Any]
    score: float | None
    spent: dict[str, float | None]


class Tuned(Stored):
    """What was tried on which periods, what it cost, and what was chosen.

    ``options`` and ``training`` are the chosen settings as a run takes them: those of the method
    and those of the recipe. ``tuned_for`` is all that a run must share with the tuning to use them.
    """

    tuned_for: dict[str, Any]
    method: str
    periods: list[str]
    seeds: list[int]
    grid: dict[str, list[Any]]
    limits: dict[str, float]
    spent: dict[str, float | None]
    candidates: list[Candidate]
    untried: int
    options: dict[str, Any]
    training: dict[str, Any]

    def summary(self) -> dict[str, Any]:
        """Return what the spec of a run that uses this says about it."""
        return self.model_dump(include={"periods", "seeds", "grid", "limits", "spent", "untried"})

    def for_run(self, source: Source, method: str) -> Source:
        """Return the source with the chosen recipe; raise if this was tuned for something else."""
        for word, here in _what_counts(source, method, self.grid).items():
            there = self.tuned_for.get(word)
            if here != there:
                raise OnwardError(
                    f"these settings were tuned for the {word} {_brief(there)}, found a run with "
                    f"{_brief(here)}. Tune again for it, or give the settings by --option and "
                    "--training"
                )
        return replace(source, training={**source.training, **self.training})


def tune(
    source: Source,
    method: str,
    grid: Mapping[str, Sequence[Any]],
    out: Path,
    *,
    periods: int = 3,
    seeds: Sequence[int] = (0,),
    limits: Mapping[str, float] | None = None,
    allow_unmetered: bool = False,
    watch: Watch = lambda event: None,
    **execution: Unpack[Execution],
) -> Tuned:
    """Choose hyperparameters on the first periods only.

    A part of the groups that these periods train on is held out and serves as their test; test
    samples and later periods are never touched. Every candidate is run as the benchmark's
    protocol says, and the one with the highest mean over its score matrix and seeds is chosen;
    of equals, the first.

    Parameters
    ----------
    source
        The benchmark.
    method
        A method of the catalogue, or ``path/to/file.py:Name``.
    grid
        Values by name: an option of the method, or else a number of the recipe.
    out
        Where runs and ``tuned.json`` go. What was tried before is not run again.
    periods
        How many periods may be used.
    seeds
        Each candidate is run once for each.
    limits
        What all of it may cost, by the names of `COUNTED`. Candidates are tried in the order of
        the grid, and none is begun that would, at the highest price so far, exceed a limit. The
        first one's price is not known before, except for its runs.
    allow_unmetered
        As in `onward.run`: for a protocol whose limits the method does not report.
    watch
        Called with the events of all runs.
    execution
        Where, and how many runs at a time: keywords of `onward.sweep.sweep`.
    """
    limits = _checked(limits or {})
    plan = _Plan(source, method, grid, periods, tuple(seeds), allow_unmetered)
    candidates: list[Candidate] = []
    # Without a limit everything can run at once; with one, each price is known before the next.
    groups = [[settings] for settings in plan.settings] if limits else [plan.settings]
    while groups:
        if limits and not _affordable(candidates, limits, len(seeds)):
            break
        group = groups.pop(0)
        jobs = [job for settings in group for job in plan.jobs(settings)]
        found: Sequence[RunRecord | FailedRun]
        try:
            found = sweep(jobs, out / "results", watch=watch, **execution)
        except RunsFailedError as error:
            if not all(failed.diverged for failed in error.failed):
                raise
            found = error.results
        for place, settings in enumerate(group):
            mine = found[place * len(seeds) : (place + 1) * len(seeds)]
            records = [run for run in mine if isinstance(run, RunRecord)]
            if len(records) == len(mine):
                candidates.append(_candidate(settings, records))
                used = records[0].spec.periods
            else:
                candidates.append(_diverged(settings, candidates, len(seeds)))
    finished = [candidate for candidate in candidates if candidate.score is not None]
    if not finished:
        reason = "each one diverged" if candidates else f"the budget {limits} does not pay for one"
        raise OnwardError(f"expected a candidate to choose, found none: {reason}")
    best = max(finished, key=lambda candidate: candidate.score or 0.0)
    options, training = plan.split(best.settings)
    tuned = Tuned(
        tuned_for=_what_counts(source, method, grid),
        method=method,
        periods=used,
        seeds=list(seeds),
        grid={name: list(values) for name, values in grid.items()},
        limits=limits,
        spent=_total([candidate.spent for candidate in candidates]),
        candidates=candidates,
        untried=len(plan.settings) - len(candidates),
        options=options,
        training=training,
    )
    with storage(out):
        write_atomic(out / "tuned.json", tuned.model_dump_json(indent=1).encode())
    return tuned


def load_tuned(path: Path) -> Tuned:
    """Read what `tune` wrote: ``tuned.json``, or the folder it is in."""
    file = path / "tuned.json" if path.is_dir() else path
    try:
        return Tuned.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise OnwardError(
            f"expected what onward tune wrote at {file}, found nothing there"
        ) from error
    except ValidationError as error:
        raise OnwardError(
            f"expected what onward tune wrote in {file}, found something else; tune again"
        ) from error


@dataclass(frozen=True)
class _Plan:
    """The grid, point by point, as jobs."""

    source: Source
    method: str
    grid: Mapping[str, Sequence[Any]]
    periods: int
    seeds: tuple[int, ...]
    allow_unmetered: bool

    def __post_init__(self) -> None:
        if not self.grid or not all(len(values) for values in self.grid.values()):
            raise OnwardError("expected a grid with at least one name and one value")
        for settings in self.settings:
            self.jobs(settings)

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Every combination, in the order of the grid."""
        points = itertools.product(*self.grid.values())
        return [dict(zip(self.grid, point, strict=True)) for point in points]

    def split(self, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Tell the options of the method from the numbers of the recipe."""
        benchmark = benchmark_of(self.source, here=False)
        known = choose(self.method, None, benchmark).parameters
        recipe = vars(benchmark.recipes[benchmark.recipe])
        for name in settings:
            if name not in known and name not in recipe:
                what = f"option of {self.method} or training hyperparameter"
                raise unknown_hyperparameter(what, name, {*known, *recipe})
        options = {name: value for name, value in settings.items() if name in known}
        return options, {name: v for name, v in settings.items() if name not in known}

    def jobs(self, settings: Mapping[str, Any]) -> list[Job]:
        """Return the runs of one point of the grid."""
        options, training = self.split(settings)
        source = replace(
            self.source,
            options={**self.source.options, "tuning_periods": self.periods},
            training={**self.source.training, **training},
        )
        return [
            Job(
                source,
                self.method,
                seed,
                options=options,
                keep_predictions=False,
                allow_unmetered=self.allow_unmetered,
            )
            for seed in self.seeds
        ]


def _candidate(settings: Mapping[str, Any], records: Sequence[RunRecord]) -> Candidate:
    costs = [record.cost for record in records if record.cost is not None]
    spent = _total([{"runs": 1, **cost.model_dump()} for cost in costs])
    score = float(np.mean([_score(record) for record in records]))
    return Candidate(settings=dict(settings), score=score, spent=spent)


def _score(record: RunRecord) -> float:
    """Return the mean over all tests, those of periods if there are any."""
    matrix = record.matrix()
    if not np.isnan(matrix).all():
        return float(np.nanmean(matrix))
    curves = [record.static(test) for test in record.static_tests]
    if not curves or np.isnan(curves).all():
        raise OnwardError(
            f"expected tests to choose by, found none that a run of {record.spec.method} was given"
        )
    return float(np.nanmean(curves))


def _diverged(settings: Mapping[str, Any], others: Sequence[Candidate], runs: int) -> Candidate:
    spent = {**_highest_price(others), "runs": runs}
    return Candidate(settings=dict(settings), score=None, spent=spent)


def _what_counts(source: Source, method: str, grid: Iterable[str]) -> dict[str, Any]:
    """Return what the settings of a tuning depend on, by the word for it."""
    benchmark = benchmark_of(source, here=False)
    chosen = choose(method, None, benchmark)
    recipe = stored_recipe(benchmark.recipes[benchmark.recipe])
    found = {
        "benchmark": benchmark.name,
        "data": benchmark.raw.digest,
        "method": method,
        "method's code": chosen.digest or chosen.revision(benchmark.recipes[benchmark.recipe]),
        "model": recipe.pop("model", None),
        "protocol": stored(benchmark.protocol),
        "options": dict(benchmark.options),
        "recipe": {name: value for name, value in recipe.items() if name not in grid},
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def _brief(value: Any) -> str:
    return str(value.get("name", value) if isinstance(value, dict) else value)


Spent = Mapping[str, float | None]


def _total(parts: Sequence[Spent]) -> dict[str, float | None]:
    return {name: _unless_unmetered(sum, [part[name] for part in parts]) for name in COUNTED}


def _highest_price(tried: Sequence[Candidate]) -> dict[str, float | None]:
    return {
        name: _unless_unmetered(max, [0.0, *(c.spent[name] for c in tried)]) for name in COUNTED
    }


def _unless_unmetered(
    combine: Callable[[list[float]], float], values: Sequence[float | None]
) -> float | None:
    """Combine numbers; what was not metered once is not known in all."""
    known = [value for value in values if value is not None]
    return float(combine(known)) if len(known) == len(values) else None


def _affordable(tried: Sequence[Candidate], limits: Mapping[str, float], runs: int) -> bool:
    """Whether one more fits: the number of its runs is known, its price only by the others."""
    spent = _total([candidate.spent for candidate in tried])
    price = {**_highest_price(tried), "runs": runs}
    for name, limit in limits.items():
        before, next_one = spent[name], price[name]
        if before is None or next_one is None:
            raise OnwardError(
                f"expected a method that reports its {name}, which the budget of this tuning "
                "limits, found one that is not metered. Limit runs, samples or cpu_seconds instead"
            )
        if before + next_one > limit:
            return False
    return True


def _checked(limits: Mapping[str, float]) -> dict[str, float]:
    for name in limits:
        if name not in COUNTED:
            raise unknown("budget of a tuning", name, COUNTED, "onward tune --help")
    return dict(limits)
