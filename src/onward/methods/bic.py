"""BiC: after each period, correct the bias towards its classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from onward.budget import Budget
from onward.errors import OnwardError
from onward.fit import CLASS_OUTPUTS, NEW_CLASSES, SECOND_LOOK
from onward.methods.icarl import ICaRLCNN
from onward.seeds import Draws, draws
from onward.train.method import TrainingSet, may_read_again
from onward.types import Array, Rows, Samples, Task, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

# Keeps alpha finite where held-out samples are separable.
_RIDGE = 1e-3
_MAX_STEPS = 100


class BiC(ICaRLCNN):
    """As icarl_cnn, then correct the outputs of new classes on samples that were held out.

    Our adaptation to many labels: IIRC names BiC and publishes neither code nor settings. After a
    period, outputs o of its new classes become alpha · o + beta, with the two numbers that minimise
    the task loss on a small part that was not trained on, as many samples of each class, old and
    new. Both go into the rows of the last layer, so that the next period starts from them and its
    teacher has them.

    Where the budget limits passes or MACs, as online, nothing is held out and nothing corrected.

    Why: A last layer favours new classes, of which it has seen more; two numbers correct that.

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
        super().__init__(per_class=per_class)
        self._share = held_out
        self._held_out: Samples | None = None

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples and the exemplars, but for a few of each class."""
        exemplars, old = self._memory.samples, self._teacher.classes
        self._held_out = None
        if not self._teacher or len(new.classes) == old or not may_read_again(budget):
            return super().training_data(new, budget)
        count = max(1, round(self._share * self._memory.buffer(new, budget).capacity))
        # The last exemplars of a class are those that its mean needs least.
        old_out = _last_of_each(exemplars.newest, np.arange(len(exemplars)), count)
        fresh = np.flatnonzero(new.newest >= old)
        order = draws(Draws.HELD_OUT, self.setting.seed, old).permutation(fresh)
        new_out = _last_of_each(new.newest, order, count)
        samples = Samples(new.rows, new.labels)
        self._held_out = held = Samples.join([exemplars[old_out], samples[new_out]])
        # By row: a sample may be there under two labels.
        samples, exemplars = (
            part[np.flatnonzero(~np.isin(part.rows, held.rows))] for part in (samples, exemplars)
        )
        both = new.of(samples.rows, samples.labels).also(exemplars.rows, exemplars.labels)
        return self._with_teacher(TrainingSet(both, epoch=len(both)))

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Correct the new classes, then choose exemplars and make the model the teacher."""
        import torch  # loaded when it is needed

        samples, self._held_out = self._held_out, None
        if samples is not None and len(samples):
            held_out = new.of(samples.rows, samples.labels)
            budget.spend(macs=model.macs * len(held_out))
            inputs = torch.from_numpy(np.array(held_out.inputs())).to(model.device)
            targets, old = torch.tensor(held_out.labels), self._teacher.classes
            # In double precision, so that the same sums in another order end at the same alpha.
            outputs = model.predict(inputs).cpu().double()
            alpha, beta = correction(outputs, targets, old, self.setting.task)
            rows = model.class_rows
            rows["head.weight"][old:] *= alpha
            rows["head.bias"][old:] *= alpha
            rows["head.bias"][old:] += beta
        super().on_learn_end(model, new, budget)


def correction(outputs: "Tensor", targets: "Tensor", old: int, task: Task) -> "tuple[float, float]":
    """Return the alpha and beta that minimise the task loss of held-out samples.

    They are for the outputs of new classes: the first `old` ones are not corrected.
    """
    import torch  # loaded when it is needed

    numbers = torch.tensor([1.0, 0.0], dtype=outputs.dtype, requires_grad=True)
    lbfgs: Any = torch.optim.LBFGS([numbers], max_iter=_MAX_STEPS, line_search_fn="strong_wolfe")

    def loss() -> "Tensor":
        alpha, beta = numbers
        corrected = torch.cat([outputs[:, :old], alpha * outputs[:, old:] + beta], 1)
        ridge = _RIDGE * (numbers - numbers.new_tensor([1.0, 0.0])).square().sum()
        value: Tensor = task.loss(corrected, targets) + ridge
        lbfgs.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    with torch.enable_grad():
        lbfgs.step(loss)
    alpha, beta = numbers.tolist()
    return alpha, beta


def _last_of_each(labels: Array, positions: Rows, count: int) -> Rows:
    """Return of each class the last so many of these positions, and never all of them."""
    found = [np.empty(0, np.int64)]
    for label in np.unique(labels[positions]).tolist():
        here = positions[labels[positions] == label]
        found.append(here[len(here) - min(count, len(here) - 1) :])
    return np.concatenate(found)
