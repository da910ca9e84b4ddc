"""Who leads where: submitted runs, checked, put into divisions and ranked in each.

A *board* is a benchmark under one protocol. A *division* is what may be compared on it: one data
hash, recipe, model and budget. Ranks begin anew in each, so that nothing measured on one edition of
the data stands above or below anything measured on another. Published rows belong to no division.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from onward.benchmarks.rules import rules
from onward.budget import COMPUTE
from onward.errors import OnwardError
from onward.report.commands import option_words
from onward.report.comparison import Comparison, compare_methods
from onward.report.published import PublishedRow
from onward.report.summary import Summary, by_setting, shown_metrics, summarise
from onward.report.words import amount
from onward.results.check_many import check_results
from onward.results.collect import Collected
from onward.results.cost import unmetered
from onward.results.keys import Keys
from onward.results.record import RunRecord
from onward.results.schema import RunSpec


@dataclass(frozen=True)
class Refused:
    """A run folder that is not ranked, and why."""

    folder: Path
    reasons: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Entry:
    """A method in its division: runs that differ in nothing but their seed.

    ``rank`` is None where the division's first metric was not measured, and where no key vouches
    for what was tested: it is not ``verified`` then. ``behind`` compares it with the first of the
    division; None for the first itself, where no seed is shared, and where nothing is verified.
    """

    summary: Summary
    rank: int | None
    behind: Comparison | None
    verified: bool = True


@dataclass(frozen=True, eq=False)
class Division:
    """Entries that may be compared, the first one first.

    ``metrics`` are those that its protocol fills; ranks are by the first. ``decided`` says whether
    the paired test puts the first entry above every other. ``mark`` tells it from a division that
    has the same words: one of an older protocol, say, or with other periods. ``ranked_on`` are the
    seeds that all ranked entries share, where some have more; None where all have the same, or
    share none: ranks are by the means then.
    """

    entries: tuple[Entry, ...]
    metrics: tuple[str, ...]
    decided: bool
    mark: str = ""
    ranked_on: tuple[int, ...] | None = None

    @property
    def first(self) -> Entry | None:
        """The entry that leads; None where none has a rank."""
        return self.entries[0] if self.entries[0].rank is not None else None

    @property
    def ranked(self) -> int:
        """How many entries have a rank."""
        return sum(entry.rank is not None for entry in self.entries)

    @property
    def spec(self) -> RunSpec:
        """What all entries have in common, but for method and seed."""
        return self.entries[0].summary.spec

    @property
    def data(self) -> str:
        """The edition of the data; its hash tells it from others of that name."""
        return f"{self.spec.data} ({self.spec.data_digest[:8]})"

    @property
    def budget(self) -> str:
        """What every run may spend, in words."""
        return budget_words(self.spec)

    @property
    def recipe(self) -> str:
        """The recipe and its model."""
        model = self.spec.recipe.get("model")
        return self.spec.recipe_name if model is None else f"{self.spec.recipe_name}, {model}"

    def words(self) -> str:
        """Say what may be compared here."""
        parts = [self.data, f"{self.recipe} recipe", self.budget]
        parts += option_words(self.spec.benchmark_options)
        return " · ".join([*parts, *([f"cut #{self.mark}"] if self.mark else [])])


@dataclass(frozen=True, eq=False)
class Board:
    """A benchmark under one protocol: its divisions, and what papers say."""

    benchmark: str
    protocol: str
    divisions: tuple[Division, ...]
    published: tuple[PublishedRow, ...]

    @property
    def metrics(self) -> list[str]:
        """The metrics of all divisions and published rows, in the order of reports."""
        names = [name for division in self.divisions for name in division.metrics]
        names += [name for row in self.published for name in row.values]
        return list(dict.fromkeys(names))

    @property
    def entries(self) -> list[Entry]:
        """All entries, division by division."""
        return [entry for division in self.divisions for entry in division.entries]


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """All boards, what was not accepted, and what the check could not tell."""

    boards: tuple[Board, ...]
    refused: tuple[Refused, ...]
    checked: int
    notes: tuple[str, ...] = ()


def leaderboard(
    collected: Collected,
    published: Sequence[PublishedRow] = (),
    keys: Keys | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Leaderboard:
    """Check every run folder, and rank those with which all is well.

    Parameters
    ----------
    collected
        What `onward.results.collect.collect` found.
    published
        The rows of papers; those of protocols that have no entry are left out.
    keys
        What tests must be; by default what the package knows.
    progress
        Called with 1 after each folder that was checked.

    Raises
    ------
    OnwardError
        Where no run can be accepted.
    """
    folders = [record.path for record in collected.records if record.path is not None]
    checked = check_results(folders, keys, rules(), progress)
    wrong = checked.wrong
    refused = [
        *(Refused(each.folder, (each.reason,)) for each in collected.left_out),
        *(Refused(folder, tuple(reasons)) for folder, reasons in wrong.items()),
    ]
    accepted = []
    for record in collected.records:
        limits = unmetered(record.spec, record.cost)
        if limits and record.path is not None and record.path not in wrong:
            refused.append(Refused(record.path, (_not_metered(limits),)))
        elif record.path not in wrong:
            accepted.append(record)
    if not accepted:
        raise OnwardError(
            f"expected at least one run that can be accepted, found none among {len(refused)}; "
            f"the first, {refused[0].folder}: {refused[0].reasons[0]}. See: onward check results "
            "DIR"
        )
    return Leaderboard(
        boards=tuple(_boards(accepted, published, checked.unverified)),
        refused=tuple(refused),
        checked=len(collected.records) + len(collected.left_out),
        notes=checked.notes,
    )


def _not_metered(limits: Sequence[str]) -> str:
    """Say why a run is in no ranking."""
    return (
        f"{' and '.join(limits)} limited, and not metered: the learner does not report what it "
        "spends, so nobody can tell whether it kept to the limit"
    )


def _boards(
    records: Iterable[RunRecord], published: Sequence[PublishedRow], unverified: Set[Path]
) -> list[Board]:
    divisions: dict[tuple[str, str], list[Division]] = {}
    for setting in by_setting(summarise(records)):
        place = (setting[0].spec.benchmark, setting[0].protocol)
        divisions.setdefault(place, []).append(_division(setting, unverified))
    return [
        Board(
            benchmark,
            protocol,
            tuple(_marked(found)),
            tuple(r for r in published if (r.benchmark, r.protocol) == (benchmark, protocol)),
        )
        for (benchmark, protocol), found in sorted(divisions.items())
    ]


def _marked(divisions: Sequence[Division]) -> Iterator[Division]:
    """Yield divisions whose words tell them apart."""
    words = [division.words() for division in divisions]
    for division in divisions:
        spec = division.spec
        said = (spec.task, spec.protocol, spec.periods, spec.limits, spec.benchmark_options)
        cut = json.dumps([*said, spec.data_digest, spec.recipe.get("model")], sort_keys=True)
        mark = hashlib.sha256(cut.encode()).hexdigest()[:8]
        yield replace(division, mark=mark) if words.count(division.words()) > 1 else division


def _division(setting: Sequence[Summary], unverified: Set[Path]) -> Division:
    metrics = tuple(shown_metrics(setting))
    sure = [item for item in setting if not any(r.path in unverified for r in item.records)]
    measured = [item for item in sure if metrics and item.metrics[metrics[0]].known]
    ranked_on = _shared_seeds(measured)
    quality = {item: _mean(item, metrics[0], ranked_on) for item in measured}
    ordered = sorted(measured, key=lambda item: -quality[item])
    entries = []
    for item in ordered:
        above = sum(other > quality[item] for other in quality.values())
        first = item is ordered[0]
        behind = None if first else compare_methods(item, ordered[0], metrics[0])
        entries.append(Entry(item, above + 1, behind))
    decided = len(entries) > 1 and all(
        entry.behind is not None and entry.behind.verdict.answer == "worse" for entry in entries[1:]
    )
    others = [item for item in setting if item not in quality]
    entries += [Entry(item, None, None, verified=item in sure) for item in others]
    return Division(tuple(entries), metrics, decided, ranked_on=ranked_on)


def _shared_seeds(ranked: Sequence[Summary]) -> tuple[int, ...] | None:
    """Return the seeds that all have, where not all have the same; None where none is shared."""
    if len({item.seeds for item in ranked}) < 2:
        return None
    return tuple(seed for seed in ranked[0].seeds if all(seed in r.seeds for r in ranked)) or None


def _mean(item: Summary, metric: str, seeds: tuple[int, ...] | None) -> float:
    values = zip(item.seeds, item.metrics[metric].values, strict=True)
    return float(np.mean([value for seed, value in values if seeds is None or seed in seeds]))


def budget_words(spec: RunSpec) -> str:
    """Say what a run may spend, by its protocol's rules or by its own limits.

    Examples
    --------
    >>> spec = RunSpec(
    ...     benchmark="clear", data="emoji", data_digest="", task="one_label", method="er", seed=0,
    ...     protocol={"name": "iid", "tests": "all"}, recipe_name="cpu", recipe={}, periods=[],
    ...     limits={"macs": 63.4e9},
    ... )
    >>> budget_words(spec)
    'macs ≤ 63.4 billion'
    """
    allowed = dict(spec.protocol.get("limits", {}))
    # Methods that are defined by more work are named by the protocol, and compete by themselves.
    exempt = spec.method in spec.protocol.get("exempt", ())
    free = [name for name in allowed if exempt and name in COMPUTE and name not in spec.limits]
    limits = {name: value for name, value in (allowed | spec.limits).items() if name not in free}
    words = [f"{_called(name)} ≤ {amount(value)}" for name, value in sorted(limits.items())]
    words += [f"exempt from the limit of {_called(name)}" for name in free]
    return ", ".join(words) or "no limit"


def _called(limit: str) -> str:
    return limit.replace("_", " ")


def memory_words(summary: Summary) -> str:
    """Say in which class of memory a method is: how many samples it keeps.

    Four classes, so that they can be chosen from.
    """
    stored = summary.cost["stored_samples"]
    if not stored:
        return "none"
    for most in (1_000, 10_000):
        if stored <= most:
            return f"up to {most:,}"
    return "above 10,000"
