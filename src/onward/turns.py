"""What a run hands out on its way: events for who watches, and calls of `learn` for who drives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onward.budget import Budget, working
from onward.results.schema import RunSpec, Score
from onward.results.training import TrainingRecord
from onward.types import Learner, View


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, for whoever watches.

    ``kind`` is one of waiting, done before, resumed, replayed, learning, learned, tested, done,
    failed; or training, while a period is learned. ``metrics`` of the event learned are what the
    method logged by ``batch.log``, as means over the steps of the last call. ``records`` of the
    event training are new records of steps and epochs, and ``steps`` how many steps of the call are
    done and how many it has.
    """

    kind: str
    spec: RunSpec
    period: int | None = None
    learner: Learner | None = None
    outputs: Any = None
    scores: tuple[Score, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    records: tuple[TrainingRecord, ...] = ()
    steps: tuple[int, int] = (0, 0)


Watch = Callable[[Event], None]


@dataclass(frozen=True, eq=False)
class Turn:
    """A call of `learn` that is due, at a place of the stream."""

    at: tuple[int, int]
    learner: Learner
    view: View
    budget: Budget

    def take(self) -> None:
        """Make the call."""
        with working([self.budget]):
            self.learner.learn(self.view, self.budget)
