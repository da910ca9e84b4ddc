"""What runs have to say about a plan: their score matrices, seed by seed, and what they cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError, first_few
from onward.report.provenance import StreamCard, readable_card
from onward.report.summary import Summary, by_setting, summarise, unfinished
from onward.results.collect import LeftOut, collect

_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, eq=False)
class History:
    """The runs of one setting: scores (seed, learned_upto, tested_on) by method, in points.

    Parameters
    ----------
    setting
        What they were made on, in words.
    periods
        The names of the periods.
    seeds
        Those that every method has.
    scores
        The matrices, times 100: lost points are counted, not shares.
    cpu_hours
        Of one update, by method: a run's CPU time by the number of periods that it learned.
    label_delay
        By how many periods labels came late in these runs.
    same_rows
        Whether every seed trained and tested on the same rows: seeds then decide nothing.
    card
        What their folder says about the stream, if anything.
    left_out
        What was not taken, and why.
    """

    setting: str
    periods: tuple[str, ...]
    seeds: tuple[int, ...]
    scores: Mapping[str, NDArray[np.float64]]
    cpu_hours: Mapping[str, float]
    label_delay: int = 0
    same_rows: bool = False
    card: StreamCard | None = None
    left_out: tuple[str, ...] = ()


def read_history(roots: Iterable[Path]) -> History:
    """Read the runs below some folders.

    Raises
    ------
    OnwardError
        If no run is finished, if they were not made on one stream, or if no model was tested on a
        period after those that it had learned.
    """
    found = collect(roots)
    summaries = summarise(found.records)
    unread = _unread(found.left_out, len(unfinished(found.records)))
    if not summaries:
        why = f" ({unread[0]})" if unread else ""
        raise OnwardError(f"expected finished runs to plan by, found none{why}. Run them first")
    settings = by_setting(summaries)
    if len(settings) > 1:
        raise OnwardError(
            "expected runs on one stream, under one protocol and budget, found "
            f"{len(settings)} settings: {first_few([_words(each[0]) for each in settings], '; ')}. "
            "Give the folders of one of them"
        )
    seeds = _shared_seeds(summaries)
    dropped = sorted({seed for item in summaries for seed in item.seeds} - set(seeds))
    if dropped:
        unread.append(f"seeds {first_few(dropped)}, which not every method has")
    spec = summaries[0].spec
    history = History(
        setting=_words(summaries[0]),
        periods=tuple(spec.periods),
        seeds=seeds,
        scores={item.label: _scores(item, seeds) for item in summaries},
        cpu_hours={item.label: _cpu_hours(item) for item in summaries},
        label_delay=spec.label_delay,
        same_rows=spec.same_rows,
        card=readable_card(summaries[0].records),
        left_out=tuple(unread),
    )
    ahead = [np.isfinite(each[:, *np.triu_indices(len(spec.periods), 1)]) for each in
             history.scores.values()]  # fmt: skip
    if not any(there.any() for there in ahead):
        raise OnwardError(
            "expected scores on periods that a model had not learned yet, found none under the "
            f"protocol {spec.protocol['name']}, which tests {spec.protocol['tests']}: a plan is "
            "about the future. Run a protocol that tests it, such as streaming or iid"
        )
    return history


def _words(item: Summary) -> str:
    spec = item.spec
    late = f", labels {spec.label_delay} late" if spec.label_delay else ""
    limits = f", limits {spec.limits}" if spec.limits else ""
    return (
        f"{spec.benchmark} on {spec.data} #{spec.data_digest[:8]}, {item.protocol}, recipe "
        f"{spec.recipe_name}{late}{limits}"
    )


def _shared_seeds(summaries: Sequence[Summary]) -> tuple[int, ...]:
    shared = set.intersection(*(set(item.seeds) for item in summaries))
    if not shared:
        named = first_few([f"{item.label} has {first_few(item.seeds)}" for item in summaries], "; ")
        raise OnwardError(
            f"expected a seed that every method has run with, found none: {named}. Methods are "
            "compared seed by seed: run them with the same"
        )
    return tuple(sorted(shared))


def _scores(item: Summary, seeds: Sequence[int]) -> NDArray[np.float64]:
    places = [item.seeds.index(seed) for seed in seeds]
    return np.asarray(100 * item.matrices[places], np.float64)


def _cpu_hours(item: Summary) -> float:
    learned = len(item.spec.periods) - item.spec.label_delay
    return item.cost["cpu_seconds"] / _SECONDS_PER_HOUR / learned


def _unread(left_out: Sequence[LeftOut], not_done: int) -> list[str]:
    told = [f"{one.folder}: {one.reason}" for one in left_out]
    return [*told, f"{not_done} runs that are not finished"] if not_done else told
