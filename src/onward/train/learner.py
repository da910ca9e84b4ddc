"""The gradient learner: any method of the five questions, trained under a budget, resumable."""

import contextlib
import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from onward import distributed
from onward.budget import Budget, working
from onward.distributed import contained
from onward.errors import DamagedFolderError, OnwardError, SmallBatchWarning
from onward.models import MODELS, find_model
from onward.models.classifier import HEADS
from onward.models.device import require_precision, resolve_device
from onward.models.model import Model, set_weights
from onward.models.probe_bank import Slot
from onward.models.sync_batchnorm import synchronize_batch_norm
from onward.results.state import load_state, save_state
from onward.saved import checksum, to_arrays, to_tensors
from onward.seeds import Draws, draws
from onward.train.loading import computing_on
from onward.train.method import Method, TrainingSet
from onward.train.recipe import Recipe
from onward.train.shared_runs import train_together
from onward.train.trainer import Trainer
from onward.train.validation import Validation, predicted
from onward.train.weights import WeightAverage
from onward.types import Array, Setting, View


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

    def __init__(self, method: Method, setting: Setting) -> None:
        self.method = method
        self._recipe = _checked(method, method.override_recipe(setting.recipe))
        self.setting = replace(setting, recipe=self._recipe)
        self._model: Model | None = None
        self._shape: tuple[int, ...] = ()
        self._calls = 0
        # Of a call under way: how far it is, and what the method knew when it began.
        self._trainer: Trainer | None = None
        self._method_before: dict[str, Any] = {}
        self._average: WeightAverage | None = None
        self.metrics: dict[str, float] = {}
        """What the method logged in the last call, as means over its steps."""
        # Of a call that was interrupted and is to be made again: the checkpoint.
        self._interrupted: dict[str, Any] | None = None
        # The optimizer's state, where it is kept from call to call.
        self._optimizer_state: dict[str, torch.Tensor] = {}
        # The loss scale of 16-bit gradients, which is found by trial.
        self._scaler_state: dict[str, Any] = {}
        method.begin(self.setting)

    @property
    def compute_device(self) -> str:
        """The name of the device that it computes on."""
        return str(resolve_device(self.setting.hardware.device))

    def learn(self, view: View, budget: Budget) -> None:
        """Train on the view as the method says."""
        for error in learn_together([(self, view, budget)]):
            if error is not None:
                raise error

    def predict(self, view: View) -> Array:
        """Return the model's outputs."""
        if self._model is None:
            raise OnwardError("predict was called before anything had been learned")
        with computing_on(self.setting.hardware), self._averaged():
            return predicted(self._model, view)

    def save(self, folder: Path) -> None:
        """Write everything that continuing needs, between two calls or inside one."""
        if self._model is None:
            raise OnwardError("there is nothing to save before the first call of learn")
        trainer = self._trainer
        if trainer is not None and (error := trainer.failure()):
            raise error
        state = {
            "calls": self._calls,
            "steps_done": None if trainer is None else trainer.done,
            "shape": list(self._shape),
            "classes": self._model.classes,
            "model": to_arrays(self._model.state_dict()),
            "average": {} if self._average is None else to_arrays(self._average.weights),
            "slot": list(astuple(trainer.slot)) if trainer and trainer.slot else None,
            "scaler": self._scaler_state if trainer is None else trainer.scaler.state_dict(),
            "logged": {} if trainer is None else trainer.logged,
            "validation": {} if trainer is None else trainer.validation.state(),
            "optimizer": to_arrays(
                self._optimizer_state if trainer is None else trainer.optimizer.state()
            ),
            "method": self.method.state() if trainer is None else self._method_before,
            "method_inside": {} if trainer is None else self.method.save_step_state(),
        }
        save_state(folder, state)

    def load(self, folder: Path) -> None:
        """Continue from what `save` wrote."""
        state = load_state(folder)
        try:
            self._calls = state["calls"]
            self._shape = tuple(state["shape"])
            self._model = self._new_model(state["classes"])
            # Everything comes back to where the model computes.
            with self._model.device:
                set_weights(self._model, to_tensors(state["model"]))
                self.method.restore(state["method"])
                if self._recipe.keep_optimizer_state:
                    self._optimizer_state = to_tensors(state["optimizer"])
                if self._recipe.ema_decay is not None:
                    self._average = self._new_average(to_tensors(state["average"]))
            self._scaler_state = state["scaler"]
            self._interrupted = None if state["steps_done"] is None else state
        except KeyError as error:
            raise DamagedFolderError(
                f"expected {error} in the learner's state in {folder}, found none: another version "
                "wrote it. Delete that checkpoint and run again, from the first period"
            ) from error

    def start(self, view: View, budget: Budget) -> Trainer:
        """Begin a call of `learn`, or begin again where it was interrupted."""
        before, self._interrupted = self._interrupted, None
        # A copy: the method may go on changing what it returned.
        self._method_before = copy.deepcopy(self.method.state())
        training = self.method.training_data(view, budget)
        if not isinstance(training, TrainingSet):
            raise OnwardError(
                f"expected training_data of {type(self.method).__name__} to return a TrainingSet, "
                f"found {type(training).__name__}. Return TrainingSet(view, epoch=len(view))"
            )
        model = self._model_for(training.view)
        batch = min(training.batch or self._recipe.batch_size, training.epoch)
        fewest = min(batch, training.replay or batch)
        if 0 < fewest < (size := distributed.world_size()):
            warnings.warn(
                f"batches have {fewest} new or replayed samples, fewer than the {size} "
                "processes of this run: each process computes whole batches. Use fewer processes, "
                "or a larger batch size",
                SmallBatchWarning,
                stacklevel=2,
            )
        if before is None:
            self.method.init_weights(model, self._generator())
            kept = self._average if self._recipe.keep_optimizer_state else None
            self._average = self._new_average({} if kept is None else kept.weights)
        else:
            with model.device:
                self.method.restore_step_state(before["method_inside"])
        validation = Validation(
            view.validation,
            model,
            self.setting.task,
            budget,
            self._recipe,
            # Which epoch is best is no question where there is a number of steps.
            keeps_best=self.method.keeps_best and self._recipe.max_steps is None,
            average=self._average,
            state=before["validation"] if before else {},
        )
        self._trainer = Trainer(
            self.method,
            model,
            training,
            budget,
            self._recipe,
            validation=validation,
            epochs=self._recipe.epochs_of(self._calls),
            key=(self.setting.seed, self._calls),
            done=before["steps_done"] if before else 0,
            optimizer_state=to_tensors(before["optimizer"]) if before else self._optimizer_state,
            scaler_state=before["scaler"] if before else self._scaler_state,
            logged=before.get("logged", {}) if before else {},
            average=self._average,
            slot=Slot(*(before.get("slot") or ())) if before else None,
            checkpoint=partial(budget.checkpoint, self),
        )
        return self._trainer

    def finish(self, view: View, budget: Budget) -> None:
        """End a call of `learn` whose steps are done; raise if it failed."""
        trainer = self._trainer
        if trainer is None:
            return
        trainer.model.clear_graph()
        self.metrics = trainer.metrics
        if error := trainer.failure():
            raise error
        if trainer.validation.restore_best():
            # The best epoch is another model than the one that was averaged.
            self._average = self._new_average({})
        self.method.on_learn_end(trainer.model, view, budget)
        if distributed.world_size() > 1:
            self._require_equal_state(trainer.model)
        if self._recipe.keep_optimizer_state:
            self._optimizer_state = trainer.optimizer.state()
        self._scaler_state = trainer.scaler.state_dict()
        self._trainer = None
        self._calls += 1

    def _require_equal_state(self, model: Model) -> None:
        """Raise unless all processes have the same weights, and the same state of the method."""
        distributed.require_equal(
            checksum(to_arrays(model.state_dict())),
            "expected all processes to have learned the same weights, found others here. They need "
            "the same versions of all packages, and processors of the same kind",
        )
        distributed.require_equal(
            checksum(self.method.state()),
            f"expected {type(self.method).__name__} to have the same state in all processes, found "
            "other values in some. What it computes of a batch is about the samples of one "
            "process: gather it with batch.gather before it is kept",
        )

    def _model_for(self, view: View) -> Model:
        classes = len(view.classes)
        if self._model is None:
            self._shape = view.input_shape
            self._model = self._new_model(classes)
        self._model.add_classes(classes, self._generator())
        return self._model

    def _new_model(self, classes: int) -> Model:
        card, recipe = find_model(self._recipe.model), self._recipe
        options = {name: getattr(recipe, name) for name in card.takes}
        for name in ("image_size", "weights", "grad_checkpointing"):
            if name not in card.takes and getattr(recipe, name):
                takers = [other.name for other in MODELS.values() if name in other.takes]
                raise OnwardError(
                    f"expected a model that takes {name} = {getattr(recipe, name)}, found "
                    f"{card.name}. Leave it out, or choose one of {', '.join(takers)}"
                )
        head = self.method.head
        model = card(self._shape, classes, self._generator(), head=head, **options)
        device = resolve_device(self.setting.hardware.device)
        distributed.require_device(device.type, device.index)
        require_precision(device, recipe.precision)
        model.precision = recipe.precision
        model.to(device)
        if distributed.world_size() > 1:
            synchronize_batch_norm(model, device)
        if recipe.precision == "fp64":
            model.double()
        if recipe.compile:
            model.compile_network()
        if recipe.micro_batch_size is not None:
            model.compute_in_micro_batches(recipe.micro_batch_size)
        return model

    def _new_average(self, state: dict[str, torch.Tensor]) -> WeightAverage | None:
        """Return the average of weights that the recipe asks for."""
        if self._recipe.ema_decay is None or self._model is None:
            return None
        return WeightAverage(self._model, self._recipe.ema_decay, state)

    def _averaged(self) -> contextlib.AbstractContextManager[None]:
        """Predict with the averaged weights, where there are any."""
        if self._average is None or self._model is None:
            return contextlib.nullcontext()
        return self._average.applied(self._model)

    def _generator(self) -> torch.Generator:
        seed = draws(Draws.WEIGHTS, self.setting.seed, self._calls).integers(2**63)
        return torch.Generator().manual_seed(int(seed))


