"""The gradient learner: any method of the five questions, trained under a budget, resumable."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch

from onward.budget import Budget
from onward.errors import BudgetSpentError, DamagedFolderError, OnwardError
from onward.models import MODELS, Model
from onward.results.state import load_state, save_state
from onward.seeds import Draws, draws
from onward.train.augment import augmented
from onward.train.method import GradientMethod, Step, TrainingSet
from onward.train.sgd import SGD
from onward.train.threads import one_thread
from onward.types import Array, Rows, Setting, View

# How many samples are predicted at once: images of a whole test would not fit into memory.
_AT_ONCE = 512


class GradientLearner:
    """Trains a model by mini-batches as a method says.

    All randomness is drawn from the seed and a counter (call, epoch), never from a generator
    that runs along: a resumed call continues with the very batches it would have seen.

    Parameters
    ----------
    method
        Answers the five questions.
    setting
        The task kind, the recipe and the seed.
    """

    def __init__(self, method: GradientMethod, setting: Setting) -> None:
        self.method = method
        self.setting = setting
        self._recipe = setting.recipe
        self._model: Model | None = None
        self._shape: tuple[int, ...] = ()
        self._calls = 0
        # Of a call under way: its finished steps, what the method knew when it began and has
        # learned since, and the optimiser's velocity.
        self._steps_done: int | None = None
        self._method_before: dict[str, Any] = {}
        self._method_inside: dict[str, Any] = {}
        self._velocity: dict[str, torch.Tensor] = {}
        method.begin(setting)

    def learn(self, view: View, budget: Budget) -> None:
        """Train on the view as the method says."""
        with one_thread():
            resumed = self._steps_done is not None
            if not resumed:
                # A copy: the method may go on changing what it returned.
                self._method_before = copy.deepcopy(self.method.state())
            training = self.method.trains_on(view, budget)
            model = self._model_for(training.view)
            if resumed:
                self.method.restore_inside(self._method_inside)
            else:
                self.method.starts_from(model, self._generator())
                self._velocity = {}
                self._steps_done = 0
            self._descend(model, training, budget)
            model.forget()
            self.method.afterwards(model, view, budget)
            self._steps_done = None
            self._calls += 1

    def predict(self, view: View) -> Array:
        """Return the model's outputs."""
        if self._model is None:
            raise OnwardError("predict was called before anything had been learned")
        with one_thread():
            parts = (slice(start, start + _AT_ONCE) for start in range(0, len(view), _AT_ONCE))
            outputs = [self._model.predict(torch.from_numpy(view.inputs(part))) for part in parts]
            return torch.cat(outputs).numpy()

    def save(self, folder: Path) -> None:
        """Write everything that continuing needs, between two calls or inside one."""
        if self._model is None:
            raise OnwardError("there is nothing to save before the first call of learn")
        under_way = self._steps_done is not None
        state = {
            "calls": self._calls,
            "steps_done": self._steps_done,
            "shape": list(self._shape),
            "classes": self._model.classes,
            "parameters": {name: p.numpy() for name, p in self._model.parameters.items()},
            "buffers": {name: b.numpy() for name, b in self._model.buffers.items()},
            "velocity": {name: v.numpy() for name, v in self._velocity.items()},
            "method": self._method_before if under_way else self.method.state(),
            "method_inside": self.method.state_inside() if under_way else {},
        }
        save_state(folder, state)

    def load(self, folder: Path) -> None:
        """Continue from what `save` wrote."""
        state = load_state(folder)
        try:
            self._calls, self._steps_done = state["calls"], state["steps_done"]
            self._shape = tuple(state["shape"])
            self._model = MODELS[self._recipe.model](
                self._shape, state["classes"], self._generator()
            )
            for name, values in state["parameters"].items():
                self._model.parameters[name].copy_(torch.from_numpy(values))
            for name, values in state["buffers"].items():
                self._model.buffers[name].copy_(torch.from_numpy(values))
            self._velocity = {name: torch.from_numpy(v) for name, v in state["velocity"].items()}
            self.method.restore(state["method"])
            self._method_before, self._method_inside = state["method"], state["method_inside"]
        except KeyError as error:
            raise DamagedFolderError(
                f"expected {error} in the learner's state in {folder}, found none: another version "
                "wrote it. Delete that checkpoint and run again, from the first period"
            ) from error

    def _model_for(self, view: View) -> Model:
        classes = len(view.classes)
        if self._model is None:
            self._shape = view.input_shape
            self._model = MODELS[self._recipe.model](self._shape, classes, self._generator())
        self._model.grow(classes, self._generator())
        return self._model

    def _descend(self, model: Model, training: TrainingSet, budget: Budget) -> None:
        recipe, view = self._recipe, training.view
        if training.epoch == 0:
            return
        budget.declare(parameters=model.size)
        optimizer = SGD(
            model.parameters,
            momentum=recipe.momentum,
            weight_decay=recipe.weight_decay,
            velocity=self._velocity,
        )
        self._velocity = optimizer.velocity
        steps = Steps(training, recipe.batch_size, [self.setting.seed, self._calls])
        total = self._steps_affordable(model, steps, training, budget)
        buffer: Array | None = None
        for step in range(self._steps_done or 0, total):
            positions = steps[step]
            macs = model.macs * training.forwards * len(positions)
            budget.spend(iterations=1, macs=macs, batch_size=len(positions))
            if recipe.augment == "none":
                inputs = view.inputs(positions, out=buffer)
                buffer = inputs if buffer is None or len(inputs) > len(buffer) else buffer
            else:
                key = (self.setting.seed, self._calls, step)
                inputs = augmented(view, positions, recipe.augment, key)
            outputs = model.forward(torch.from_numpy(inputs))
            targets = torch.from_numpy(view.labels[positions])
            new = int(np.count_nonzero(positions < training.epoch))
            batch = Step(model, torch.from_numpy(inputs), outputs, targets, new)
            model.backward(self.method.minimises(batch).slope)
            self.method.gradient(batch)
            optimizer.step(recipe.rate(step, total))
            self._steps_done = step + 1
            budget.checkpoint(self)

    def _steps_affordable(
        self, model: Model, steps: "Steps", training: TrainingSet, budget: Budget
    ) -> int:
        """Return the recipe's number of steps, or what the budget of this call pays for."""
        limits = budget.limits
        looks = (self._recipe.batch_size + training.replay) * training.forwards
        steps_paid = int(
            min(
                min(self._recipe.epochs, limits.get("passes", np.inf)) * steps.per_epoch,
                limits.get("iterations", np.inf),
                limits.get("macs", np.inf) // (model.macs * looks),
            )
        )
        if steps_paid < 1:
            raise BudgetSpentError(
                f"the budget of one call of learn ({budget.limits}) does not pay for a single step "
                f"({looks} samples looked at). Give the run a larger budget, or a smaller batch"
            )
        return steps_paid

    def _generator(self) -> torch.Generator:
        seed = draws(Draws.WEIGHTS, self.setting.seed, self._calls).integers(2**63)
        return torch.Generator().manual_seed(int(seed))


