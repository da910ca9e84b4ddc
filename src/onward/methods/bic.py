"""BiC: after each period, correct the bias towards its classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from onward.budget import Budget
from onward.errors import OnwardError
from onward.fit import CLASS_OUTPUTS, NEW_CLASSES, SECOND_LOOK
from onward.seeds import Draws, draws
from onward.train.method import TrainingSet, may_read_again
from onward.train.taught import Distilled
from onward.types import Array, Rows, Samples, Task, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

# Keeps alpha finite where held-out samples can be told apart without an error.
_RIDGE = 1e-3
_MOST_STEPS = 100


class BiC(Distilled):
    """As icarl_cnn, then correct the outputs of new classes on samples that were held out.

    Our adaptation to many labels: IIRC names BiC and publishes neither code nor settings. After a
    period, outputs o of its new classes become alpha · o + beta, with the two numbers that minimise
    the task loss on a small part that was not trained on, as many samples of each class, old and
    new. Both go into the rows of the last layer, so that the next period starts from them and its
    teacher has them.

    Where the budget limits passes or MACs, as online, nothing is held out and nothing corrected.

    Why: A last layer favours new classes, of which it has seen more; two numbers mend that.

    Known problems: With 20 exemplars of a class, two of them are all that the numbers are fitted
    to.

    Parameters
    ----------
    per_class
        How many exemplars of each class are kept; by default what the recipe says, or else 20.
    held_out
        The share of a class's exemplars that is held out, and as many samples of each new class.

    References
    ----------
    Wu et al., Large Scale Incremental Learning, CVPR 2019.
    """

    needs: ClassVar[Mapping[str, str]] = {
        CLASS_OUTPUTS: "to correct those of new classes",
        NEW_CLASSES: "whose outputs it corrects",
        SECOND_LOOK: "to correct by samples that were held out",
    }

    def __init__(self, *, per_class: int | None = None, held_out: float = 0.1) -> None:
        if not 0 < held_out < 1:
            raise OnwardError(f"expected to hold out a share between 0 and 1, found {held_out}")
        super().__init__(per_class)
        self._share = held_out
        self._held_out: Samples | None = None

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the exemplars, but for a few of each class."""
        kept, old = self._memory.samples, self._teacher.classes
        self._held_out = None
        if not self._teacher or len(new.classes) == old or not may_read_again(budget):
            return super().training_data(new, budget)
        number = max(1, round(self._share * self._memory.per_class))
        # The last exemplars of a class are those that its mean needs least.
        out = _of_each(kept.newest, np.arange(len(kept)), number)
        fresh = np.flatnonzero(new.newest >= old)
        order = draws(Draws.HELD_OUT, self.setting.seed, old).permutation(fresh)
        apart = _of_each(new.newest, order, number)
        shown = Samples(new.rows, new.labels)
        self._held_out = held = Samples.join([kept[out], shown[apart]])
        # By row: a sample may be there under two labels.
        rest, stay = (
            part[np.flatnonzero(~np.isin(part.rows, held.rows))] for part in (shown, kept)
        )
        return self._rehearsed(new.of(rest.rows, rest.labels).also(stay.rows, stay.labels))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Correct the new classes, then choose exemplars and keep the model."""
        if self._held_out is not None and len(self._held_out):
            self._correct(model, new.of(self._held_out.rows, self._held_out.labels), budget)
        self._held_out = None
        super().on_learn_end(model, new, budget)

    def _correct(self, model: "Model", apart: View, budget: Budget) -> None:
        import torch  # loaded when it is needed

        budget.spend(macs=model.macs * len(apart))
        outputs = model.predict(torch.from_numpy(np.array(apart.inputs())).to(model.device)).cpu()
        targets, old = torch.tensor(apart.labels), self._teacher.classes
        alpha, beta = correction(outputs, targets, old, self.setting.task)
        rows = model.class_rows
        rows["head.weight"][old:] *= alpha
        rows["head.bias"][old:] *= alpha
        rows["head.bias"][old:] += beta


def correction(outputs: "Tensor", targets: "Tensor", old: int, task: Task) -> "tuple[float, float]":
    """Return the alpha and beta that minimise the task loss of held-out samples.

    They are for the outputs of new classes: the first `old` ones are not corrected.
    """
    import torch  # loaded when it is needed

    numbers = torch.tensor([1.0, 0.0], requires_grad=True)
    search: Any = torch.optim.LBFGS([numbers], max_iter=_MOST_STEPS, line_search_fn="strong_wolfe")
    new = outputs[:, old:]

    def loss() -> "Tensor":
        alpha, beta = numbers
        corrected = torch.cat([outputs[:, :old], alpha * new + beta], 1)
        away = numbers - torch.tensor([1.0, 0.0])
        found: Tensor = task.loss(corrected, targets) + _RIDGE * away.square().sum()
        search.zero_grad()
        found.backward()  # type: ignore[no-untyped-call]
        return found

    with torch.enable_grad():
        search.step(loss)
    alpha, beta = numbers.tolist()
    return alpha, beta


def _of_each(labels: Array, places: Rows, number: int) -> Rows:
    """Return of each class the last so many of these places, and never all of them."""
    found = [np.empty(0, np.int64)]
    for label in np.unique(labels[places]).tolist():
        here = places[labels[places] == label]
        most = min(number, len(here) - 1)
        found.append(here[len(here) - most :])
    return np.concatenate(found)