def _checked(method: Method, recipe: Any) -> Recipe:
    """Return what a method has made of the recipe; raise if its own attributes are in the way."""
    kind = type(method).__name__
    if not isinstance(recipe, Recipe):
        raise OnwardError(
            f"expected override_recipe of {kind} to return a Recipe, found "
            f"{type(recipe).__name__}. Return dataclasses.replace(recipe, ...)"
        )
    if method.head not in HEADS:
        raise OnwardError(
            f"expected {' or '.join(HEADS)} as `head` of {kind}, which names the model's last "
            f"layer, found {type(method.head).__name__}. Name an attribute of your own otherwise"
        )
    return recipe


def learn_together(
    calls: Sequence[tuple[GradientLearner, View, Budget]],
) -> list[Exception | None]:
    """Make one call of `learn` of each learner, side by side where they see the same batches.

    Returns the exception of each learner that failed: the others go to their end.
    """
    failures: list[Exception | None] = [None] * len(calls)

    def each(act: Callable[[GradientLearner, View, Budget], None]) -> None:
        for place, (learner, view, budget) in enumerate(calls):
            if failures[place] is None:
                try:
                    with working([budget]):
                        act(learner, view, budget)
                except Exception as error:  # noqa: BLE001 (it is returned)
                    failures[place] = contained(error)

    if not calls:
        return failures
    with computing_on(calls[0][0].setting.hardware):
        trainers: list[Trainer] = []
        each(lambda learner, view, budget: trainers.append(learner.start(view, budget)))
        train_together(trainers)
        each(lambda learner, view, budget: learner.finish(view, budget))
    return failures
