"""From runs to numbers: repetitions under other seeds become a mean and a deviation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.metrics import METRICS as CATALOGUE
from onward.metrics.clad import area_below_curve
from onward.report.fields import printable
from onward.report.numbers import percent
from onward.results.cost import unmetered
from onward.results.predictions import POOLED
from onward.results.record import RunRecord
from onward.results.schema import SCHEMA, RunSpec
from onward.tasks import shown_of
from onward.tasks.one_label import CLASS_MEAN

# The future comes first: it is what a deployed model is for.
METRICS = ("next_domain", "forward_transfer", "in_domain", "accuracy", "backward_transfer")
# Of the tests of all periods so far taken as one: of the last model, and as a mean over all models.
POOLED_METRICS = ("pooled", "pooled_mean")
# Of a static test after each period, the mean over classes, on average; and between two calls.
STATIC_METRICS = ("amca", "area_below_curve")
TEST = "test"
# Of the last model alone: all there is where everything is learned at once.
FINAL = "final"
COSTS = ("cpu_seconds", "macs", "samples", "stored_samples", "parameters")
# Where there is a device other than the CPU.
DEVICE_COSTS = ("device_seconds", "peak_device_memory_bytes")


@dataclass(frozen=True)
class Measure:
    """One number per seed, NaN where the protocol leaves cells empty."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """The standard deviation over seeds (n - 1 in the denominator); NaN for a single seed."""
        if len(self.values) < 2:
            return float("nan")
        return float(np.std(self.values, ddof=1))

    @property
    def known(self) -> bool:
        """Whether there is a number at all."""
        return not np.isnan(self.mean)

    def percent(self) -> str:
        """Return mean and deviation in percent.

        Examples
        --------
        >>> Measure((0.68, 0.70)).percent()
        '69.0 ± 1.4'
        >>> Measure((0.68,)).percent()  # no deviation is invented
        '68.0'
        >>> Measure((float("nan"),)).percent()
        '–'
        """
        if np.isnan(self.deviation):
            return percent(self.mean)
        return f"{percent(self.mean)} ± {percent(self.deviation)}"


@dataclass(frozen=True, eq=False)
class Summary:
    """One method under one protocol: complete runs that differ in nothing but their seed.

    ``records`` are in the order of their seeds, and so is every `Measure`. ``more`` are metrics of
    the catalogue that were asked for beside the usual ones. ``other_data`` says that there are also
    runs on another version of the data with the same name, which this one is not compared with.
    """

    label: str
    records: tuple[RunRecord, ...]
    more: tuple[str, ...] = ()
    other_data: bool = False

    @property
    def spec(self) -> RunSpec:
        """What was asked, with the first of the seeds."""
        return self.records[0].spec

    @property
    def protocol(self) -> str:
        """The name of the protocol."""
        return str(self.spec.protocol["name"])

    @property
    def data_name(self) -> str:
        """The name of the data, with the beginning of its hash where others share that name."""
        return self.spec.data + f" #{self.spec.data_digest[:8]}" * self.other_data

    @property
    def unmetered(self) -> tuple[str, ...]:
        """The limits that nobody can tell it kept to: see `onward.results.cost.unmetered`."""
        return _unmetered(self.records)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(record.spec.seed for record in self.records)

    @cached_property
    def matrices(self) -> NDArray[np.float64]:
        """The score matrices as an array (seed, learned_upto, tested_on)."""
        return np.stack([record.matrix() for record in self.records])

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The mean score matrix; a cell that is empty for any seed stays empty."""
        return np.asarray(self.matrices.mean(axis=0), np.float64)

    @cached_property
    def metrics(self) -> dict[str, Measure]:
        """CLEAR's metrics, the last model's mean over all periods, and pooled tests, per seed."""
        found = {name: self._measure(f"clear.{name}") for name in METRICS}
        found[FINAL] = self._measure("literature.gem_average_accuracy")
        if self.spec.protocol.get("pooled"):
            ends = [float(record.static(POOLED)[-1]) for record in self.records]
            found["pooled"] = Measure(tuple(ends))
            found["pooled_mean"] = Measure(tuple(map(pooled_mean_of, self.records)))
        if self._tests_classes():
            found["amca"] = Measure(tuple(map(amca_of, self.records)))
        if self.spec.protocol.get("curve"):
            found["area_below_curve"] = Measure(tuple(map(_area, self.records)))
        return found | {name: self._measure(name) for name in self.more}

    @cached_property
    def static(self) -> dict[str, Measure]:
        """The last model's score on each static test, per seed."""
        return {
            test: Measure(tuple(float(record.static(test)[-1]) for record in self.records))
            for test in self.records[0].static_tests
            if test != POOLED
        }

    @cached_property
    def cost(self) -> dict[str, float]:
        """What a run spends, mean over seeds."""
        return mean_cost(self.records)

    def _tests_classes(self) -> bool:
        """Whether the one test belongs to no period, and its classes count alike."""
        counted = shown_of(self.spec.task).class_mean is not None
        return counted and TEST in self.records[0].static_tests

    def _measure(self, name: str) -> Measure:
        function, first = CATALOGUE.find(name).function, self.spec.label_delay
        # Before the first labels come there is no model: the stream of scores begins with them.
        return Measure(tuple(function(matrix[first:, first:]) for matrix in self.matrices))


