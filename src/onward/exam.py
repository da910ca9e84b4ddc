"""The tests that are due after a period: all of them in one call, scored and stored one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from onward.results import predictions
from onward.results.predictions import POOLED, pooled_places
from onward.results.schema import Score
from onward.types import Array, Call, Learner, Protocol, Rows, Samples, Stream, Task, View


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
