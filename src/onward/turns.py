"""What a run hands out on its way: events for who watches, and calls of `learn` for who drives."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from onward.budget import Budget, working
from onward.errors import DivergedError, OnwardError
from onward.results.schema import RunSpec, Score
from onward.types import Learner, View


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, for whoever watches.

    ``kind`` is one of waiting, done before, resumed, replayed, learning, learned, tested, done.
    """

    kind: str
    spec: RunSpec
    period: int | None = None
    learner: Learner | None = None
    outputs: Any = None
    scores: tuple[Score, ...] = ()


Watch = Callable[[Event], None]


@contextlib.contextmanager
def noted(where: str) -> Iterator[None]:
    """Add to an error of a learner's own where it happened."""
    try:
        yield
    except OnwardError:
        raise
    except Exception as error:
        error.add_note(where)
        raise


@dataclass(frozen=True, eq=False)
class Turn:
    """A call of `learn` that is due, at a place of the stream, which `where` says in words."""

    at: tuple[int, int]
    learner: Learner
    view: View
    budget: Budget
    where: str

    def take(self) -> None:
        """Make the call."""
        try:
            with working([self.budget]), noted(self.where):
                self.learner.learn(self.view, self.budget)
        except DivergedError as error:
            raise self.located(error) from error

    def located(self, error: DivergedError) -> DivergedError:
        """Return the error of a call that diverged, with where that was."""
        return DivergedError(f"{self.where}: {error}")