def summarise(records: Iterable[RunRecord], more: Sequence[str] = ()) -> list[Summary]:
    """Average complete runs over their seeds; leave the incomplete ones out (see `unfinished`).

    Runs on two versions of the data, which have two hashes, are never averaged, though the data
    has one name: see `Summary.data_name`.

    Parameters
    ----------
    records
        Runs of any methods, protocols and seeds; those that share everything but the seed are
        averaged.
    more
        Metrics of the catalogue beside the usual ones.

    Returns
    -------
        Setting by setting (future-only protocols first), best next-domain mean first.
    """
    groups: dict[str, list[RunRecord]] = {}
    for record in _distinct(record for record in records if record.complete):
        groups.setdefault(record.spec.without_seed(), []).append(record)
    specs = [members[0].spec for members in groups.values()]
    labels, shared = method_labels(specs), _shared_names(specs)
    summaries = [
        Summary(
            label=labels[key] + _not_metered(members),
            records=tuple(sorted(members, key=lambda record: record.spec.seed)),
            more=tuple(more),
            other_data=(members[0].spec.benchmark, members[0].spec.data) in shared,
        )
        for key, members in groups.items()
    ]
    return sorted(summaries, key=_order)


def _unmetered(records: Iterable[RunRecord]) -> tuple[str, ...]:
    found = (name for record in records for name in unmetered(record.spec, record.cost))
    return tuple(dict.fromkeys(found))


def _not_metered(records: Iterable[RunRecord]) -> str:
    """Say what a method may have exceeded: it stands beside others that obeyed."""
    found = _unmetered(records)
    return f" ({' and '.join(found)} not metered)" if found else ""


