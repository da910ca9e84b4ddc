"""Learners around learners."""

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onward.budget import Budget
from onward.errors import OnwardError
from onward.types import Learner, SavingLearner, View

# What code that is wrong raises. What is not its fault, such as a lack of memory, passes.
_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class BrokenLearnerError(OnwardError):
    """A learner raised an error of its own."""


class Wrapper:
    """A learner that hands every call on to another one."""

    def __init__(self, inner: Learner) -> None:
        self.inner = inner
        self.compute_device = getattr(inner, "compute_device", None)
        if isinstance(inner, SavingLearner):
            self.save, self.load = inner.save, inner.load

    def learn(self, view: View, budget: Budget) -> None:
        """Let the inner learner learn."""
        self.inner.learn(view, budget)

    def predict(self, view: View) -> Any:
        """Return what the inner learner predicts."""
        return self.inner.predict(view)


class Reporting(Wrapper):
    """A learner whose mistakes are told in one line, so that a check can pass them on."""

    def __init__(self, inner: Learner) -> None:
        super().__init__(inner)
        if isinstance(inner, SavingLearner):
            write, read = inner.save, inner.load

            def save(folder: Path) -> None:
                with _told("save"):
                    write(folder)

            def load(folder: Path) -> None:
                with _told("load"):
                    read(folder)

            self.save, self.load = save, load

    def learn(self, view: View, budget: Budget) -> None:
        """Let the inner learner learn."""
        with _told("learn"):
            self.inner.learn(view, budget)

    def predict(self, view: View) -> Any:
        """Return what the inner learner predicts."""
        with _told("predict"):
            return self.inner.predict(view)


@contextlib.contextmanager
def _told(where: str) -> Iterator[None]:
    try:
        yield
    except OnwardError:
        raise
    except _MISTAKES as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise BrokenLearnerError(
            f"{where} raised {type(error).__name__}: {error} ({place.filename}, line "
            f"{place.lineno}, in {place.name})"
        ) from error
