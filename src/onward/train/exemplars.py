"""Exemplars: some samples of every class, with the labels that they had when they were chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np

from onward.budget import Budget
from onward.memory import PerClass
from onward.train.kept import whole
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
        How many of each class; by default what the recipe says, or else 20.
    herding
        Whether they are chosen by their features, see `onward.memory.herd`, or at random. Where the
        budget limits passes or MACs, new samples cannot be read again for that, and they are drawn.
    """

    def __init__(self, per_class: int | None, *, herding: bool = False) -> None:
        self._per_class, self._herding = whole(per_class), herding

    def begin(self, setting: Setting) -> None:
        """Take note of the recipe and the seed."""
        self._size = setting.recipe.batch_size
        number = self._per_class or setting.recipe.per_class or _USUAL
        self._memory = PerClass(number, seed=setting.seed)

    def __len__(self) -> int:
        return len(self._memory.rows)

    @property
    def samples(self) -> Samples:
        """What is kept."""
        return Samples(self._memory.rows, self._memory.labels)

    def admit(self, model: "Model", new: View, budget: Budget) -> None:
        """Choose among the new samples, and hold those that are kept."""
        features = None
        if self._herding and may_read_again(budget):
            features = features_of(model, new, budget, self._size)
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


def features_of(model: "Model", view: View, budget: Budget, size: int) -> Array:
    """Return a model's features of all samples of a view, as they are, and pay for that.

    Parameters
    ----------
    model
        Whose features.
    view
        The samples.
    budget
        Pays.
    size
        How many are looked at at a time.
    """
    import torch  # loaded when it is needed

    found = []
    for start in range(0, len(view), size):
        inputs = torch.from_numpy(np.array(view.inputs(slice(start, start + size))))
        budget.spend(macs=model.macs * len(inputs))
        found.append(model.embed(inputs).numpy().copy())
    return np.concatenate(found)