def unfinished(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs that `summarise` leaves out because they are not complete."""
    return [record for record in records if not record.complete]


def shown_metrics(summaries: Sequence[Summary]) -> list[str]:
    """Return the metrics that a protocol fills; `FINAL` where all is learned at once."""
    names = [*STATIC_METRICS, *POOLED_METRICS, *METRICS]
    if summaries[0].spec.protocol["tests"] == "last":
        names = ["amca", "pooled", FINAL]
    elif of_task := shown_of(summaries[0].spec.task).metrics:
        names = [*of_task]
    names += summaries[0].more
    filled = (item.metrics for item in summaries)
    known = {name for found in filled for name, measure in found.items() if measure.known}
    return [name for name in names if name in known]


def headline(summaries: Sequence[Summary]) -> str | None:
    """Return the metric that a setting is judged by; None where there is none."""
    return next(iter(shown_metrics(summaries)), None)


def mean_cost(
    records: Iterable[RunRecord], names: Sequence[str] = (*COSTS, *DEVICE_COSTS)
) -> dict[str, float]:
    """Return what finished runs spend, as a mean; nothing if none is finished.

    What any of them did not meter is NaN. `DEVICE_COSTS` are left out where any of them has none.
    """
    spent = [record.cost for record in records if record.cost is not None]
    if not spent:
        return {}
    # As numbers, None is NaN.
    counted = {name: np.array([getattr(cost, name) for cost in spent], float) for name in names}
    means = {name: float(np.mean(numbers)) for name, numbers in counted.items()}
    return {n: v for n, v in means.items() if n not in DEVICE_COSTS or not np.isnan(v)}


def pooled_mean_of(record: RunRecord) -> float:
    """Return the mean over periods of the score on all of the past."""
    return _mean_of_known(record.static(POOLED))


def amca_of(record: RunRecord) -> float:
    """Return the mean over test times of the mean over classes, as `onward.metrics.clad.amca`."""
    return _mean_of_known(record.static(TEST, CLASS_MEAN))


def _mean_of_known(over_time: NDArray[np.float64]) -> float:
    """Return the mean over the times at which there was a test; NaN where there was none."""
    known = over_time[~np.isnan(over_time)]
    return float(known.mean()) if len(known) else float("nan")


def _area(record: RunRecord) -> float:
    seen, scores = record.curve(TEST, CLASS_MEAN)
    return area_below_curve(scores, seen) if len(seen) else float("nan")


def by_setting(summaries: Sequence[Summary]) -> list[list[Summary]]:
    """Put together what may be compared: one data, protocol, recipe and budget, any method."""
    settings: dict[str, list[Summary]] = {}
    for summary in summaries:
        settings.setdefault(_setting(summary.spec), []).append(summary)
    return list(settings.values())


def _setting(spec: RunSpec) -> str:
    # How a method is trained is its own affair, once the budget is the same; which model is not.
    anyone = {
        "schema_version": SCHEMA,
        "seed": 0,
        "method": "",
        "method_options": {},
        "method_digest": None,
        "recipe": {"model": spec.recipe.get("model")},
        "recipe_changes": {},
        "tuned": None,
    }
    return spec.model_copy(update=anyone).hash


def _order(summary: Summary) -> tuple[object, ...]:
    spec = summary.spec
    quality = summary.metrics[headline([summary]) or FINAL].mean
    return (
        spec.benchmark,
        spec.data,
        spec.data_digest,
        spec.protocol["tests"] != "future",
        summary.protocol,
        spec.recipe_name,
        _setting(spec),
        bool(summary.unmetered),
        0.0 if np.isnan(quality) else -quality,
        summary.label,
    )


def _distinct(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Count a run that is there twice once; refuse two that disagree."""
    seen: dict[str, RunRecord] = {}
    for record in records:
        first = seen.setdefault(record.spec.hash, record)
        if first.scores != record.scores:
            raise OnwardError(
                f"expected one result for {record.spec.method} with seed {record.spec.seed}, "
                f"found two that differ, in {first.path} and {record.path}; move one of them away"
            )
    return list(seen.values())


def _shared_names(specs: Iterable[RunSpec]) -> set[tuple[str, str]]:
    """Return the benchmarks and names of data that stand for several versions of it."""
    digests: dict[tuple[str, str], set[str]] = {}
    for spec in specs:
        digests.setdefault((spec.benchmark, spec.data), set()).add(spec.data_digest)
    return {name for name, found in digests.items() if len(found) > 1}


def method_labels(specs: Sequence[RunSpec]) -> dict[str, str]:
    """Name each group of runs, so that no two in one setting share a name."""
    names = {spec.without_seed(): _name(spec) for spec in specs}
    taken = [(_setting(spec), names[spec.without_seed()]) for spec in specs]
    for spec in specs:
        key = spec.without_seed()
        if taken.count((_setting(spec), names[key])) > 1:
            names[key] += f" #{key[:4]}"
    return names


def _name(spec: RunSpec) -> str:
    name = spec.method.rsplit(":", 1)[-1]
    options = {**spec.method_options, **spec.recipe_changes}
    if options:
        name += f"({', '.join(f'{key}={value}' for key, value in options.items())})"
    if spec.schema_version < SCHEMA:
        # Another training engine: never pooled with runs of this version under one name.
        name += f" (version {spec.schema_version})"
    return printable(name)
