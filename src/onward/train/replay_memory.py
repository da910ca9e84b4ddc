"""Replay memories, and what methods share that train on one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from onward import distributed
from onward.budget import Budget
from onward.errors import OnwardError
from onward.memory import MEMORIES, Memory, PerClass
from onward.train.method import Method, Start, TrainingSet, check_start, may_read_again
from onward.types import Array, Samples, Setting, View

if TYPE_CHECKING:
    from onward.models import Model

M = TypeVar("M", bound=Memory, covariant=True)

_EXEMPLARS_PER_CLASS = 20


class ReplayMemory(Generic[M]):
    """A memory that is made with the first view, since "one bucket" is the size of that view.

    `make` is called with a capacity and ``seed=``. The default capacity is what the recipe says, or
    else the size of the first view, and never more than the budget allows.
    """

    def __init__(self, make: Callable[..., M], capacity: int | None) -> None:
        self._make, self._capacity = make, check_memory_size(capacity)
        self._memory: M | None = None

    def begin(self, setting: Setting) -> None:
        """Take the recipe and the seed from the setting."""
        self._setting = setting

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def samples(self) -> Samples:
        """The stored samples."""
        if self._memory is None:
            return Samples(np.empty(0, np.int64), np.empty(0, np.int64))
        return Samples(self._memory.rows, self._memory.labels)

    def buffer(self, new: View, budget: Budget) -> M:
        """Return the memory itself, made with the first view."""
        if self._memory is None:
            self._memory = self._made(self._capacity or self._default_capacity(new, budget))
        return self._memory

    def admit(self, new: View, budget: Budget, model: "Model | None" = None) -> None:
        """Let the new samples compete for a place, and hold the stored ones by the budget."""
        memory = self.buffer(new, budget)
        memory.admit(new.rows, new.labels)
        budget.hold(memory.rows)

    def with_replay(self, new: View) -> View:
        """Return the new samples with the stored ones behind them."""
        return new.also(self.samples.rows, self.samples.labels) if len(self) else new

    def state(self) -> dict[str, Any]:
        """Return the memory with its capacity."""
        if self._memory is None:
            return {}
        return {"capacity": self._memory.capacity, "memory": self._memory.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the memory."""
        self._memory = None
        if state:
            # A budget may have shrunk exemplars to none, which no new memory can be asked for.
            self._memory = self._made(max(state["capacity"], 1))
            # Earlier checkpoints have the state of an exemplar memory with nothing around it.
            self._memory.restore(state.get("memory", state))

    def _made(self, capacity: int) -> M:
        return self._make(capacity, seed=self._setting.seed)

    def _default_capacity(self, new: View, budget: Budget) -> int:
        size = self._setting.recipe.memory_size or len(new)
        return int(min(size, budget.limits.get("stored_samples", np.inf)))


class ExemplarMemory(ReplayMemory[PerClass]):
    """A memory of a number of samples per class, with the labels they had when they were chosen.

    By default it has as many of each class as the recipe says, or else 20. Where the budget does
    not allow so many, the classes so far share what it allows.

    With `herding`, exemplars are chosen by the model's features, see `onward.memory.herd`, and not
    at random. Where the budget limits passes or MACs, new samples cannot be read again, and they
    are chosen at random all the same.
    """

    def __init__(self, per_class: int | None, *, herding: bool = False) -> None:
        super().__init__(PerClass, per_class)
        self._herding = herding

    def admit(self, new: View, budget: Budget, model: "Model | None" = None) -> None:
        """Choose exemplars among the new samples, and hold the stored ones by the budget."""
        memory, features = self.buffer(new, budget), None
        if self._herding and model is not None and may_read_again(budget):
            features = extract_features(model, new, budget, self._setting.recipe.batch_size)
        if "stored_samples" in budget.limits:
            memory.shrink(int(budget.limits["stored_samples"]) // len(new.classes))
        memory.admit(new.rows, new.labels, features)
        budget.hold(memory.rows)

    def _default_capacity(self, new: View, budget: Budget) -> int:
        return self._setting.recipe.exemplars_per_class or _EXEMPLARS_PER_CLASS


def memory_for(
    setting: Setting, memory: int | None, per_class: int | None, kind: str = "reservoir"
) -> ReplayMemory[Memory]:
    """Return the memory of a method that can have either kind, ready to be used.

    It stores a number of samples, by a memory of the catalogue, or a number of samples per class;
    the recipe says which, where the method's options do not.
    """
    if memory is not None and per_class is not None:
        raise OnwardError(
            f"expected a memory of so many samples or of so many per class, found both: memory "
            f"{memory} and per_class {per_class}. Leave one of them out"
        )
    if memory is None and per_class is None:
        per_class = setting.recipe.exemplars_per_class
    made: ReplayMemory[Memory] = (
        ReplayMemory(MEMORIES.find(kind), memory)
        if per_class is None
        else ExemplarMemory(per_class)
    )
    made.begin(setting)
    return made


def check_memory_size(size: int | None) -> int | None:
    """Return a method's option for the size of its memory, or raise an error that says its type."""
    if size is not None and (type(size) is not int or size < 1):
        raise OnwardError(
            f"expected a memory of a whole number of samples, at least 1, found {size!r}"
        )
    return size


def extract_features(model: "Model", view: View, budget: Budget, batch_size: int) -> Array:
    """Return a model's features of all samples of a view, and pay for computing them."""
    import torch  # loaded when it is needed

    from onward.train.loading import view_batches

    budget.spend(macs=model.macs * len(view))
    batches = view_batches(view, model.device, batch_size, shared=True)
    # A copy: the features of a linear probe are its inputs.
    found = torch.cat([model.embed(inputs).clone() for inputs in batches])
    return np.asarray(distributed.gather_contiguous(found, len(view)).cpu().numpy())


class MemoryMethod(Method):
    """Abstract: a method with a replay memory."""

    saved: ClassVar[tuple[str, ...]] = ("_memory",)

    def __init__(self, memory: ReplayMemory[Memory]) -> None:
        self._memory = memory

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what is in `saved`; some earlier checkpoints have the memory's state alone."""
        nested = "memory" in state and "capacity" not in state
        super().restore(state if nested else {"memory": state})


class ReplayMethod(MemoryMethod):
    """Abstract: train on new and stored samples, and admit the new ones to the memory.

    In every epoch each new and each stored sample is seen once; with `replay_per_batch`, each new
    one, and for each batch of them so many of the memory, or all where there are fewer.
    """

    replay_per_batch: ClassVar[int | None] = None

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the memory."""
        both = self._memory.with_replay(new)
        if self.replay_per_batch is None:
            return TrainingSet(both, epoch=len(both))
        replay = min(self.replay_per_batch, len(both) - len(new))
        return TrainingSet(both, epoch=len(new), replay=replay)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Admit the new samples to the memory."""
        self._memory.admit(new, budget, model)


class MemoryOnlyMethod(MemoryMethod):
    """Abstract: admit the new samples to the memory first, then train on the memory alone."""

    def __init__(self, memory: ReplayMemory[Memory], start: Start) -> None:
        super().__init__(memory)
        self.start = check_start(start)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the memory, once the new samples have competed for a place in it."""
        self._memory.admit(new, budget)
        stored = self._memory.samples
        return TrainingSet(new.of(stored.rows, stored.labels), epoch=len(stored))
