"""The methods of one setting as rows and columns, before a terminal or a paper dresses them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from onward.report.comparison import decided_best
from onward.report.fields import printable, telling
from onward.report.numbers import MISSING
from onward.report.summary import Summary, by_setting, shown_metrics
from onward.report.words import NOT_METERED, lateness, metric_words

COST_WORDS = {
    "cpu_seconds": "CPU seconds",
    "device_seconds": "device seconds",
    "macs": "MACs",
    "stored_samples": "stored samples",
}


@dataclass(frozen=True, eq=False)
class Sheet:
    """One table: a row for each method, a column for each metric that the protocol fills.

    Parameters
    ----------
    title
        What was run: benchmark, data, protocol, recipe, budget.
    summaries
        One setting's, the best first.
    metrics, costs
        Names of `Summary.metrics` and `Summary.cost`.
    best
        By metric, the method that the paired test finds better than every other, if there is one.
    """

    title: tuple[str, ...]
    summaries: tuple[Summary, ...]
    metrics: tuple[str, ...]
    costs: tuple[str, ...]
    best: Mapping[str, Summary | None]

    @property
    def headings(self) -> list[str]:
        """The words above the columns of metrics and costs."""
        return [metric_words(name)[0] for name in self.metrics] + [
            COST_WORDS[name] for name in self.costs
        ]

    @property
    def decided(self) -> bool:
        """Whether any method is proven best in any column."""
        return any(self.best.values())

    def note(self) -> str:
        """Say what the numbers are, and what bold means where it is used."""
        counts = sorted({len(item.seeds) for item in self.summaries})
        if counts == [1]:
            return "percent; one seed, so there is no deviation"
        number = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        text = f"percent, mean ± one standard deviation over {number} seeds"
        bold = "; bold: better than every other by the paired test" if self.decided else ""
        return text + bold

    def cost_text(self, item: Summary, name: str) -> str:
        """Return what a method cost, as people read it."""
        if name not in item.cost:  # of a device, where another method had one
            return MISSING
        value = item.cost[name]
        if math.isnan(value):
            return NOT_METERED
        if name == "macs":
            return short_number(value)
        return f"{value:.2f}" if name.endswith("seconds") else f"{value:,.0f}"


def sheets(summaries: Sequence[Summary]) -> list[Sheet]:
    """Return one sheet per setting, with titles that tell them apart.

    Data of one name and several hashes is marked by its hash: nothing of it was averaged.
    """
    made = [_sheet(members) for members in by_setting(summaries)]
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, one in enumerate(made):
        alike.setdefault(one.title, []).append(place)
    for places in alike.values():
        if len(places) > 1:
            for place, said in zip(places, _told_apart([made[p] for p in places]), strict=True):
                made[place] = replace(made[place], title=(*made[place].title, said))
    return made


def _sheet(members: Sequence[Summary]) -> Sheet:
    first, spec = members[0], members[0].spec
    parts = [spec.benchmark, first.data_name, first.protocol, f"{spec.recipe_name} recipe"]
    parts += [lateness(spec)] if spec.label_delay else []
    parts += [f"{name} {_limit(name, value)}" for name, value in spec.limits.items()]
    metrics = tuple(shown_metrics(members))
    limited = {**spec.protocol.get("limits", {}), **spec.limits}
    spent = {name for item in members for name in item.cost}
    costs = [name for name in COST_WORDS if name in (limited if name == "macs" else spent)]
    best = {name: decided_best(members, name) for name in metrics}
    return Sheet(tuple(map(printable, parts)), tuple(members), metrics, tuple(costs), best)


def _limit(name: str, value: float) -> str:
    return short_number(value) if name == "macs" else f"{value:,.15g}"


def _told_apart(alike: Sequence[Sheet]) -> list[str]:
    specs = [sheet.summaries[0].spec for sheet in alike]
    return telling(
        [
            {
                "model": spec.recipe.get("model"),
                "protocol": spec.protocol,
                "options": spec.benchmark_options,
                "task": spec.task,
                "periods": spec.periods,
            }
            for spec in specs
        ]
    )


def short_number(value: float) -> str:
    """Return a large number with one letter for its thousands.

    Examples
    --------
    >>> short_number(63434981376), short_number(0), short_number(950), short_number(2.5e12)
    ('63.4G', '0', '950', '2.5T')
    """
    for letter, unit in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= unit:
            return f"{value / unit:.1f}{letter}"
    return f"{value:.0f}"
