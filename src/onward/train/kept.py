"""The memory of a method: made when its size is known, held by the budget, saved."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from onward.budget import Budget
from onward.errors import OnwardError
from onward.memory import Memory
from onward.types import Setting, View

M = TypeVar("M", bound=Memory, covariant=True)


class Kept(Generic[M]):
    """A memory that is made with the first view, since "one bucket" is the size of that view.

    Parameters
    ----------
    make
        Called with a capacity and ``seed=``.
    capacity
        How many samples it keeps; by default what the recipe says, or else as many as the first
        view has, and never more than the budget allows.
    """

    def __init__(self, make: Callable[..., M], capacity: int | None) -> None:
        self._make = make
        self._capacity = whole(capacity)
        self._memory: M | None = None

    def begin(self, setting: Setting) -> None:
        """Take note of the recipe and the seed."""
        self._setting = setting

    def __len__(self) -> int:
        return 0 if self._memory is None else len(self._memory.rows)

    def admit(self, new: View, budget: Budget) -> None:
        """Let the new samples compete for a place, and hold those that are kept."""
        memory = self.ready(new, budget)
        memory.admit(new.rows, new.labels)
        budget.hold(memory.rows)

    def ready(self, new: View, budget: Budget) -> M:
        """Return the memory, made with the first view."""
        if self._memory is None:
            usual = min(
                self._setting.recipe.memory_size or len(new),
                budget.limits.get("stored_samples", np.inf),
            )
            self._memory = self._made(int(usual) if self._capacity is None else self._capacity)
        return self._memory

    def alone(self, new: View) -> View:
        """Return a view of the kept samples."""
        return new if self._memory is None else new.of(self._memory.rows, self._memory.labels)

    def beside(self, new: View) -> View:
        """Return the new samples with the kept ones behind them."""
        return new if self._memory is None else new.also(self._memory.rows, self._memory.labels)

    def state(self) -> dict[str, Any]:
        """Return the memory with its capacity."""
        if self._memory is None:
            return {}
        return {"capacity": self._memory.capacity, "memory": self._memory.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory = None
        if state:
            self._memory = self._made(state["capacity"])
            self._memory.restore(state["memory"])

    def _made(self, capacity: int) -> M:
        return self._make(capacity, seed=self._setting.seed)


def whole(capacity: int | None) -> int | None:
    """Return how many samples a memory is to keep, or say what that may be."""
    if capacity is not None and (type(capacity) is not int or capacity < 1):
        raise OnwardError(
            f"expected a memory of a whole number of samples, at least 1, found {capacity!r}"
        )
    return capacity
