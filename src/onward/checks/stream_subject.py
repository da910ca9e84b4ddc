"""What the checks of a stream look at."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from onward.checks.digests import digest, digest_rows
from onward.checks.fresh import call_fresh
from onward.checks.noise import places, with_noise
from onward.checks.report import Skipped
from onward.types import PERIOD, Array, Benchmark, Folds, Rows, Samples, Split, Stream

WHAT = ("rows", "labels", "classes", "inputs")
Facts = list[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class StreamSubject:
    """A stream, and the benchmark it was cut from if that is known."""

    given: Benchmark | Stream
    seed: int

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark; a check that needs it is skipped without one."""
        if isinstance(self.given, Stream):
            raise Skipped("a stream was given without its benchmark")
        return self.given

    @property
    def split(self) -> Split | None:
        """How the benchmark splits; None of a bare stream."""
        return None if isinstance(self.given, Stream) else self.given.protocol.split

    @property
    def tests(self) -> str | None:
        """When the benchmark's protocol tests; None of a bare stream."""
        return None if isinstance(self.given, Stream) else self.given.protocol.tests

    @property
    def many_labels(self) -> bool:
        """Whether samples have rows of labels."""
        return self.stream[0].train.labels.ndim == 2

    @property
    def questions(self) -> bool:
        """Whether tests are questions about other samples of the test, such as which text fits."""
        first = self.stream[0]
        return first.train.labels.ndim == 1 and first.test.labels.ndim == 2

    @cached_property
    def stream(self) -> Stream:
        """The stream to look at."""
        return self.given if isinstance(self.given, Stream) else self.given.stream(self.seed)

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """The streams of enough seeds to see every sample held out, if there are folds."""
        if isinstance(self.given, Stream):
            return (self.stream,)
        seeds = range(self.split.k) if isinstance(self.split, Folds) else range(3)
        return tuple(self.given.stream(seed) for seed in seeds)

    @cached_property
    def groups(self) -> Array:
        """The group of every sample; a check that needs groups is skipped without them."""
        if "group" not in self.stream.table.columns.column_names:
            raise Skipped("the table has no column 'group'")
        return self.stream.table.values("group").astype(str)

    @cached_property
    def facts(self) -> tuple[Facts, list[Facts], str]:
        """What periods are made of: as they are, with noise after each, and found out where."""
        benchmark, stream = self.benchmark, self.stream
        where_they_are = places(benchmark, stream)
        noised, where = call_fresh(noised_facts, replace(benchmark), where_they_are, self.seed)
        return period_facts(stream), noised, where


def sides(stream: Stream) -> list[tuple[str, Samples]]:
    """Return every train and test part with a name for people."""
    return [
        (f"{side} of period {period.index} ({period.name})", samples)
        for period in stream
        for side, samples in (
            ("train", period.train),
            *(
                ("test" if name == PERIOD else f"test {name}", tested)
                for name, tested in period.tests.items()
            ),
        )
    ]


def training_rows(stream: Stream) -> Rows:
    """Return the rows that any period brings for training."""
    return np.concatenate([period.shown for period in stream])


def testing_rows(stream: Stream) -> Rows:
    """Return the rows that any period, or a static test, tests on."""
    tests = [samples for period in stream for samples in period.tests.values()]
    tests += stream.static.values()
    return np.concatenate([samples.rows for samples in tests])


def period_facts(stream: Stream) -> Facts:
    """Name what each period is made of, in the order of `WHAT`."""
    column = stream.table.wide["input"]
    return [
        (
            digest(period.train.rows, period.unlabelled, period.test.rows),
            digest(period.train.labels, period.test.labels),
            digest(period.classes),
            digest_rows(column, np.concatenate([period.shown, period.test.rows])),
        )
        for period in stream
    ]


def noised_facts(benchmark: Benchmark, stream: Stream, seed: int) -> list[Facts]:
    """Name what each period is made of, with noise after each period in turn.

    The earliest comes first: what is kept from the first call, if anything is, saw the least.
    """
    return [
        period_facts(with_noise(benchmark, stream, upto).stream(seed))
        for upto in range(len(stream))
    ]
