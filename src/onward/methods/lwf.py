"""Learning without forgetting: distillation from the last model on the new samples."""

from typing import TYPE_CHECKING, Any, Literal

from onward.budget import Budget
from onward.errors import OnwardError
from onward.fit import CLASS_OUTPUTS
from onward.train.distillation import MAX_CACHED_OUTPUTS, OutputCache, Teacher
from onward.train.method import Batch, Method, TrainingSet
from onward.train.schedules import ConsolidationTrigger
from onward.types import View

if TYPE_CHECKING:
    from torch import Tensor

    from onward.models import Model


class LwF(Method):
    """Finetune, and stay close to the outputs of the last model for the new samples.

    The loss gets alpha · distance(outputs / T, teacher's outputs / T), on the classes that the
    teacher knows; the task kind says what the distance is.

    Why: It keeps no sample: the outputs of the last model for new ones stand for the old ones.

    Known problems: A teacher knows little about samples unlike those that it learned. Its forward
    pass is paid for.

    Parameters
    ----------
    alpha
        The weight of the distance. ``schedule`` is CLEAR's: 0 in the first period, 2/9 in the
        second, and so on to 2 in the tenth. A learner does not know how many periods are to come,
        so after ten it stays at 2.
    temperature
        T.
    every
        After how many samples the teacher is replaced, and alpha raised; by default after each
        call, or, where the recipe has one, after as many as its memory.

    References
    ----------
    Li and Hoiem, Learning without Forgetting, ECCV 2016. The schedule is that of CLEAR's code; its
    supplement writes steps of 2/11.
    """

    saved = ("_teacher", "_teachers", "_every")

    def __init__(
        self,
        *,
        alpha: float | Literal["schedule"] = "schedule",
        temperature: float = 1.0,
        every: int | None = None,
    ) -> None:
        if isinstance(alpha, str) and alpha != "schedule":
            raise OnwardError(f"expected alpha as a number or 'schedule', found {alpha!r}")
        if temperature <= 0:
            raise OnwardError(f"expected a temperature above 0, found {temperature}")
        self._alpha = alpha
        self._temperature = temperature
        self._every = ConsolidationTrigger(every)
        self._teachers = 0
        self._teacher = Teacher()
        # During one call of `learn`, the teacher's outputs for samples without augmentation.
        self._cache: OutputCache | None = None

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples; once there is a teacher, it computes their outputs too."""
        recipe, classes = self.setting.recipe, self._teacher.classes
        caches = recipe.augment == "none" and recipe.epochs > 1
        caches = caches and len(new) * classes <= MAX_CACHED_OUTPUTS
        caches = caches and CLASS_OUTPUTS not in self.setting.task.lacks
        self._cache = OutputCache(len(new), classes) if self._teachers and caches else None
        return TrainingSet(new, epoch=len(new), forward_passes=2 if self._teachers else 1)

    @property
    def is_plain_finetuning(self) -> bool:
        """Whether there is no teacher yet."""
        return not self._teachers and self._answers_like(LwF)

    def compute_loss(self, batch: Batch) -> "Tensor":
        """Return the task loss and the distance to the teacher, weighted."""
        loss = super().compute_loss(batch)
        if not self._teachers:
            return loss
        predict = self._teacher.model(batch.model).predict
        teacher_outputs = (
            predict(batch.inputs) if self._cache is None else self._cache(batch, predict)
        )
        distance: Tensor = self.setting.task.distillation_loss(
            batch.outputs, teacher_outputs, self._temperature
        )
        return loss + self.alpha() * distance

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Make the model as it is now the teacher."""
        self._cache, due = None, self._every.due(len(new))
        self._teacher.update(model, replace=due)
        self._teachers += due

    def alpha(self) -> float:
        """Return the weight of the distance now."""
        if isinstance(self._alpha, str):
            return min(2.0, 2.0 * self._teachers / 9)
        return self._alpha

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what is in `saved`; earlier checkpoints have the teacher's state beside it."""
        super().restore({"teacher": state, **state})

    def save_step_state(self) -> dict[str, Any]:
        """Return the teacher's outputs so far."""
        return {} if self._cache is None else self._cache.state()

    def restore_step_state(self, state: dict[str, Any]) -> None:
        """Restore them."""
        if self._cache is not None:
            self._cache.restore(state)
