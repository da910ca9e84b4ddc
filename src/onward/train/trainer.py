"""Training: the steps of one call of `learn`."""

import contextlib
import math
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from onward import distributed
from onward.budget import Budget
from onward.distributed import contained
from onward.errors import BudgetSpentError, DivergedError
from onward.models.device import explained
from onward.models.model import Model
from onward.models.probe_bank import Slot, bank_key, is_linear_probe
from onward.models.sync_batchnorm import SyncBatchNormMode
from onward.seeds import Draws, draws
from onward.train.data_parallel import DataParallel
from onward.train.loading import BatchReader, BatchSampler, batches, to_device
from onward.train.method import Batch, Method, TrainingSet, WholeBatch, require_scalar
from onward.train.optimizers import ModelOptimizer
from onward.train.recipe import Recipe
from onward.train.training_log import TrainingLog
from onward.train.validation import Validation
from onward.train.weights import WeightAverage

# Losses are checked for NaN and infinity every so many steps: a weight that is not finite stays so.
_CHECKED_EVERY = 8


class Trainer:
    """One call of `learn`: what is trained, on which batches, and how many steps are done.

    Parameters
    ----------
    method, model, training, budget, recipe
        What is trained, on what, how.
    validation
        Scores the model after every epoch.
    epochs
        The number of epochs.
    key
        The seed and the number of the call, which batches are drawn from.
    done
        The finished steps of a call that is resumed.
    optimizer_state
        Of a call that is resumed, or of the previous call where it is kept.
    scaler_state
        The state of the gradient scaler, of a call that is resumed or of the previous one.
    logged
        What `logged` was, of a call that is resumed.
    average
        The moving average of the weights, where there is one.
    slot
        Where a linear probe is in a bank of probes, of a call that is resumed.
    checkpoint
        Called after every step, when the state of the run can be saved: with ``must=True``, it is.
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
        logged: Mapping[str, tuple[float, int]],
        average: WeightAverage | None,
        slot: Slot | None,
        checkpoint: Callable[..., None],
    ) -> None:
        self.method, self.model, self.training = method, model, training
        self.key, self.done = key, done
        self.batch_size, self.augment = training.batch or recipe.batch_size, recipe.augment
        self.budget, self._recipe, self._checkpoint = budget, recipe, checkpoint
        self.slot, self.rows = slot, training.view.rows
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
        self._parallel = DataParallel(model) if distributed.world_size() > 1 else None
        self.sampler = BatchSampler(
            training,
            self.batch_size,
            key,
            across_epochs=recipe.max_steps is not None,
            replacement=recipe.replacement,
        )
        self.total = self._steps_affordable() if training.epoch else 0
        self._lrs = [recipe.lr_at(step, self.total, key[-1]) for step in range(self.total)]
        self.failed: Exception | None = None
        self._macs_per_sample = model.macs * training.forward_passes
        # Of each name that a method logs, the sum and the number of steps.
        self._logged: dict[str, tuple[Any, int]] = {n: (t, c) for n, (t, c) in logged.items()}
        self.log = budget.training_log or TrainingLog()
        self.log.begin(
            done,
            self.total,
            self.sampler.per_epoch,
            totals=budget.totals,
            parameters=model.parameters,
            is_probe=is_linear_probe(model),
        )

    @property
    def metrics(self) -> dict[str, float]:
        """What the method has logged, as means over the steps of this call."""
        return {name: total / count for name, (total, count) in self.logged.items()}

    @property
    def logged(self) -> dict[str, list[float]]:
        """What the method has logged: the sum and the number of steps of each name."""
        return {name: [float(total), count] for name, (total, count) in self._logged.items()}

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        return self._lrs[self.done] * self.validation.lr_factor * self.method.lr_scale

    @property
    def has_steps(self) -> bool:
        """Whether there are steps left to take."""
        return self.done < self.total and self.failed is None

    def train(self) -> None:
        """Take all steps that are left; `failure` returns the exception that ended them."""
        try:
            with contextlib.closing(self.batches(self.total)) as loaded:
                for inputs, targets, whole in loaded:
                    self.spend(whole)
                    self.step(inputs, targets, whole)
                    if self.failed is not None:
                        return
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            self.fail(error)

    def batches(
        self, until: int
    ) -> Generator[tuple[torch.Tensor, torch.Tensor, WholeBatch], None, None]:
        """Yield the arguments of `step` from the next step until before a later one.

        Batches that are read ahead and not used cost nothing.
        """
        training, device = self.training, self.model.device
        reader = BatchReader(training, self.batch_size, self.augment, self.key)
        labels = torch.tensor(training.view.labels).to(device)
        numbers = range(self.done, until)
        steps = ((step, WholeBatch.of(self.sampler[step], training)) for step in numbers)
        loaded = batches(
            reader.read_step, steps, until - self.done, device, in_memory=reader.in_memory
        )
        with contextlib.closing(loaded):
            for (step, whole), inputs in loaded:
                own = to_device(torch.from_numpy(whole.positions[whole.indices]), device)
                targets = labels.index_select(0, own)
                yield inputs, reader.labels(step, whole, targets, inputs.shape[-2]), whole

    def step(self, inputs: torch.Tensor, targets: torch.Tensor, whole: WholeBatch) -> None:
        """Take one training step on this process's samples of a batch, see `Batch`."""
        model, lr, num_new = self.model, self.lr, whole.own_new
        forward = model if self._parallel is None else self._parallel
        if not model.training:
            model.train()
        model.zero_grad()
        positions = whole.positions[whole.indices]
        own_numbers = distributed.rank() if whole.shared else 0
        with self._seeded(own_numbers), self._sharing(whole):
            with torch.enable_grad():
                outputs = forward(inputs[:num_new] if self.training.separate_replay else inputs)
                batch = Batch(model, inputs, outputs, targets, num_new, positions, lr, whole=whole)
                loss = require_scalar(self.method.compute_loss(batch))
                if not self.check_finite(loss):
                    return
                if self._parallel is None:
                    self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
                else:
                    loss = loss * whole.loss_weight
                    self._parallel.backward(self.scaler.scale(loss))
            if is_finite := self.optimizer.unscale(self.scaler):
                # What changes the gradients is the same in all processes.
                alike = contextlib.nullcontext() if self._parallel is None else self._seeded(0)
                with alike:
                    self.after_backward(batch)
            else:
                batch.log("skipped_steps", 1.0)
                self._log(batch)
        if self._parallel is not None:
            loss = distributed.all_reduce(loss)[0] / distributed.world_size()
        self.record(loss.detach(), lr, batch.logged, len(whole.positions))
        if is_finite:
            self.optimizer.step(lr)
        self.finish_step()

    def check_finite(self, loss: torch.Tensor) -> bool:
        """Return whether a loss is finite, before weights are updated; fail if it is not.

        Most steps are not checked: reading a number waits for the device.
        """
        if self.done % _CHECKED_EVERY and self.done + 1 < self.total:
            return True
        # All processes of a run find it at the same step.
        finite = all(math.isfinite(float(found)) for found in distributed.all_reduce(loss.detach()))
        if not finite:
            self.fail(self._divergence("the loss"))
        return finite

    def after_backward(self, batch: Batch) -> None:
        """Let the method change the gradients of a step, and add up what it has logged."""
        self.method.on_after_backward(batch)
        self._log(batch)

    def _log(self, batch: Batch) -> None:
        for name, value in batch.logged.items():
            total, count = self._logged.get(name, (0.0, 0))
            self._logged[name] = total + value, count + 1

    def record(
        self, loss: torch.Tensor, lr: float, logged: Mapping[str, Any], samples: int
    ) -> None:
        """Record a step before its optimizer step, see `TrainingLog`."""
        if not self.log.enabled:
            return
        try:
            self.log.step(loss, lr, logged, samples)
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            self.fail(error)

    def finish_step(self) -> None:
        """Do what follows the optimizer step."""
        if self._average is not None:
            self._average.update(self.model)
        self.done += 1
        if self.done % self.sampler.per_epoch == 0:
            scores = self.validation.evaluate()
            self.log.end_epoch(**scores)
        self._save()

    def spend(self, whole: WholeBatch) -> None:
        """Charge the next step, and the samples that it reads, to the budget."""
        samples = len(whole.positions)
        macs = int(self._macs_per_sample * samples)
        self.budget.spend(iterations=1, macs=macs, batch_size=samples, new_in_batch=whole.num_new)
        self.budget.read(self.rows[whole.positions])

    def fail(self, error: Exception) -> None:
        """Take no further step: this call of `learn` ends with an exception, others continue."""
        self.failed = contained(explained(error))

    def failure(self) -> Exception | None:
        """Return the exception that ended this call, also if weights are no longer finite."""
        weights = self.model.parameters()
        if self.failed is None and not all(math.isfinite(float(w.sum())) for w in weights):
            self.fail(self._divergence("a weight"))
        return self.failed

    def take_slot(self, slot: Slot) -> None:
        """Train in this slot of a bank of linear probes through the whole call of `learn`.

        It is saved before the first step: a run that is resumed alone trains in the same slot.
        """
        self.slot = slot
        if slot.slots > 1:
            self._save(must=True)

    @property
    def uses_task_loss(self) -> bool:
        """Whether the loss is the task's, which can be computed for several models at once."""
        return not _overrides(self.method, "compute_loss")

    @property
    def bank_key(self) -> Hashable:
        """What runs have in common that train in one `ProbeBank`; None if this one does not.

        Methods of other packages do not: outputs of a bank are leaves of the graph, and its
        parameters are views. They may do anything that PyTorch allows.
        """
        key = bank_key(self.model) if self._parallel is None else None
        is_own = type(self.method).__module__.startswith("onward.")
        return (key, self.optimizer.is_plain_sgd) if is_own and key is not None else None

    @property
    def needs_batch(self) -> bool:
        """Whether the method computes something in each step."""
        return not self.uses_task_loss or _overrides(self.method, "on_after_backward")

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
        """Whether another one that sees the same batches will make the same updates."""
        return (
            self._recipe == other._recipe
            and self.method.is_plain_finetuning
            and other.method.is_plain_finetuning
            and (self.total, self.lr) == (other.total, other.lr)
            and self.scaler.state_dict() == other.scaler.state_dict()
            and self.method.setting.task == other.method.setting.task
            and not (self.validation.asked or other.validation.asked)
            and self.method.frozen_rows(self.model) == other.method.frozen_rows(other.model)
            and all(
                _equal(mine, others)
                for mine, others in zip(
                    (*self._tensors, self.optimizer.state()),
                    (*other._tensors, other.optimizer.state()),
                    strict=True,
                )
            )
        )

    def copy_step(self, other: "Trainer", samples: int) -> None:
        """Copy the step of another one that makes the same updates, on so many samples."""
        for mine, others in zip(self._tensors, other._tensors, strict=True):
            for name, values in others.items():
                mine[name].copy_(values)
        self.optimizer.copy_state(other.optimizer)
        if self.scaler.is_enabled():
            self.scaler.load_state_dict(other.scaler.state_dict())
        self.log.repeat(other.log, self.lr, samples)
        self.done += 1
        if self.done % self.sampler.per_epoch == 0:
            self.log.end_epoch()
        self._save()

    @property
    def _tensors(self) -> tuple[dict[str, torch.Tensor], ...]:
        """Everything that a step changes, beside the state of the optimizer."""
        average = {} if self._average is None else self._average.weights
        return self.model.state_dict(), average

    def _divergence(self, what: str) -> DivergedError:
        lr = self._recipe.lr_at(self.done, self.total, self.key[-1])
        return DivergedError(
            f"expected finite numbers, found NaN or infinity in {what} at step {self.done} of "
            f"{self.total}, at a learning rate of {lr:.3g}; training has diverged and was "
            "stopped, and the checkpoints before it are intact: lower the learning rate"
        )

    @contextlib.contextmanager
    def _seeded(self, process: int = 0) -> Iterator[None]:
        """Let torch draw, for dropout and whatever else, from the seed, the call and the step.

        So a step is the same in a call that is resumed, and beside any other runs. Processes that
        share a batch out draw different numbers for their samples.
        """
        device = self.model.device
        rng = draws(Draws.DROPOUT, *self.key, self.done)
        seed = int(rng.integers(2**63, size=process + 1)[-1])
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield

    @contextlib.contextmanager
    def _sharing(self, whole: WholeBatch) -> Iterator[None]:
        """Compute on a batch, which may be shared out among processes."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(distributed.sharing(shared=whole.shared))
            if whole.shared and self.model.uses_batch_statistics:
                stack.enter_context(SyncBatchNormMode())
            yield

    def _save(self, **options: bool) -> None:
        """Save the run where that is due; the step is done, whether or not that fails."""
        if self._parallel is not None and (self.done % _CHECKED_EVERY or self.failure()):
            return  # all processes look for NaN at the same step, and one of them saves
        try:
            self._checkpoint(**options)
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            self.fail(error)

    def _steps_affordable(self) -> int:
        """Return the recipe's number of steps, or what the budget of this call pays for."""
        limits, training = self.budget.limits, self.training
        samples = (self.batch_size + training.replay) * training.forward_passes
        macs = self.model.macs * samples + self.validation.macs / self.sampler.per_epoch
        if self._recipe.max_steps is None:
            wanted = self._epochs * -(-training.epoch // self._recipe.batch_size)
        else:
            wanted = round(self._recipe.max_steps * training.step_multiplier)
        steps_paid = int(
            min(
                min(wanted, self.sampler.within(limits.get("passes", np.inf))),
                limits.get("iterations", np.inf),
                limits.get("macs", np.inf) // macs,
            )
        )
        if steps_paid < 1:
            allowed = ", ".join(f"{name} {limit:,.15g}" for name, limit in limits.items())
            raise BudgetSpentError(
                f"the budget of one call of learn ({allowed}) does not pay for a single step "
                f"(forward passes of {samples:g} samples). Give the run a larger budget, or a "
                "smaller batch"
            )
        return steps_paid


def _overrides(method: Method, name: str) -> bool:
    return name in vars(method) or getattr(type(method), name) is not getattr(Method, name)


def _equal(mine: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> bool:
    return mine.keys() == others.keys() and all(
        values.shape == others[name].shape and torch.equal(values, others[name])
        for name, values in mine.items()
    )
