"""Gradient descent under way: one call of `learn`, or several that see the same batches."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from onward.budget import Budget, working
from onward.crew import contained
from onward.errors import BudgetSpentError, DivergedError
from onward.models.device import explained
from onward.models.model import Model
from onward.models.probe_bank import Bank, side_by_side
from onward.models.spread import OwnRows
from onward.pairs import as_bytes
from onward.train.loading import batches
from onward.train.method import Batch, Method, TrainingSet, require_scalar
from onward.train.optimizers import ModelOptimizer
from onward.train.recipe import Recipe
from onward.train.steps import BatchReader, Steps
from onward.train.validation import Validation
from onward.train.weight_average import WeightAverage
from onward.types import Rows

# Every so many steps it is checked that numbers are finite: what is not stays so.
_CHECKED_EVERY = 8


class Descent:
    """One call of `learn` under way: what it trains, on which batches, and how far it is.

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
        self._optimizer = ModelOptimizer(
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

    @property
    def optimizer_state(self) -> dict[str, torch.Tensor]:
        """The optimizer's state, by the names of parameters."""
        return self._optimizer.state()

    def sees_what(self, other: "Descent") -> bool:
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

    def learns_what(self, other: "Descent") -> bool:
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
                    (*self._moving, self.optimizer_state),
                    (*other._moving, other.optimizer_state),
                    strict=True,
                )
            )
        )

    def follow(self, other: "Descent") -> None:
        """Be where another one is that has learned the same."""
        for mine, others in zip(self._moving, other._moving, strict=True):
            for name, values in others.items():
                mine[name].copy_(values)
        self._optimizer.copy_state(other._optimizer)
        self.done += 1
        self._pause()

    @property
    def _moving(self) -> tuple[dict[str, torch.Tensor], ...]:
        """Everything that a step changes."""
        average = {} if self._average is None else self._average.weights
        return self.model.state_dict(), average

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        slowed = self.validation.slowed * self.method.lr_scale
        return self._recipe.lr_at(self.done, self.total, self.key[-1]) * slowed

    @property
    def waiting(self) -> bool:
        """Whether there are steps to take."""
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
            "stopped, and what was kept before is still there: lower the learning rate"
        )

    def spend(self, positions: Rows, new: int) -> None:
        """Charge the next step, and the samples that it reads, to the budget."""
        samples = len(positions)
        macs = int(self.model.macs * self.training.forward_passes * samples)
        self.budget.spend(iterations=1, macs=macs, batch_size=samples, new_in_batch=new)
        self.training.view.count(positions)

    def share(self, positions: Rows, new: int) -> None:
        """Charge the next step, whose batch another one has read."""
        try:
            self.spend(positions, new)
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            self.fail(error)

    def move(self, batch: Batch) -> None:
        """Finish a step whose gradient is there."""
        self.scaler.unscale_(self._optimizer.torch)
        self.method.on_after_backward(batch)
        self._optimizer.step(batch.lr, self.scaler)
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


def descend(descents: Sequence[Descent]) -> None:
    """Take every descent to its end; those that see the same batches go side by side.

    Who sees the same is found by comparing, so no method needs to know of it.
    """
    while waiting := [descent for descent in descents if descent.waiting]:
        alike = [descent for descent in waiting if descent.sees_what(waiting[0])]
        # After an interruption some may be ahead: the others catch up with them first.
        step = min(descent.done for descent in alike)
        level = [descent for descent in alike if descent.done == step]
        ahead = [descent.done for descent in alike if descent.done > step]
        with working([descent.budget for descent in level]):
            _side_by_side(level, min([descent.total for descent in level] + ahead))


def _side_by_side(level: Sequence[Descent], until: int) -> None:
    """Take descents that are at one step and see the same batches to a later step.

    It ends before that where one of them fails, which will not be waiting any longer.
    """
    first, *others = level
    training, device = first.training, first.model.device
    shared = all(descent.method.is_plain_finetuning for descent in level)
    reader = BatchReader(training, first.batch_size, first.augment, first.key, shared=shared)
    labels = torch.tensor(training.view.labels)
    loaded = batches(
        lambda item: torch.from_numpy(as_bytes(reader(*item))),
        ((step, first.steps[step]) for step in range(first.done, until)),
        until - first.done,
        device,
        in_memory=reader.in_memory,
    )
    flocks, bank = _grouped(level)
    try:
        while first.done < until:
            try:
                (step, positions), inputs = next(loaded)
                new = int(np.count_nonzero(positions < training.epoch))
                # Batches that were read ahead and are not used cost nothing.
                first.spend(positions, new)
                targets = labels.index_select(0, torch.from_numpy(positions))
                targets = reader.labels(step, targets, inputs.shape[-2]).to(device)
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                first.fail(error)
                return  # the others have not paid for this step yet: one of them reads the batch
            for descent in others:
                descent.share(positions, new)
            if any(descent.failed is not None for descent in others):
                # The rest have paid for this step, and take it.
                bank.release()
                flocks, bank = _grouped([each for each in level if each.failed is None])
            whole = OwnRows(inputs, len(positions)) if reader.shared else inputs
            _take_step(flocks, bank, whole, targets, new, positions)
            if any(descent.failed is not None for descent in level):
                return
    finally:
        loaded.close()
        bank.release()


def _take_step(
    flocks: Sequence["_Flock"],
    bank: Bank,
    inputs: Any,
    targets: torch.Tensor,
    new: int,
    positions: Rows,
) -> None:
    """Take one step on a batch; where one raises an exception, the others finish theirs."""
    bank.forward(inputs[:new] if flocks[0].leader.training.separate_replay else inputs)
    batches: list[Batch | None] = []
    for place, (leader, _) in enumerate(flocks):
        batch = None
        try:
            outputs, lr = bank.outputs(place), leader.lr
            batch = Batch(leader.model, inputs, outputs, targets, new, positions, lr)
            with torch.enable_grad():
                loss = require_scalar(leader.method.compute_loss(batch))
            leader.check_finite(loss)
            bank.backward(place, leader.scaler.scale(loss))
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            leader.fail(error)
        batches.append(batch)
    bank.finish_backward()
    for flock, batch in zip(flocks, batches, strict=True):
        flock.move(batch)


class _Flock(NamedTuple):
    """Descents that learn the same: one does the work, and the others take its weights over."""

    leader: Descent
    followers: list[Descent]

    def move(self, batch: Batch | None) -> None:
        """Finish a step whose gradient is there, or go no further where the leader failed."""
        leader, before = self.leader, self.leader.done
        if leader.failed is None and batch is not None:
            try:
                leader.move(batch)
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                leader.fail(error)
        for follower in self.followers:
            if leader.done > before:
                follower.follow(leader)
            else:  # a step that is the same for all of them fails for all of them
                follower.failed = leader.failed


def _grouped(level: Sequence[Descent]) -> tuple[list[_Flock], Bank]:
    flocks = _flocks(level)
    return flocks, side_by_side([flock.leader.model for flock in flocks])


def _flocks(level: Sequence[Descent]) -> list[_Flock]:
    """Put descents together that will learn the same: several methods begin alike."""
    flocks: list[_Flock] = []
    for descent in level:
        for flock in flocks:
            if descent.learns_what(flock.leader):
                flock.followers.append(descent)
                break
        else:
            flocks.append(_Flock(descent, []))
    return flocks


def _equal(mine: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> bool:
    return mine.keys() == others.keys() and all(
        values.shape == others[name].shape and torch.equal(values, others[name])
        for name, values in mine.items()
    )
