"""Experience replay: every batch of new samples brings as many old ones along."""

from onward.budget import Budget
from onward.train.method import TrainingSet
from onward.train.replay_memory import ExemplarMemory, ReplayMethod, check_memory_size, memory_for
from onward.types import Setting, View


class ER(ReplayMethod):
    """Train on new samples mixed half and half with a uniform memory of old ones.

    With a memory of so many samples per class, as in IIRC, new and old ones are not mixed half and
    half: each is seen once in every epoch. Those of a class are drawn once, and keep the labels
    that they had then.

    Why: Replaying old samples is the simplest remedy for forgetting, and hard to beat.

    Known problems: Half of each batch is old: where compute is limited, new samples are seen half
    as often. A small memory is overfitted.

    Parameters
    ----------
    memory
        How many samples are kept; by default what the recipe says. CLEAR's "one bucket" is the
        size of the first view: where later periods are larger, the memory does not grow.
    per_class
        How many samples of each class are kept instead; by default what the recipe says.
    kind
        Which memory keeps so many samples, see ``onward list memories``: ``reservoir``, uniform, is
        that of the method.

    References
    ----------
    Rolnick et al., Experience Replay for Continual Learning, NeurIPS 2019; as in CLEAR's
    appendix, a batch of memory beside every batch of new samples; per class as in Abdelsalam et
    al., IIRC, CVPR 2021.
    """

    keeps_best = True

    def __init__(
        self, *, memory: int | None = None, per_class: int | None = None, kind: str = "reservoir"
    ) -> None:
        self._memory_options = check_memory_size(memory), check_memory_size(per_class), kind

    def begin(self, setting: Setting) -> None:
        """Make the memory."""
        super().begin(setting)
        self._memory = memory_for(setting, *self._memory_options)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Choose the new samples, and for each batch of them a batch of memory, or all alike."""
        if isinstance(self._memory, ExemplarMemory):
            return super().training_data(new, budget)
        replay = self.setting.recipe.batch_size if len(self._memory) else 0
        return TrainingSet(self._memory.with_replay(new), epoch=len(new), replay=replay)
