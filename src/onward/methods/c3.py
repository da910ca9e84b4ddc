"""C3, third in CLAD's challenge: features by contrast, a head by focal loss, doubtful samples."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from onward.budget import Budget
from onward.fit import CLASS_OUTPUTS, IMAGES, ONE_CLASS
from onward.memory import Uncertain
from onward.models import find_model
from onward.seeds import Draws, draws
from onward.train.augment import augmented, varied
from onward.train.kept import Kept
from onward.train.losses import contrastive, focal
from onward.train.method import Batch, Method, TrainingSet, may_read_again, number
from onward.train.milestones import Milestones
from onward.train.recipe import Augment, Recipe
from onward.types import Array, View
from onward.view import reader_of

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

_NEW, _OLD = 10, 6
# How many samples of a batch are kept, and under how many variations each is judged later.
_KEPT, _LOOKS = 5, 4
# The temperature of the softmax over cosines.
_SHARPNESS = 0.1
# Of a network that starts at random; the paper's is the recipe's.
_RATE_AT_RANDOM = 1.0
_VARIED: Augment = "flip_rotation_color_jitter"
# Of classes that a sample was not asked about when it came.
_NOT_ASKED = -1e4


class C3(Method):
    """Learn features by contrast and a head on them by focal loss, and keep what is doubtful.

    Ten new samples and six old ones make a batch; images are mirrored, turned and recoloured. What
    lies below the head is moved by two contrastive losses alone: a sample is to be close to those
    of its class, and to another variation of itself. The head is moved by the focal loss, and for
    old samples by a distance to what was said of them when they came, at a temperature. Of each
    batch, the five new samples with the highest entropy are kept. When the memory is full, all in
    it are looked at under several variations, and the half that the model is most certain of goes.

    Our choices where the paper leaves it open: both parts are trained in every step, for there is
    one pass; contrast is a softmax over cosines at 0.1, and another variation of a sample is what
    the network says of it without learning; γ = 2; the temperature is 2 and the distance counts as
    much as the focal loss; what was said is stored with a sample, since a second network would
    break the rule on parameters; certainty is the highest mean probability under four variations
    (Rainbow Memory counts votes); and the rate is halved after five and ten times as many samples
    as the memory holds. A ResNet-50 becomes a ResNet-50-D; the small network has nothing to change,
    for its convolutions all see three pixels, and it has no shortcuts.

    Where MACs are limited, the memory is not looked at again: the entropies at arrival decide.

    Why: What a model doubts is what it can still learn from; what it is certain of may go.

    Known problems: With small networks that start at random, it stays below plain oversampling on
    Emoji Street.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.
    lr
        By default what the recipe says of a network that was made for ImageNet, as in the paper,
        and 1 of one that starts at random: the slopes of directions are small.
    contrast
        The weight of both contrastive losses, in comparison with that of the focal loss.
    gamma
        γ of the focal loss.
    distance
        The weight of the distance to what was said before.
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
    step_state = ("_said",)

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
        self._memory = Kept(Uncertain, memory)
        self._contrast, self._gamma = number("contrast", contrast), number("gamma", gamma)
        self._distance = number("distance", distance)
        self._temperature = number("temperature", temperature, above=True)
        self._rate = lr
        if lr is not None:
            self._rate = number("lr", lr)
        self._milestones = Milestones(slower_at)
        # What was said of each new sample while it was learned from.
        self._said: Array = np.empty((0, 0), np.float32)

    def override_recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe with its network's newer form, batches of ten, and varied images."""
        model = "resnet50d" if recipe.model == "resnet50" else recipe.model
        usual = recipe.lr if find_model(model).of_imagenet else _RATE_AT_RANDOM
        return replace(
            recipe,
            model=model,
            lr=usual if self._rate is None else self._rate,
            batch_size=_NEW,
            augment=_VARIED,
        )

    @property
    def lr_scale(self) -> float:
        """What the learning rate is multiplied by in the next step."""
        return self._milestones.lr_scale

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each ten of them six old ones; each is seen twice."""
        self._new, self._said = len(new), np.zeros((len(new), len(new.classes)), np.float32)
        memory, both = self._memory.ready(new, budget), self._memory.beside(new)
        self._before = memory.said_of(both.rows[len(new) :])
        replay = min(_OLD, len(self._memory))
        return TrainingSet(both, epoch=len(new), replay=replay, forward_passes=2)

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return both parts; below the head, contrast alone is learned from."""
        import torch  # loaded when it is needed

        outputs, labels, features = batch.outputs, batch.targets, batch.features
        self._said[batch.positions[: batch.num_new]] = (
            outputs.detach()[: batch.num_new].cpu().numpy()
        )
        head = self._head_loss(batch, batch.model.head(features.detach()))
        with torch.no_grad():
            others = batch.model.embed(self._other_looks(batch))
        alike = labels[:, None] == labels
        contrast = contrastive(features, features, alike, _SHARPNESS)
        contrast = contrast + contrastive(
            features, others, alike.new_ones(len(labels)).diag(), _SHARPNESS
        )
        loss: Tensor = head + self._contrast * contrast
        return loss

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Keep the most doubtful of the new samples; make room first where there is none."""
        memory, chosen = self._memory.ready(new, budget), []
        doubt = entropy(self._said)
        for start in range(0, len(new), _NEW):
            here = start + np.argsort(-doubt[start : start + _NEW], kind="stable")[:_KEPT]
            chosen.append(np.sort(here))
        for places in chosen:
            if memory.full(len(places)):
                memory.halve(self._certainty(model, new, budget))
            memory.admit(new.rows[places], new.labels[places], self._said[places])
        budget.hold(memory.rows)
        self._milestones.count(len(new))
        self._said = self._said[:0]

    def _head_loss(self, batch: Batch, outputs: "Tensor") -> "Tensor":
        """Return the focal loss, and the distance of old samples to what was said of them."""
        import torch  # loaded when it is needed

        new = batch.num_new
        loss = focal(outputs, batch.targets, self._gamma)
        if new == len(batch.targets):
            return loss
        before = outputs.new_full((len(batch.targets) - new, batch.model.classes), torch.nan)
        said = torch.from_numpy(self._before[batch.positions[new:] - self._new]).to(outputs.device)
        before[:, : said.shape[1]] = said
        now = outputs[new:].masked_fill(before.isnan(), _NOT_ASKED)
        far: Tensor = self.setting.task.distillation_loss(
            now, before.nan_to_num(_NOT_ASKED), self._temperature
        )
        return loss + self._distance * far

    def _other_looks(self, batch: Batch) -> "Tensor":
        import torch  # loaded when it is needed

        key = (self.setting.seed, self._milestones.seen, *batch.positions.tolist())
        rng = draws(Draws.AUGMENTATION, *key)
        looks = torch.from_numpy(varied(batch.inputs.cpu().numpy(), _VARIED, rng))
        return looks.to(batch.inputs.device)

    def _certainty(self, model: "Model", new: View, budget: Budget) -> Array:
        """Return how certain the model is of each sample in memory."""
        import torch  # loaded when it is needed

        memory = self._memory.ready(new, budget)
        again = not may_read_again(budget) and np.isin(memory.rows, new.rows).any()
        if again or "macs" in budget.limits:
            return -entropy(memory.said)
        view, every = new.of(memory.rows, memory.labels), np.arange(len(memory))
        budget.spend(macs=_LOOKS * model.macs * len(view))
        mean = np.zeros((len(view), model.classes))
        for look in range(_LOOKS):
            key = (self.setting.seed, self._milestones.seen, look)
            view.count(every)
            images = augmented(reader_of(view), every, _VARIED, key)
            mean += (
                model.predict(torch.from_numpy(images).to(model.device)).softmax(1).cpu().numpy()
            )
        return np.asarray(mean.max(1))


def entropy(said: Array) -> Array:
    """Return the entropy of the probabilities that logits stand for; NaN stands for none.

    Examples
    --------
    >>> entropy(np.array([[0.0, 0.0, np.nan], [9.0, 0.0, 0.0]])).round(2).tolist()
    [0.69, 0.0]
    """
    logits = np.where(np.isnan(said), -np.inf, said)
    share = np.exp(logits - logits.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    return np.asarray(-(share * np.log(np.maximum(share, 1e-30))).sum(1))
