"""One call of `learn` by mini-batches, or several calls that see the same batches."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from onward.budget import Budget, working
from onward.crew import contained
from onward.errors import BudgetSpentError, DivergedError
from onward.models.device import explained
from onward.models.model import Model
from onward.models.probe_bank import LossesOfHeads, ProbeBank, bank_key, side_by_side
from onward.models.spread import OwnRows
from onward.pairs import as_bytes
from onward.seeds import Draws, draws
from onward.train.loading import batches
from onward.train.method import Batch, Method, TrainingSet, require_scalar
from onward.train.optimizers import ModelOptimizer, optimizers_at_once
from onward.train.recipe import Recipe
from onward.train.steps import BatchReader, Steps
from onward.train.validation import Validation
from onward.train.weight_average import WeightAverage
from onward.types import Rows

# Every so many steps it is checked that numbers are finite: what is not stays so.
_CHECKED_EVERY = 8


class Trainer:
    """One call of `learn`: what is trained, on which batches, and how many steps are done.

    Parameters
    ----------
    method, model, training, budget, recipe
        What is trained, on what, how.
    validation
        Judges between epochs.
    epochs
        How many there are.
    key
        What the batches are drawn from, beside the epoch; the last number counts the calls.
    done
        The finished steps of a call that is resumed.
    optimizer_state
        Of a call that is resumed, or of the call before where it is kept.
    scaler_state
        That of `scaler`, of a call that is resumed.
    average
        The average of weights that predicts, where there is one.
    after_step
        Called after every step, when all of it can be saved.
    """

    def __init__(
        self,
        method: Method,
        model: Model,
        training: TrainingSet,
        budget: Budget,
        recipe: Recipe,
        *,
        validation: Validation,
        epochs: int,
        key: tuple[int, ...],
        done: int,
        optimizer_state: dict[str, torch.Tensor],
        scaler_state: dict[str, Any],
        average: WeightAverage | None,
        after_step: Callable[[], None],
    ) -> None:
        self.method, self.model, self.training = method, model, training
        self.key, self.done = key, done
        self.batch_size, self.augment = training.batch or recipe.batch_size, recipe.augment
        self.budget, self._recipe, self._after_step = budget, recipe, after_step
        self.validation, self._epochs = validation, epochs
        budget.declare(parameters=model.size)
        parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.optimizer = ModelOptimizer(
            parameters, recipe, frozen_rows=method.frozen_rows(model), state=optimizer_state
        )
        # Gradients of 16-bit losses are too small for their numbers: the loss is scaled up.
        self.scaler = torch.amp.GradScaler(model.device.type, enabled=recipe.precision == "fp16")
        if scaler_state:
            self.scaler.load_state_dict(scaler_state)
        self._average = average
        self.steps = Steps(
            training,
            self.batch_size,
            key,
            whole=recipe.max_steps is not None,
            replacement=recipe.replacement,
        )
        self.total = self._steps_affordable() if training.epoch else 0
        self.failed: Exception | None = None
        self._is_random = model.is_random
        self._macs_per_sample = model.macs * training.forward_passes
        # Of each name that a method logs, the sum and the number of steps.
        self._logged: dict[str, tuple[Any, int]] = {}

    @property
    def metrics(self) -> dict[str, float]:
        """What the method has logged, as means over the steps of this call."""
        return {name: float(total) / count for name, (total, count) in self._logged.items()}

    @property
    def optimizer_state(self) -> dict[str, torch.Tensor]:
        """The optimizer's state, by the names of parameters."""
        return self.optimizer.state()

    def sees_same_batches(self, other: "Trainer") -> bool:
        """Whether another one sees the same batches, step by step."""
        mine, others = self.training, other.training
        return other is self or (
            (self.key, self.batch_size, self.augment)
            == (other.key, other.batch_size, other.augment)
            and (mine.epoch, mine.replay, mine.separate_replay)
            == (others.epoch, others.replay, others.separate_replay)
            and mine.draw is others.draw is None
            and mine.view.shows_what(others.view)
        )

    def makes_same_updates(self, other: "Trainer") -> bool:
        """Whether another one that sees the same batches will move the same weights alike."""
        return (
            self.method.is_plain_finetuning
            and other.method.is_plain_finetuning
            and self._recipe == other._recipe
            and self.method.setting.task == other.method.setting.task
            and (self.total, self.lr) == (other.total, other.lr)
            and not (self.validation.asked or other.validation.asked)
            and self.method.frozen_rows(self.model) == other.method.frozen_rows(other.model)
            and all(
                _equal(mine, others)
                for mine, others in zip(
                    (*self._tensors, self.optimizer_state),
                    (*other._tensors, other.optimizer_state),
                    strict=True,
                )
            )
        )

    def copy_step(self, other: "Trainer") -> None:
        """Take over the step of another one that makes the same updates."""
        for mine, others in zip(self._tensors, other._tensors, strict=True):
            for name, values in others.items():
                mine[name].copy_(values)
        self.optimizer.copy_state(other.optimizer)
        self.done += 1
        self._pause()

    @property
    def _tensors(self) -> tuple[dict[str, torch.Tensor], ...]:
        """Everything that a step changes."""
        average = {} if self._average is None else self._average.weights
        return self.model.state_dict(), average

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        slowed = self.validation.slowed * self.method.lr_scale
        return self._recipe.lr_at(self.done, self.total, self.key[-1]) * slowed

    @property
    def has_steps(self) -> bool:
        """Whether there are steps left to take."""
        return self.done < self.total and self.failed is None

    def fail(self, error: Exception) -> None:
        """Take no further step: this call of `learn` ends with an exception, the others go on."""
        self.failed = contained(explained(error))

    def check_finite(self, loss: torch.Tensor) -> None:
        """Check every few steps that the loss is finite, before weights are updated."""
        if self.done % _CHECKED_EVERY and self.done + 1 < self.total:
            return
        if not math.isfinite(float(loss.detach())):
            self.fail(self._divergence("the loss"))

    def failure(self) -> Exception | None:
        """Return the exception that ended this call, also if weights are no longer finite."""
        weights = self.model.parameters()
        if self.failed is None and not all(math.isfinite(float(w.sum())) for w in weights):
            self.fail(self._divergence("a weight"))
        return self.failed

    def _divergence(self, what: str) -> DivergedError:
        return DivergedError(
            f"expected finite numbers, found NaN or infinity in {what} at step {self.done} of "
            f"{self.total}, at a learning rate of {self.lr:.3g}; training has diverged and was "
            "stopped, and the checkpoints before it are intact: lower the learning rate"
        )

    def spend(self, rows: Rows, new: int) -> None:
        """Charge the next step, and the rows that it reads, to the budget."""
        samples = len(rows)
        macs = int(self._macs_per_sample * samples)
        self.budget.spend(iterations=1, macs=macs, batch_size=samples, new_in_batch=new)
        self.budget.read(rows)

    def spend_or_fail(self, rows: Rows, new: int) -> None:
        """Charge the next step, whose batch another one has read."""
        try:
            self.spend(rows, new)
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            self.fail(error)

    @property
    def uses_task_loss(self) -> bool:
        """Whether the loss is the task's, which can be computed for several models at once."""
        return not self.scaler.is_enabled() and not _overrides(self.method, "compute_loss")

    @property
    def needs_batch(self) -> bool:
        """Whether the method is asked about each batch."""
        return not self.uses_task_loss or _overrides(self.method, "on_after_backward")

    @contextmanager
    def seeded(self) -> Iterator[None]:
        """Draw what dropout and stochastic depth need from the seed, the call and the step.

        So a step is the same in a call that is resumed, whoever trains beside it.
        """
        if not self._is_random:
            yield
            return
        device = self.model.device
        seed = int(draws(Draws.DROPOUT, *self.key, self.done).integers(2**63))
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield

    def prepare_step(self, batch: Batch) -> None:
        """Let the method change the gradients of a step."""
        self.scaler.unscale_(self.optimizer.torch)
        self.method.on_after_backward(batch)
        for name, value in batch.logged.items():
            total, count = self._logged.get(name, (0.0, 0))
            self._logged[name] = total + value, count + 1

    def finish_step(self) -> None:
        """Do what follows the optimizer step."""
        if self._average is not None:
            self._average.update(self.model)
        self.done += 1
        if self.done % self.steps.per_epoch == 0:
            self.validation.look()
        self._pause()

    def _pause(self) -> None:
        """Let all of it be saved; the step is done, whether or not that fails."""
        try:
            self._after_step()
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            self.fail(error)

    def _steps_affordable(self) -> int:
        """Return the recipe's number of steps, or what the budget of this call pays for."""
        limits, training = self.budget.limits, self.training
        looks = (self.batch_size + training.replay) * training.forward_passes
        macs = self.model.macs * looks + self.validation.macs / self.steps.per_epoch
        if self._recipe.max_steps is None:
            wanted = self._epochs * -(-training.epoch // self._recipe.batch_size)
        else:
            wanted = round(self._recipe.max_steps * training.step_multiplier)
        steps_paid = int(
            min(
                min(wanted, self.steps.within(limits.get("passes", np.inf))),
                limits.get("iterations", np.inf),
                limits.get("macs", np.inf) // macs,
            )
        )
        if steps_paid < 1:
            allowed = ", ".join(f"{name} {limit:,.15g}" for name, limit in limits.items())
            raise BudgetSpentError(
                f"the budget of one call of learn ({allowed}) does not pay for a single step "
                f"({looks:g} samples looked at). Give the run a larger budget, or a smaller batch"
            )
        return steps_paid


def train_together(trainers: Sequence[Trainer]) -> None:
    """Take every call of `learn` to its end; those that see the same batches share them.

    Who sees the same batches is found by comparing, so no method needs to know of it.
    """
    while waiting := [trainer for trainer in trainers if trainer.has_steps]:
        alike = [trainer for trainer in waiting if trainer.sees_same_batches(waiting[0])]
        # After an interruption some may be ahead: the others catch up with them first.
        step = min(trainer.done for trainer in alike)
        level = [trainer for trainer in alike if trainer.done == step]
        ahead = [trainer.done for trainer in alike if trainer.done > step]
        with working([trainer.budget for trainer in level]):
            _train_on_same_batches(level, min([trainer.total for trainer in level] + ahead))


def _train_on_same_batches(level: Sequence[Trainer], until: int) -> None:
    """Take calls that are at one step and see the same batches to a later step.

    It ends before that where one of them fails, which will have no steps left.
    """
    first, *others = level
    training, device = first.training, first.model.device
    shared = all(trainer.method.is_plain_finetuning for trainer in level)
    reader = BatchReader(training, first.batch_size, first.augment, first.key, shared=shared)
    labels, rows = torch.tensor(training.view.labels), training.view.rows
    loaded = batches(
        lambda item: torch.from_numpy(as_bytes(reader(*item))),
        ((step, first.steps[step]) for step in range(first.done, until)),
        until - first.done,
        device,
        in_memory=reader.in_memory,
    )
    runs = _shared_runs(level)
    try:
        while first.done < until:
            try:
                (step, positions), inputs = next(loaded)
                new = int(np.count_nonzero(positions < training.epoch))
                # Batches that were read ahead and are not used cost nothing.
                first.spend(rows[positions], new)
                targets = labels.index_select(0, torch.from_numpy(positions))
                targets = reader.labels(step, targets, inputs.shape[-2]).to(device)
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                first.fail(error)
                return  # the others have not paid for this step yet: one of them reads the batch
            for trainer in others:
                trainer.spend_or_fail(rows[positions], new)
            if any(trainer.failed is not None for trainer in others):
                # The rest have paid for this step, and take it.
                for alike in runs:
                    alike.release()
                runs = _shared_runs([each for each in level if each.failed is None])
            whole = OwnRows(inputs, len(positions)) if reader.shared else inputs
            for alike in runs:
                alike.step(whole, targets, new, positions)
            if any(trainer.failed is not None for trainer in level):
                return
    finally:
        loaded.close()
        for alike in runs:
            alike.release()


def _shared_runs(level: Sequence[Trainer]) -> "list[_SharedRuns]":
    """Return runs that train on the same batches, those together whose models share more."""
    groups: dict[Hashable, list[Trainer]] = {}
    for trainer in level:
        groups.setdefault(bank_key(trainer.model), []).append(trainer)
    return [_SharedRuns(group) for group in groups.values()]


class _SharedRuns:
    """Runs that train on the same batches, side by side.

    Several methods begin alike: of the runs that would make the same updates, one leads and the
    others copy what it does.
    """

    def __init__(self, level: Sequence[Trainer]) -> None:
        self._copies: dict[int, list[Trainer]] = {}
        self._leaders: list[Trainer] = []
        for trainer in level:
            for place, leader in enumerate(self._leaders):
                if trainer.makes_same_updates(leader):
                    self._copies[place].append(trainer)
                    break
            else:
                self._copies[len(self._leaders)] = []
                self._leaders.append(trainer)
        self._bank = side_by_side([leader.model for leader in self._leaders])
        self._apart = self._leaders[0].training.separate_replay
        # Whose losses a probe bank computes at once: those of one task and number of classes.
        self._at_once: dict[tuple[LossesOfHeads, int], tuple[int, ...]] = {}
        for place, leader in enumerate(self._leaders):
            task = leader.method.setting.task
            if leader.uses_task_loss and isinstance(task, LossesOfHeads):
                key = task, leader.model.classes
                self._at_once[key] = (*self._at_once.get(key, ()), place)
        self._asked = {p for p, leader in enumerate(self._leaders) if leader.needs_batch}
        self._optimizers = None
        if not any(leader.scaler.is_enabled() for leader in self._leaders):
            self._optimizers = optimizers_at_once([leader.optimizer for leader in self._leaders])

    def release(self) -> None:
        """Let every model and optimizer be on its own again."""
        self._bank.release()

    def step(self, inputs: Any, targets: torch.Tensor, new: int, positions: Rows) -> None:
        """Take one step on a batch; where one run raises an exception, the others finish theirs."""
        shown = inputs[:new] if self._apart else inputs
        self._bank.forward(shown)
        finished = self._losses_at_once(targets[:new] if self._apart else targets)
        lrs = [leader.lr for leader in self._leaders]
        steps: dict[int, Batch] = {}
        for place, leader in enumerate(self._leaders):
            if place in finished and place not in self._asked:
                continue
            try:
                with leader.seeded():
                    outputs = self._bank.outputs(place)
                    steps[place] = batch = Batch(
                        leader.model, inputs, outputs, targets, new, positions, lrs[place]
                    )
                    if place in finished:
                        continue
                    with torch.enable_grad():
                        loss = require_scalar(leader.method.compute_loss(batch))
                leader.check_finite(loss)
                self._bank.backward(place, leader.scaler.scale(loss))
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                leader.fail(error)
        self._bank.finish_backward()
        for place, batch in steps.items():
            leader = self._leaders[place]
            if leader.failed is None:
                try:
                    leader.prepare_step(batch)
                except Exception as error:  # noqa: BLE001 (`failure` returns it)
                    leader.fail(error)
        self._update(lrs)

    def _losses_at_once(self, targets: torch.Tensor) -> set[int]:
        """Compute losses and gradients of runs with the task's loss, and return their places."""
        finished: set[int] = set()
        if isinstance(self._bank, ProbeBank):
            for (task, _), places in self._at_once.items():
                try:
                    losses = self._bank.backward_at_once(places, task, targets)
                    for place, loss in zip(places, losses, strict=True):
                        self._leaders[place].check_finite(loss)
                except Exception:  # noqa: BLE001 (each run then meets the error by itself)
                    continue
                finished.update(places)
        return finished

    def _update(self, lrs: Sequence[float]) -> None:
        """Take the optimizer steps of all runs that have not failed."""
        whole = self._optimizers is not None and all(each.failed is None for each in self._leaders)
        if whole and self._optimizers is not None:
            self._optimizers.step(lrs)
        for place, leader in enumerate(self._leaders):
            before = leader.done
            if leader.failed is None:
                try:
                    if not whole:
                        leader.optimizer.step(lrs[place], leader.scaler)
                    leader.finish_step()
                except Exception as error:  # noqa: BLE001 (`failure` returns it)
                    leader.fail(error)
            for copy in self._copies[place]:
                if leader.done > before:
                    copy.copy_step(leader)
                else:  # a step that is the same for all of them fails for all of them
                    copy.failed = leader.failed


def _overrides(method: Method, name: str) -> bool:
    return name in vars(method) or getattr(type(method), name) is not getattr(Method, name)


def _equal(mine: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> bool:
    return mine.keys() == others.keys() and all(
        values.shape == others[name].shape and torch.equal(values, others[name])
        for name, values in mine.items()
    )
