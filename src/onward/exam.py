"""The tests that are due after a period: all of them in one call, scored and stored one by one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from onward.results import predictions
from onward.results.keys import Key, Keys, edition, hash_of_test, name_of_test
from onward.results.predictions import POOLED, pooled_places
from onward.results.schema import Score, stream_name
from onward.stored import stored
from onward.types import (
    Array,
    Benchmark,
    Call,
    Learner,
    Protocol,
    Rows,
    Samples,
    Stream,
    Task,
    View,
)


class Test(NamedTuple):
    """A test: its name, the period that it is about, if any, and its samples."""

    name: str
    period: int | None
    samples: Samples


def static_tests(stream: Stream) -> list[Test]:
    """Return the tests that belong to no period."""
    return [Test(name, None, samples) for name, samples in stream.static.items()]


def due_tests(stream: Stream, protocol: Protocol, learned_upto: int) -> list[Test]:
    """Return the tests that are due after a period.

    Before anything was learned, there is nobody to test.
    """
    if not any(len(period.train) for period in stream[: learned_upto + 1]):
        return []
    of_periods = [
        Test(name, index, samples)
        for index in protocol.tested(learned_upto, len(stream))
        for name, samples in stream[index].tests.items()
    ]
    return of_periods + static_tests(stream)


def key_of_stream(stream: Stream, protocol: Protocol) -> Key:
    """Return the key of a stream: that of every run on it, whoever learns."""
    due = [test for index in range(len(stream)) for test in due_tests(stream, protocol, index)]
    ids = stream.table.values("id")
    return {
        name_of_test(name, period): hash_of_test(
            ids[samples.rows], samples.labels, stream[-1].classes
        )
        for (name, period), samples in {(test[0], test[1]): test.samples for test in due}.items()
        if len(samples)
    }


def keys_of(
    benchmark: Benchmark, seeds: Iterable[int], progress: Callable[[int], None] = lambda done: None
) -> Keys:
    """Return the keys of a benchmark as it is asked for, without any run.

    Parameters
    ----------
    benchmark
        What `onward.load` returned.
    seeds
        Those that runs will have.
    progress
        Called with 1 after each seed.
    """
    found: dict[str, dict[int, Key]] = {}
    protocol = stored(benchmark.protocol)
    for seed in seeds:
        stream = benchmark.stream(seed)
        periods = [period.name for period in stream]
        name = stream_name(benchmark.raw.digest, benchmark.options, protocol, periods)
        found.setdefault(name, {})[seed] = key_of_stream(stream, benchmark.protocol)
        progress(1)
    called = frozenset({(benchmark.name, benchmark.data)})
    keys = Keys({}, {edition(benchmark.raw.digest): called})
    for name, by_seed in found.items():
        keys |= Keys.of_seeds(name, benchmark.protocol.name, by_seed)
    return keys


@dataclass(frozen=True, eq=False)
class Exam:
    """What a learner answered."""

    stream: Stream
    task: Task
    tests: Sequence[Test]
    everything: Samples
    classes: tuple[str, ...]
    outputs: Any

    @staticmethod
    def sit(
        learner: Learner,
        stream: Stream,
        tests: Sequence[Test],
        classes: tuple[str, ...],
        task: Task,
    ) -> "Exam":
        """Give all tests in one call: nothing tells their periods apart."""
        everything = Samples.join([test.samples for test in tests])
        call = Call(None)
        try:
            outputs = learner.predict(View(stream.table, everything, classes, call))
        finally:
            call.over = True
        return Exam(stream, task, tests, everything, classes, outputs)

    @cached_property
    def decisions(self) -> Array:
        """What the outputs mean, test by test; raises if they are none."""
        sizes = [len(test.samples) for test in self.tests]
        return self.task.decode(self.outputs, self.classes, *sizes)

    def scores(self, learned_upto: int, *, pooled: bool = False) -> list[Score]:
        """Return a score for each test after a period.

        Where it is `pooled`, there is also one for the tests of all periods together, each sample
        once.
        """
        scores, end = [], 0
        for name, period, samples in self.tests:
            start, end = end, end + len(samples)
            scores.append(self._score(learned_upto, name, period, slice(start, end)))
        if pooled:
            of_periods = sum(len(test.samples) for test in self.tests if test.period is not None)
            once = pooled_places(self.everything.rows[:of_periods])
            scores.append(self._score(learned_upto, POOLED, None, once))
        return scores

    def _score(
        self, learned_upto: int, name: str, period: int | None, places: Rows | slice
    ) -> Score:
        samples = self.everything[places]
        found = self.task.score(self.decisions[places], samples.labels)
        return Score(
            learned_upto=learned_upto,
            tested_on=period,
            test=name,
            samples=len(samples),
            scores={k: None if np.isnan(v) else v for k, v in found.items()},
        )

    def stored(self) -> bytes:
        """Return the file of all single decisions."""
        sizes = [len(test.samples) for test in self.tests]
        where = [predictions.STATIC if test.period is None else test.period for test in self.tests]
        return predictions.encode(
            tests=np.repeat([test.name for test in self.tests], sizes),
            tested_on=np.repeat(where, sizes),
            ids=self.stream.table.values("id")[self.everything.rows],
            targets=self.everything.labels,
            decisions=self.decisions,
            classes=self.stream[-1].classes,
        )
