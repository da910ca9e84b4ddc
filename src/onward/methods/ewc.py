"""Elastic weight consolidation, online: one anchor, and an importance that decays."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from onward import distributed
from onward.budget import Budget
from onward.errors import OnwardError
from onward.pairs import as_bytes
from onward.train.method import Batch, TrainingSet, WholeBatch, may_read_again
from onward.train.quadratic_penalty import PenaltyMethod
from onward.train.weights import fitted_to
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class EWC(PenaltyMethod):
    """Finetune with a penalty on changes of weights, larger where the Fisher information is.

    The loss gets λ Σ F · (w − w*)², as in Avalanche, which CLEAR's λ was chosen with (Kirkpatrick
    et al. write λ/2). F ← decay · F + the mean over samples of *each sample's* squared gradient,
    which no batch size changes. Gradients are those at the true labels, the empirical Fisher, as
    in Avalanche too; its F squares the mean gradient of a batch, and is far smaller.

    F is computed in a pass of its own, at the weights that were learned. Where the budget limits
    passes or MACs, as online, it is gathered while training, at the weights of each step.

    Why: It stores no sample: the penalty preserves the weights that matter for earlier ones.

    Known problems: F is known at one point alone, and says little once weights have moved far. On
    many labels the published λ hardly holds anything back; on a deep network that starts at random,
    F gathered while training is so large that the usual learning rate diverges.

    Parameters
    ----------
    strength
        λ.
    decay
        How much of the old F stays when a new one is added.
    fisher
        On how many samples F is estimated; by default on all that are new. A deep network computes
        each sample's gradient by itself, which takes several times as long as a step. They are
        spread evenly over the new samples; while training, they are the first ones after an anchor.
    every
        After how many samples the anchor is set; by default after each call, or, where the recipe
        has one, after as many as its memory.

    References
    ----------
    Kirkpatrick et al., Overcoming Catastrophic Forgetting in Neural Networks, PNAS 2017; Schwarz
    et al., Progress & Compress, ICML 2018 (the online form). λ and decay as in CLEAR.
    """

    step_state = ("_squares", "_samples")
    saved = (*PenaltyMethod.saved, *step_state)

    def __init__(
        self,
        *,
        strength: float = 0.4,
        decay: float = 0.1,
        fisher: int | None = None,
        every: int | None = None,
    ) -> None:
        super().__init__(strength, every)
        if fisher is not None and fisher < 1:
            raise OnwardError(f"expected to estimate F on 1 or more samples, found {fisher}")
        self._decay = decay
        self._fisher = fisher
        self._squares: dict[str, Tensor] = {}
        self._samples = 0

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and whether they can be read once more for F."""
        self._while_training = not may_read_again(budget)
        chosen = super().training_data(new, budget)
        if not self._while_training:
            return chosen
        # The passes for F are paid for with every step.
        recipe = self.setting.recipe
        trained = recipe.epochs * len(new)
        if recipe.max_steps is not None:
            trained = recipe.max_steps * recipe.batch_size
        measured = trained if self._fisher is None else min(self._fisher, trained)
        return replace(chosen, forward_passes=1 + measured / max(trained, 1))

    def on_after_backward(self, batch: Batch) -> None:
        """Add the gradient of the penalty, and the batch to F where that is gathered here."""
        if self._while_training:
            whole = batch.whole or WholeBatch(batch.positions, batch.num_new)
            count = len(whole.positions)
            if self._fisher is not None:
                left = max(self._fisher - self._samples, 0)
                # Of each process one sample at least: they add up what they find.
                count = min(count, max(left, whole.world_size) if left else 0)
            own = slice(int(np.searchsorted(whole.indices, count)))
            self._add(batch.model, batch.inputs[own], batch.targets[own], count)
        self._anchor.add_gradient(batch.model)

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Compute F, and set the anchor here."""
        if not self._while_training:
            self._read_again(model, new, budget)
        if self._every.due(len(new)):
            old, sums = fitted_to(model, self._anchor.importance), fitted_to(model, self._squares)
            fisher = {
                name: self._decay * old[name] + total / max(self._samples, 1)
                for name, total in sums.items()
            }
            self._anchor.set_anchor(model, fisher)
            self._squares, self._samples = {}, 0

    def _read_again(self, model: "Model", new: View, budget: Budget) -> None:
        import torch  # loaded when it is needed

        size, labels = self.setting.recipe.batch_size, torch.tensor(new.labels).to(model.device)
        count = min(self._fisher or len(new), len(new))
        positions = np.arange(count) * len(new) // max(count, 1)
        for start in range(0, count, size):
            batch = positions[start : start + size]
            budget.spend(macs=model.macs * len(batch), batch_size=len(batch))
            shared = distributed.can_share(len(batch))
            own = batch[distributed.share_of_batch()] if shared else batch
            new.count(np.setdiff1d(batch, own))
            inputs = torch.from_numpy(as_bytes(new.inputs(own))).to(model.device)
            with distributed.sharing(shared=shared):
                self._add(model, inputs, labels[own], len(batch))

    def _add(self, model: "Model", inputs: "Tensor", targets: "Tensor", count: int) -> None:
        """Add the squared gradients of samples, so many in all processes, to those so far."""
        from onward.models.fisher import fisher_diagonal  # torch, when it is needed

        if not count:
            return
        squares = fisher_diagonal(model, inputs, targets, self.setting.task.loss)
        so_far = fitted_to(model, self._squares)
        self._squares = {name: so_far[name] + squares[name] for name in squares}
        self._samples += count
