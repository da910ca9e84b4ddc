"""C3, third in CLAD's challenge: contrastive features, focal loss, and uncertain samples."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from onward.budget import Budget
from onward.fit import CLASS_OUTPUTS, IMAGES, ONE_CLASS
from onward.memory import Uncertain
from onward.models import find_model
from onward.seeds import Draws
from onward.train.losses import contrastive_loss, focal_loss
from onward.train.method import Batch, Method, TrainingSet, may_read_again, number
from onward.train.recipe import Augment, Recipe
from onward.train.replay_memory import ReplayMemory
from onward.train.schedules import LRMilestones
from onward.types import Array, View
from onward.view import reader_of

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

_NEW, _OLD = 10, 6
# How many samples of a batch are stored, and by how many augmentations certainty is measured.
_STORED, _AUGMENTATIONS = 5, 4
_CONTRAST_TEMPERATURE = 0.1
# Of a network that starts at random; the paper's is the recipe's.
_LR_AT_RANDOM = 1.0
_AUGMENT: Augment = "flip_rotation_color_jitter"
# The logit of a class that was not known when a sample was stored.
_UNKNOWN_CLASS = -1e4


class C3(Method):
    """Learn features by contrastive losses and a head by focal loss, and store uncertain samples.

    Ten new samples and six old ones make a batch; images are mirrored, rotated and recoloured. What
    lies below the head is trained by two contrastive losses alone: the positives of a sample are
    those of its class, and another augmentation of itself. The head is trained by the focal loss,
    and for old samples by a distillation loss to their logits at arrival, at a temperature. Of each
    batch, the five new samples with the highest entropy are stored. When the memory is full, all in
    it are predicted under several augmentations, and the half that is most certain is removed.

    Our choices where the paper leaves it open: both parts are trained in every step, for there is
    one pass; contrast is a softmax over cosines at 0.1, and the other augmentation of a sample is
    embedded without gradient; γ = 2; the temperature is 2 and the distance counts as much as the
    focal loss; logits are stored with a sample, since a second network would break the rule on
    parameters; certainty is the highest mean probability under four augmentations (Rainbow Memory
    counts votes); and the rate is halved after five and ten times as many samples as the memory
    holds. A ResNet-50 becomes a ResNet-50-D; the small network has nothing to change,
    for its convolutions all see three pixels, and it has no shortcuts.

    Where MACs are limited, the memory is not predicted again: the entropies at arrival decide.

    Why: A model can still learn from samples that it is uncertain of; others may be removed.

    Known problems: With small networks that start at random, it stays below plain oversampling on
    Emoji Street.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.
    lr
        By default what the recipe says of a network that was made for ImageNet, as in the paper,
        and 1 of one that starts at random: gradients of normalized features are small.
    contrast
        The weight of both contrastive losses, in comparison with that of the focal loss.
    gamma
        γ of the focal loss.
    distance
        The weight of the distance to the stored logits.
    temperature
        At which both sides of that distance are compared.
    slower_at
        After how many samples the learning rate is halved; by default as above.

    References
    ----------
    M. R. Kurniawan's team, in Verwimp et al., CLAD, Neural Networks 2023, section 4.1; Bang, Kim,
    Yoo, Ha and Choi, Rainbow Memory, CVPR 2021.
    """

    needs: ClassVar[Mapping[str, str]] = {
        IMAGES: "which it crops and colours",
        ONE_CLASS: "to tell which of two samples are alike",
        CLASS_OUTPUTS: "to weigh them by doubt",
    }

    saved = ("_memory", "_milestones")
    step_state = ("_logits",)

    def __init__(
        self,
        *,
        memory: int | None = None,
        lr: float | None = None,
        contrast: float = 0.3,
        gamma: float = 2.0,
        distance: float = 1.0,
        temperature: float = 2.0,
        slower_at: tuple[int, ...] | None = None,
    ) -> None:
        self._memory = ReplayMemory(Uncertain, memory)
        self._contrast, self._gamma = number("contrast", contrast), number("gamma", gamma)
        self._distance = number("distance", distance)
        self._temperature = number("temperature", temperature, above=True)
        self._lr = lr if lr is None else number("lr", lr)
        self._milestones = LRMilestones(slower_at)
        # The logits of each new sample, when it was trained on, and of replayed ones at arrival.
        self._logits = self._stored_logits = np.empty((0, 0), np.float32)

    def override_recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe with its network's newer form, batches of ten, and augmentation."""
        model = "resnet50d" if recipe.model == "resnet50" else recipe.model
        usual = recipe.lr if find_model(model).of_imagenet else _LR_AT_RANDOM
        return replace(
            recipe,
            model=model,
            lr=usual if self._lr is None else self._lr,
            batch_size=_NEW,
            augment=_AUGMENT,
        )

    @property
    def lr_scale(self) -> float:
        """What the learning rate is multiplied by in the next step."""
        return self._milestones.lr_scale

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each ten of them six old ones; each is seen twice."""
        self._new, self._logits = len(new), np.zeros((len(new), len(new.classes)), np.float32)
        memory, both = self._memory.buffer(new, budget), self._memory.with_replay(new)
        self._stored_logits = memory.logits_of(both.rows[len(new) :])
        replay = min(_OLD, len(self._memory))
        return TrainingSet(both, epoch=len(new), replay=replay, forward_passes=2)

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the loss of the head, and the contrastive losses, which alone reach below it."""
        import torch  # loaded when it is needed

        from onward.train.augment import augmented_inputs

        outputs, labels, features = batch.outputs, batch.targets, batch.features
        new = batch.gather(batch.positions[: batch.num_new], "new")
        self._logits[new] = batch.gather(outputs[: batch.num_new], "new").cpu().numpy()
        head = self._head_loss(batch, batch.model.head(features.detach()))
        with torch.no_grad():
            # Numbers of its own, also for a batch of one sample.
            use = Draws.AUGMENTATION
            key = (self.setting.seed, self._milestones.seen, *batch.positions.tolist(), use)
            images = batch.inputs.cpu().numpy().copy()
            again = augmented_inputs(images, _AUGMENT, key, np.arange(len(images)))
            keys = batch.model.embed(torch.from_numpy(again).to(batch.inputs.device))
        same_class = labels[:, None] == labels
        same_sample = same_class.new_ones(len(labels)).diag()
        contrast = contrastive_loss(features, features, same_class, _CONTRAST_TEMPERATURE)
        contrast = contrast + contrastive_loss(features, keys, same_sample, _CONTRAST_TEMPERATURE)
        loss: Tensor = head + self._contrast * contrast
        return loss

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Store the samples with the highest entropy; make room first where there is none."""
        memory, uncertainty = self._memory.buffer(new, budget), entropy(self._logits)
        for start in range(0, len(new), _NEW):
            order = np.argsort(-uncertainty[start : start + _NEW], kind="stable")
            chosen = start + np.sort(order[:_STORED])
            if memory.full(len(chosen)):
                memory.halve(self._certainty(model, new, budget))
            memory.admit(new.rows[chosen], new.labels[chosen], self._logits[chosen])
        budget.hold(memory.rows)
        self._milestones.seen += len(new)
        self._logits = self._logits[:0]

    def restore_step_state(self, state: dict[str, Any]) -> None:
        """Restore the logits of this call, which earlier checkpoints have under another name."""
        super().restore_step_state({"logits": state.get("said"), **state})

    def _head_loss(self, batch: Batch, outputs: "Tensor") -> "Tensor":
        """Return the focal loss, and the distance of old samples to their stored logits."""
        import torch  # loaded when it is needed

        new, old = batch.num_new, outputs[batch.num_new :]
        loss = focal_loss(outputs, batch.targets, self._gamma)
        if not len(old):
            return loss
        stored = self._stored_logits[batch.positions[new:] - self._new]
        known = stored.shape[1]
        teacher = torch.full_like(old, torch.nan)
        teacher[:, :known] = torch.from_numpy(stored).to(outputs.device)
        student = old.masked_fill(teacher.isnan(), _UNKNOWN_CLASS)
        distance: Tensor = self.setting.task.distillation_loss(
            student, teacher.nan_to_num(_UNKNOWN_CLASS), self._temperature
        )
        return loss + self._distance * batch.average(distance, len(old))

    def _certainty(self, model: "Model", new: View, budget: Budget) -> Array:
        """Return how certain the model is of each stored sample, summed over augmentations.

        Where samples may not be read again, that is how certain it was when they arrived.
        """
        import torch  # loaded when it is needed

        from onward.train.augment import augmented

        memory = self._memory.buffer(new, budget)
        reads_new = not may_read_again(budget) and np.isin(memory.rows, new.rows).any()
        if reads_new or "macs" in budget.limits:
            return -entropy(memory.logits)
        view, everything = new.of(memory.rows, memory.labels), np.arange(len(memory))
        budget.spend(macs=_AUGMENTATIONS * model.macs * len(view))
        total = np.zeros((len(view), model.classes))
        for number_of_view in range(_AUGMENTATIONS):
            key = (self.setting.seed, self._milestones.seen, number_of_view)
            view.count(everything)
            images = torch.from_numpy(
                augmented(reader_of(view), everything, _AUGMENT, key, everything)
            )
            total += model.predict(images.to(model.device)).softmax(1).cpu().numpy()
        return np.asarray(total.max(1))


def entropy(logits: Array) -> Array:
    """Return the entropy of the softmax of logits; NaN stands for an unknown class.

    Examples
    --------
    >>> entropy(np.array([[0.0, 0.0, np.nan], [9.0, 0.0, 0.0]])).round(2).tolist()
    [0.69, 0.0]
    """
    logits = np.where(np.isnan(logits), -np.inf, logits)
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return np.asarray(-(p * np.log(np.maximum(p, 1e-30))).sum(1))
