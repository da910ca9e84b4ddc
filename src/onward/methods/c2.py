"""C2, second in CLAD's challenge: Adam, label smoothing, and rare classes preferred in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from onward.budget import Budget
from onward.fit import CLASS_OUTPUTS, CLASSES, IMAGES
from onward.memory import Weighted
from onward.models import find_model
from onward.train.losses import smooth_labels
from onward.train.method import Batch, number
from onward.train.recipe import Recipe
from onward.train.replay_memory import ReplayMemory, ReplayMethod
from onward.train.schedules import LRMilestones
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model

_NEW, _OLD = 4, 6
# The paper's, from ImageNet's weights; and for a small network that starts at random.
_LR, _LR_AT_RANDOM = 0.0002, 0.001


class C2(ReplayMethod):
    """Replay six old samples beside four new ones, by Adam, with label smoothing.

    Samples enter the memory with a probability of their class. Images are mirrored, changed in
    perspective and partly erased at random. The learning rate falls in steps.

    Our choices where the paper leaves it open: the chances, which the team set by hand, knowing the
    classes, make all classes seen so far enter equally often, once there is no free place; whoever
    enters then takes the place of a sample at random; a tenth of each label is spread; the rate is
    halved after five and ten times as many samples as the memory holds; there is no weight decay.

    Why: Rare classes have to get into memory before they can be replayed.

    Known problems: A batch has four new samples, so there are more steps than by ten.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says, or one bucket.
    chances
        With which chance each class enters, from 0 to 1; by default as above.
    smoothing
        The share of a label that is spread over all classes.
    lr
        Adam's; by default 0.0002 of a network that was made for ImageNet, as in the paper, and
        0.001 of one that starts at random.
    slower_at
        After how many samples the learning rate is halved; by default as above.

    References
    ----------
    A. Sabyrbayev, in Verwimp et al., CLAD, Neural Networks 2023, section 4.1.
    """

    needs: ClassVar[Mapping[str, str]] = {
        IMAGES: "which it mirrors, tilts and covers",
        CLASSES: "each of which has a chance to enter the memory",
        CLASS_OUTPUTS: "to soften labels",
    }

    replay_per_batch = _OLD
    saved = (*ReplayMethod.saved, "_milestones")

    def __init__(
        self,
        *,
        memory: int | None = None,
        chances: Sequence[float] | None = None,
        smoothing: float = 0.1,
        lr: float | None = None,
        slower_at: Sequence[int] | None = None,
    ) -> None:
        smoothing = number("smoothing", smoothing, 0, 0.99)
        lr = lr if lr is None else number("lr", lr)
        super().__init__(ReplayMemory(partial(Weighted, chances=chances), memory))
        self._smoothing, self._lr = smoothing, lr
        self._milestones = LRMilestones(slower_at)

    def override_recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe with Adam, batches of four, and augmented images."""
        usual = _LR if find_model(recipe.model).of_imagenet else _LR_AT_RANDOM
        return replace(
            recipe,
            optimizer="adamw",
            lr=usual if self._lr is None else self._lr,
            betas=(0.9, 0.999),
            keep_optimizer_state=True,
            batch_size=_NEW,
            augment="flip_perspective_erasing",
        )

    @property
    def lr_scale(self) -> float:
        """What the learning rate is multiplied by in the next step."""
        return self._milestones.lr_scale

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss to smoothed labels."""
        task = self.setting.task
        labels = task.soft_targets(batch.outputs, batch.targets)
        loss: Tensor = task.soft_target_loss(batch.outputs, smooth_labels(labels, self._smoothing))
        return loss

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Admit new samples to the memory, and count them."""
        super().on_learn_end(model, new, budget)
        self._milestones.seen += len(new)
