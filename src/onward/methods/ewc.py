"""Elastic weight consolidation, online: one anchor, and an importance that fades."""

from typing import TYPE_CHECKING, Any

from onward.budget import Budget
from onward.train.anchor import Anchor
from onward.train.every import Every
from onward.train.method import GradientMethod, Step, TrainingSet
from onward.train.weights import fitted, to_arrays, to_tensors
from onward.types import Loss, Setting, View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class EWC(GradientMethod):
    """Finetune with a pull towards the last weights, stronger where the Fisher information is.

    The loss gets λ Σ F · (w − w*)², as in Avalanche, which CLEAR's λ was chosen with (Kirkpatrick
    et al. write λ/2). F ← decay · F + the mean over samples of *each sample's* squared gradient,
    which no batch size changes. Gradients are those at the true labels, the empirical Fisher, as
    in Avalanche too; its F squares the mean gradient of a batch, and is far smaller.

    F is computed in a pass of its own, at the weights that were learned. Where the budget limits
    passes or MACs, as online, it is gathered on the way, at the weights of each step.

    Parameters
    ----------
    strength
        λ.
    decay
        How much of the old F stays when a new one is added.
    every
        After how many samples the anchor is set; by default after each call, or, where the recipe
        has one, after as many as its memory.

    References
    ----------
    Kirkpatrick et al., Overcoming Catastrophic Forgetting in Neural Networks, PNAS 2017; Schwarz
    et al., Progress & Compress, ICML 2018 (the online form). λ and decay as in CLEAR.
    """

    def __init__(
        self, *, strength: float = 0.4, decay: float = 0.1, every: int | None = None
    ) -> None:
        self._decay = decay
        self._anchor = Anchor(strength)
        self._every = Every(every)
        self._squares: dict[str, Tensor] = {}
        self._samples = 0

    def begin(self, setting: Setting) -> None:
        """Learn when to set the anchor."""
        super().begin(setting)
        self._every.begin(setting)

    def trains_on(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and whether they can be read once more for F."""
        self._on_the_way = not budget.limits.keys().isdisjoint({"passes", "macs"})
        return super().trains_on(new, budget)

    def minimises(self, step: Step) -> Loss:
        """Return the task loss."""
        loss = super().minimises(step)
        if self._on_the_way:
            self._add(step.model, step.inputs, loss)
        return loss

    def gradient(self, step: Step) -> None:
        """Add the pull towards the anchor."""
        self._anchor.pull(step.model)

    def afterwards(self, model: "Model", new: View, budget: Budget) -> None:
        """Measure how much each weight matters, and set the anchor here."""
        if not self._on_the_way:
            self._read(model, new, budget)
        if self._every.due(len(new)):
            old, fresh = fitted(self._anchor.importance, model), fitted(self._squares, model)
            count = max(self._samples, 1)
            self._anchor.move(
                model, {name: self._decay * old[name] + fresh[name] / count for name in fresh}
            )
            self._squares, self._samples = {}, 0

    def state(self) -> dict[str, Any]:
        """Return the anchor, and what was gathered for the next one."""
        return {
            "anchor": self._anchor.state(),
            "every": self._every.state(),
            **self.state_inside(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take that back."""
        self._anchor.restore(state["anchor"])
        self._every.restore(state["every"])
        self.restore_inside(state)

    def state_inside(self) -> dict[str, Any]:
        """Return what was gathered on the way."""
        return {"squares": to_arrays(self._squares), "samples": self._samples}

    def restore_inside(self, state: dict[str, Any]) -> None:
        """Take that back."""
        self._squares, self._samples = to_tensors(state["squares"]), state["samples"]

    def _read(self, model: "Model", new: View, budget: Budget) -> None:
        import torch  # loaded when it is needed

        size, labels = self.setting.recipe.batch_size, torch.tensor(new.labels)
        for start in range(0, len(new), size):
            batch = slice(start, start + size)
            inputs = torch.from_numpy(new.inputs(batch))
            budget.spend(macs=model.macs * len(inputs), batch_size=len(inputs))
            loss = self.setting.task.loss(model.predict(inputs), labels[batch])
            self._add(model, inputs, loss)

    def _add(self, model: "Model", inputs: "Tensor", loss: Loss) -> None:
        # The loss is a mean: times the number of samples, each row is one sample's own slope.
        squares = model.squared_gradient(inputs, loss.slope * len(loss.slope))
        so_far = fitted(self._squares, model)
        self._squares = {name: so_far[name] + squares[name] for name in squares}
        self._samples += len(loss.slope)