class Steps:
    """The batches of one call of `learn`, by step number.

    Every epoch is a new permutation of the samples that make it up. Replayed samples come round
    in permutations too, so that each is seen about as often as the others.
    """

    def __init__(self, training: TrainingSet, batch_size: int, key: list[int]) -> None:
        self._training = training
        self._size = batch_size
        self._key = key
        self.per_epoch = -(-training.epoch // batch_size)
        self._epoch = -1

    def __getitem__(self, step: int) -> Rows:
        epoch, batch = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._shuffle(epoch)
        chosen = self._order[batch * self._size : (batch + 1) * self._size]
        replay = self._training.replay
        again = self._replay[batch * replay : (batch + 1) * replay]
        return np.concatenate([chosen, again]) if len(again) else chosen

    def _shuffle(self, epoch: int) -> None:
        rng = draws(Draws.BATCHES, *self._key, epoch)
        self._epoch = epoch
        self._order = rng.permutation(self._training.epoch)
        spare = np.arange(self._training.epoch, len(self._training.view))
        wanted = self.per_epoch * self._training.replay if len(spare) else 0
        rounds = [rng.permutation(spare) for _ in range(-(-wanted // max(len(spare), 1)))]
        self._replay = np.concatenate(rounds) if rounds else spare[:0]
