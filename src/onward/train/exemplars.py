"""Exemplars: some samples of every class, with the labels that they had when they were chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np

from onward.budget import Budget
from onward.errors import OnwardError
from onward.memory import MEMORIES, Memory, PerClass
from onward.train.kept import Kept, whole
from onward.train.method import may_read_again
from onward.types import Array, Samples, Setting, View

if TYPE_CHECKING:
    from onward.models import Model

_USUAL = 20


class Exemplars:
    """A memory of so many samples per class, held by the budget.

    Parameters
    ----------
    per_class
        How many of each class; by default what the recipe says, or else 20. Where the budget does
        not allow so many, the classes so far share what it allows.
    """

    def __init__(self, per_class: int | None) -> None:
        self._per_class = whole(per_class)

    def begin(self, setting: Setting) -> None:
        """Take note of the recipe and the seed."""
        self._size = setting.recipe.batch_size
        number = self._per_class or setting.recipe.exemplars_per_class or _USUAL
        self._memory = PerClass(number, seed=setting.seed)

    def __len__(self) -> int:
        return len(self._memory.rows)

    @property
    def per_class(self) -> int:
        """How many of each class are kept at most."""
        return self._memory.capacity

    @property
    def samples(self) -> Samples:
        """What is kept."""
        return Samples(self._memory.rows, self._memory.labels)

    def admit(self, new: View, budget: Budget, model: "Model | None" = None) -> None:
        """Choose among the new samples, and hold those that are kept.

        With a model, they are chosen by its features, see `onward.memory.herd`, and otherwise at
        random; so too where the budget limits passes or MACs, and they cannot be read again.
        """
        features = None
        if model is not None and may_read_again(budget):
            features = features_of(model, new, budget, self._size)
        if "stored_samples" in budget.limits:
            self._memory.shrink(int(budget.limits["stored_samples"]) // len(new.classes))
        self._memory.admit(new.rows, new.labels, features)
        budget.hold(self._memory.rows)

    def beside(self, new: View) -> View:
        """Return the new samples with the kept ones behind them."""
        return new.also(self._memory.rows, self._memory.labels) if len(self) else new

    def state(self) -> dict[str, Any]:
        """Return the memory."""
        return self._memory.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the memory back."""
        self._memory.restore(state)


def memory_for(
    setting: Setting, memory: int | None, per_class: int | None, kind: str = "reservoir"
) -> Kept[Memory] | Exemplars:
    """Return the memory of a method that can have either kind, ready to be used.

    It keeps so many samples, by a memory of the catalogue, or so many of each class; the recipe
    says which, where the method's options do not.
    """
    if memory is not None and per_class is not None:
        raise OnwardError(
            f"expected a memory of so many samples or of so many per class, found both: memory "
            f"{memory} and per_class {per_class}. Leave one of them out"
        )
    number = (
        setting.recipe.exemplars_per_class if memory is None and per_class is None else per_class
    )
    made: Kept[Memory] | Exemplars
    made = Kept(MEMORIES.find(kind), memory) if number is None else Exemplars(number)
    made.begin(setting)
    return made


def features_of(model: "Model", view: View, budget: Budget, size: int) -> Array:
    """Return a model's features of all samples of a view, so many at a time, and pay for that."""
    from onward.train.loading import view_batches  # torch, when it is needed

    found = []
    for inputs in view_batches(view, model.device, size):
        budget.spend(macs=model.macs * len(inputs))
        # A copy: the features of a linear probe are its inputs.
        found.append(model.embed(inputs).cpu().numpy().copy())
    return np.concatenate(found)
