"""Continual semi-supervised learning: pre-train on each new period, then probe."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from onward.budget import COMPUTE, Budget
from onward.errors import BudgetSpentError, DamagedFolderError, OnwardError, unknown
from onward.fit import CLASS_OUTPUTS, IMAGES, SECOND_LOOK
from onward.results.state import load_state, save_state
from onward.types import Array, Setting, View
from onward.view import reader_of

if TYPE_CHECKING:
    from onward.train.moco import CropReader, Moco
    from onward.train.probe import Probe

# Samples whose features are computed together.
_BATCH_SIZE = 64


class PretrainProbe:
    """Continue pre-training on all images of a period, then train a linear layer on labelled ones.

    Every period continues with the encoder of the last one. Its features change, so the linear
    layer is trained from scratch, on the labelled samples of the period alone. No sample is stored.

    Why: Labels are rare, images are not: pre-training on all of them may keep features fresh.

    Known problems: On emoji, samples without labels made no difference that three seeds could show,
    at three and a half times the cost.

    Parameters
    ----------
    setting
        The task kind, the recipe and the seed. Of the recipe, epochs and precision are used.
    unlabelled
        Whether to use the samples without labels, where the protocol has any.
    epochs
        Passes of pre-training over a period; by default as many as the recipe has epochs. Fewer
        if the budget does not pay for them.
    pretraining
        The hyperparameters of MoCo v2: ``cpu`` or ``paper``.

    References
    ----------
    Lin et al., The CLEAR Benchmark, NeurIPS 2021, Figure 5, on the right: what the paper suggests
    and does for the first bucket only.
    """

    needs: ClassVar[Mapping[str, str]] = {
        IMAGES: "two crops of which it compares",
        CLASS_OUTPUTS: "which are all that is trained with labels",
        SECOND_LOOK: "to train a last layer on what was pre-trained on",
    }
    metered = (*COMPUTE, "parameters", "batch_size")

    def __init__(
        self,
        setting: Setting,
        *,
        unlabelled: bool = True,
        epochs: int | None = None,
        pretraining: str = "cpu",
    ) -> None:
        from onward.train.moco import RECIPES  # torch is loaded when it is needed

        if pretraining not in RECIPES:
            raise unknown(
                "recipe of pre-training", pretraining, RECIPES, "docs/howto/pretraining.md"
            )
        if epochs is not None and epochs < 0:
            raise OnwardError(f"expected 0 or more epochs of pre-training, found {epochs}")
        self._setting, self._unlabelled = setting, unlabelled
        self._recipe = RECIPES[pretraining]
        self._epochs = setting.recipe.epochs if epochs is None else epochs
        self._side = 0
        self._moco: Moco | None = None
        self._probe: Probe | None = None
        self._calls = 0
        self._steps_done = 0

    @property
    def compute_device(self) -> str:
        """The name of the device that it computes on."""
        from onward.models.device import resolve_device

        return str(resolve_device(self._setting.hardware.device))

    def learn(self, view: View, budget: Budget) -> None:
        """Pre-train on all samples, then train the linear layer on those with labels."""
        from onward.train.loading import batches, computing_on
        from onward.train.moco import CropReader
        from onward.train.probe import RECIPE, Probe, probe_cost

        views = [view, view.unlabelled] if self._unlabelled else [view]
        key = self._setting.seed, self._calls
        with computing_on(self._setting.hardware):
            moco = self._network(view.input_shape)
            budget.declare(parameters=moco.size)
            sources = [reader_of(part).read for part in views]
            read = CropReader(sources, [*map(len, views)], moco.recipe, key)
            steps = self._affordable(moco, read, view, budget)
            left, schedule = range(self._steps_done, steps), moco.recipe.optimization
            for step, crops in batches(read, left, len(left), moco.device):
                size = crops.shape[1]
                budget.spend(iterations=1, macs=moco.macs * size, batch_size=size)
                # Counted here, and not where workers read ahead.
                for number, positions in read.positions(step):
                    views[number].count(positions)
                moco.step(crops, schedule.lr_at(step, steps))
                self._steps_done = step + 1
                budget.checkpoint(self)
            # The linear layer.
            labels, classes = view.labels, len(view.classes)
            budget.spend(macs=moco.macs // 2 * sum(map(len, views)))
            features = [_features(moco, part) for part in views if len(part)]
            cost = probe_cost(len(labels), moco.feature_dim, classes)
            budget.spend(**cost, batch_size=min(RECIPE.batch_size, len(labels)))
            task, every = self._setting.task, np.concatenate(features)
            self._probe = Probe.trained(features[0], labels, classes, task, key, every)
        self._calls += 1
        self._steps_done = 0

    def predict(self, view: View) -> Array:
        """Return one logit per class."""
        from onward.train.loading import computing_on

        if self._moco is None or self._probe is None:
            raise OnwardError("predict was called before anything had been learned")
        with computing_on(self._setting.hardware):
            return self._probe.predict(_features(self._moco, view))

    def save(self, folder: Path) -> None:
        """Write everything that continuing needs, between two calls or inside one."""
        if self._moco is None:
            raise OnwardError("there is nothing to save before the first call of learn")
        state = {
            "calls": self._calls,
            "steps_done": self._steps_done,
            "side": self._side,
            "moco": self._moco.state(),
            "probe": {} if self._probe is None else self._probe.state(),
        }
        save_state(folder, state)

    def load(self, folder: Path) -> None:
        """Continue from what `save` wrote."""
        from onward.train.probe import Probe

        state: dict[str, Any] = load_state(folder)
        try:
            self._calls, self._steps_done = state["calls"], state["steps_done"]
            self._network((state["side"], state["side"], 3)).restore(state["moco"])
            if state["probe"]:
                self._probe = Probe.restored(state["probe"])
        except KeyError as error:
            raise DamagedFolderError(
                f"expected {error} in the learner's state in {folder}, found none: another version "
                "wrote it. Delete that checkpoint and run again, from the first period"
            ) from error

    def _network(self, shape: tuple[int, ...]) -> "Moco":
        from onward.models.device import resolve_device
        from onward.train.moco import Moco

        if self._moco is None:
            if len(shape) != 3:
                raise OnwardError(
                    f"expected images for pretrain_probe to learn from, found inputs of the shape "
                    f"{shape}, which are features already. Choose images: --features image"
                )
            self._side = shape[0]
            size, precision = self._recipe.image_size, self._setting.recipe.precision
            recipe = replace(self._recipe, image_size=min(size, self._side), precision=precision)
            device = resolve_device(self._setting.hardware.device)
            self._moco = Moco(recipe, self._setting.seed, device)
        return self._moco

    def _affordable(self, moco: "Moco", read: "CropReader", view: View, budget: Budget) -> int:
        """Return how many steps of pre-training the budget of this call pays for.

        The linear layer comes first: without one there is nothing to predict with.
        """
        from onward.train.probe import probe_cost

        limits, probe = budget.limits, probe_cost(len(view), moco.feature_dim, len(view.classes))
        # Computing the features reads every sample once more.
        epochs = min(self._epochs, limits.get("passes", np.inf) - 1)
        steps = limits.get("iterations", np.inf) - probe["iterations"]
        macs = limits.get("macs", np.inf) - moco.macs // 2 * sum(read.sizes) - probe["macs"]
        macs_steps = macs // (moco.macs * read.batch_size)
        if min(epochs, steps, macs_steps) < 0:
            raise BudgetSpentError(
                f"the budget of one call of learn ({limits}) does not pay for reading features and "
                "training a linear layer on them. Give the run a larger budget"
            )
        return int(min(int(epochs) * read.per_epoch, steps, macs_steps))


def _features(moco: "Moco", view: View) -> Array:
    """Return the features of a view."""
    from onward.train.loading import view_batches

    parts = [moco.features(images) for images in view_batches(view, moco.device, _BATCH_SIZE)]
    return np.concatenate([part.cpu().numpy() for part in parts])
