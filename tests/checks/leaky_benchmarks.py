"""Benchmarks that break the rules, one rule each: variations of the tiny one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from onward.checks import tiny
from onward.data.features import standardise
from onward.types import Array, Column, Period, Protocol, Samples, Stream, Table

_SCALE: dict[str, Array] = {}
_INPUTS: dict[str, Column] = {}


def _points(table: Table) -> Array:
    return table.wide["point"][np.arange(len(table))]


def scaled_on_everything(table: Table) -> Table:
    """Puts inputs on the scale of all periods."""
    return table.with_input(standardise(_points(table), _points(table)))


def scaled_on_what_came_first(table: Table) -> Table:
    """Puts inputs on the scale of all periods of the first table it was ever given."""
    if not _SCALE:
        _SCALE["reference"] = _points(table)
    return table.with_input(standardise(_points(table), _SCALE["reference"]))


def cached_by_name(table: Table) -> Table:
    """Keeps prepared inputs in its module, whatever table they came from."""
    if "tiny" not in _INPUTS:
        _INPUTS["tiny"] = tiny.prepare(table).wide["input"]
    return table.with_input(_INPUTS["tiny"])


def cached_on_disk(table: Table, folder: Path) -> Table:
    """Keeps prepared inputs in a file under a name that does not change with the content."""
    path = folder / "inputs.npy"
    if not path.exists():
        np.save(path, tiny.prepare(table).wide["input"])
    return table.with_input(np.load(path))


def infinite(table: Table) -> Table:
    """Divides by the deviation of a column that does not vary."""
    inputs = tiny.prepare(table).wide["input"].copy()
    inputs[200, 0] = np.inf
    return table.with_input(inputs)


def _changed(
    table: Table, protocol: Protocol, seed: int, change: Callable[[Period], Period]
) -> Stream:
    stream = tiny.cut(table, protocol, seed)
    return replace(stream, periods=tuple(change(period) for period in stream))


def classes_of_the_future(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Tells the first period of all classes that will ever come."""
    stream = tiny.cut(table, protocol, seed)
    names = table.values("label")
    everything = tuple(sorted({name for name in names if name is not None}))
    return replace(stream, periods=tuple(replace(p, classes=everything) for p in stream))


def growing(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Puts the data of every period into the next one too."""
    stream, seen, periods = tiny.cut(table, protocol, seed), [], []
    for period in stream:
        seen.append(period.train)
        periods.append(replace(period, train=Samples.join(seen)))
    return replace(stream, periods=tuple(periods))


def without_the_last(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Drops the last training sample of every period."""
    return _changed(table, protocol, seed, lambda p: replace(p, train=p.train[:-1]))


def split_by_sample(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Splits samples at random, whatever group they are of."""

    def change(period: Period) -> Period:
        both = Samples.join([period.train, period.test])
        order = np.random.default_rng([seed, period.index]).permutation(len(both))
        cut = len(both) * 7 // 10
        return replace(period, train=both[np.sort(order[:cut])], test=both[np.sort(order[cut:])])

    return _changed(table, protocol, seed, change)


def deaf_to_the_seed(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Cuts every seed's stream alike."""
    return tiny.cut(table, protocol, 0)


def unseeded(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Shuffles with a generator of its own."""

    def change(period: Period) -> Period:
        order = np.random.default_rng().permutation(len(period.train))
        return replace(period, train=period.train[order])

    return _changed(table, protocol, seed, change)


def labels_beyond(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Numbers labels by the final list of classes before it is there."""
    return _changed(table, protocol, seed, lambda p: replace(p, classes=p.classes[:-1]))


def classes_sorted(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Sorts classes anew when one arrives."""

    def change(period: Period) -> Period:
        return replace(period, classes=tuple(sorted(period.classes, reverse=period.index > 1)))

    return _changed(table, protocol, seed, change)


def backwards(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Dates a later period before an earlier one."""

    def change(period: Period) -> Period:
        return replace(period, start=date(2000 - period.index, 1, 1))

    return _changed(table, protocol, seed, change)


def misdated(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Ends every period half a year early."""
    return _changed(table, protocol, seed, lambda p: replace(p, end=p.end.replace(month=6, day=1)))


class _Walking(Stream):
    """A stream with a cursor."""

    def __iter__(self) -> Iterator[Period]:
        vars(self)["place"] = 0
        while self.place < len(self.periods):
            vars(self)["place"] += 1
            yield self.periods[self.place - 1]


def with_a_cursor(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Remembers in the stream how far a loop has come."""
    stream = tiny.cut(table, protocol, seed)
    return _Walking(stream.table, stream.periods)


def overlapping_folds(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Deals the groups anew for every seed, so that folds overlap."""
    return tiny.cut(table, protocol, seed * protocol.split.k)


@dataclass(frozen=True)
class TestsEverything(Protocol):
    """Tests all periods where only the future should be."""

    __test__ = False

    def tested(self, learned_upto: int, periods: int) -> range:
        return range(periods)
