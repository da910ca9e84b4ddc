"""C1, the winner of CLAD's challenge: a reservoir for each class, and heads that are merged."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from onward.budget import Budget
from onward.errors import OnwardError
from onward.fit import CLASS_ROWS, IMAGES
from onward.memory import Shares
from onward.methods.cwr import merged
from onward.models import find_model
from onward.train.method import number, yes_or_no
from onward.train.recipe import Recipe
from onward.train.replay_memory import ReplayMemory, ReplayMethod, check_memory_size
from onward.train.schedules import ConsolidationTrigger
from onward.train.weights import detached, fitted
from onward.types import Setting, View

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from onward.models import Model

_NEW, _OLD = 5, 5
_SIDE = 224


class C1(ReplayMethod):
    """Replay five old samples beside five new ones, and merge heads that are trained anew.

    Images are mirrored at random, and scaled up to what the network was made for. There is a
    reservoir of a hundred samples for each class. A head is trained for a while; then it is merged
    into the lasting one, as an exponential moving average, and drawn anew.

    Our choices where the paper leaves it open: heads are merged after as many samples as the memory
    holds, since nobody says where a day ends; the moving average gives the new head a half; as in
    CWR, the new head is first centred at its mean, but for the first one; and tests between two
    merges see the lasting head merged with the one that is being trained. All of the memory is as
    likely to be replayed. Where the recipe's memory is smaller, classes share it. A network that
    starts at random has features that change while a head is trained: there, training continues
    with a head that was merged.

    Why: It won: the memory has samples of every class, and no single day dominates the head.

    Known problems: Images that are scaled from 32 to 224 pixels cost 49 times as much.

    Parameters
    ----------
    memory
        How many samples all classes share; by default what the recipe says, or one bucket.
    per_class
        How many of each class are kept at most.
    side
        What images are scaled up to, 0 for as they are. By default 224 of a network that was made
        for ImageNet, whose filters expect that, and as they are of any other.
    merges
        Whether heads are merged; without, one head is trained throughout.
    every
        After how many samples heads are merged; by default as many as the recipe's memory holds.
    newest
        The weight of a new head when it is merged; that of the lasting one is 1 minus this.
    fresh
        Whether a head is drawn anew once it was merged, as in the paper; by default of a network
        that was made for ImageNet, and not of any other.

    References
    ----------
    G. Graffieti's team, in Verwimp et al., CLAD, Neural Networks 2023, section 4.1; Maltoni and
    Lomonaco, Continuous Learning in Single-Incremental-Task Scenarios, Neural Networks 2019 (CWR).
    """

    needs: ClassVar[Mapping[str, str]] = {
        IMAGES: "which it mirrors and scales",
        CLASS_ROWS: "to merge them",
    }

    replay_per_batch = _OLD
    saved = (*ReplayMethod.saved, "_lasting", "_trained", "_every")

    def __init__(
        self,
        *,
        memory: int | None = None,
        per_class: int = 100,
        side: int | None = None,
        merges: bool = True,
        every: int | None = None,
        newest: float = 0.5,
        fresh: bool | None = None,
    ) -> None:
        if side is not None and (type(side) is not int or side < 0):
            raise OnwardError(f"expected side as a number of pixels, or 0, found {side!r}")
        newest = number("newest", newest, 0, 1, above=True)
        super().__init__(ReplayMemory(partial(Shares, most=check_memory_size(per_class)), memory))
        self._side, self._merges = side, yes_or_no("merges", merges)
        self._every, self._newest, self._fresh = ConsolidationTrigger(every), newest, fresh
        # The lasting head without the one that is trained, and that one; neither before a merge.
        self._lasting: dict[str, Tensor] = {}
        self._trained: dict[str, Tensor] = {}

    def override_recipe(self, recipe: Recipe) -> Recipe:
        """Return the recipe with batches of five, mirrored images, and the side."""
        usual = _SIDE if find_model(recipe.model).of_imagenet else recipe.image_size
        side = usual if self._side is None else self._side or None
        return replace(recipe, batch_size=_NEW, augment="flip", image_size=side)

    def begin(self, setting: Setting) -> None:
        """Choose whether heads are drawn anew."""
        super().begin(setting)
        if self._fresh is None:
            self._fresh = find_model(setting.recipe.model).of_imagenet

    def init_weights(self, model: "Model", generator: "Generator") -> None:
        """Continue with the head that is trained, or draw it anew after a merge."""
        from onward.models.classifier import draw_uniform  # torch is loaded when it is needed

        head = model.class_rows
        if self._lasting and not self._trained:
            in_features = max(parameter.shape[-1] for parameter in head.values())
            for parameter in head.values():
                draw_uniform(parameter, in_features, generator)
        elif self._trained:
            for name, parameter in head.items():
                # Rows of classes that have come since are as the model has drawn them.
                parameter[: len(self._trained[name])] = self._trained[name]

    def on_learn_end(self, model: "Model", new: View, budget: Budget) -> None:
        """Admit new samples, and predict by the lasting head merged with the trained one."""
        super().on_learn_end(model, new, budget)
        if not self._merges:
            return
        due = self._every.due(len(new))
        head = model.class_rows
        self._trained = detached(head)
        if self._lasting:
            lasting = fitted(self._lasting, head)
            weight = (1 - self._newest) / self._newest
            for name, parameter in head.items():
                by_class = parameter.new_full((len(parameter),), weight)
                # A class without a lasting row has that of the trained head.
                by_class[len(self._lasting[name]) :] = 0
                parameter.copy_(merged(lasting[name], parameter, by_class))
        if due:
            self._lasting = detached(head)
            self._trained = {} if self._fresh else self._trained
