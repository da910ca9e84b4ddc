"""Several calls of `learn` at once: those that see the same batches read them once."""

from collections.abc import Hashable, Sequence
from typing import Any

import torch

from onward.budget import working
from onward.models.probe_bank import LossesOfHeads, ProbeBank, Slot
from onward.train.method import Batch, WholeBatch, require_scalar
from onward.train.optimizers import RowwiseSGD
from onward.train.trainer import Trainer


def train_together(trainers: Sequence[Trainer]) -> None:
    """Train every call of `learn` to its end; those that see the same batches share them.

    Which ones do is found by comparing, so no method needs to know of it.
    """
    _take_slots([trainer for trainer in trainers if trainer.has_steps])
    while waiting := [trainer for trainer in trainers if trainer.has_steps]:
        alike = [trainer for trainer in waiting if trainer.sees_same_batches(waiting[0])]
        # After an interruption some may be ahead: the others catch up with them first.
        step = min(trainer.done for trainer in alike)
        level = [trainer for trainer in alike if trainer.done == step]
        ahead = [trainer.done for trainer in alike if trainer.done > step]
        with working([trainer.budget for trainer in level]):
            if len(alike) == 1 and alike[0].bank_key is None:
                alike[0].train()
            else:
                _train_on_same_batches(level, min([trainer.total for trainer in level] + ahead))


def _train_on_same_batches(level: Sequence[Trainer], until: int) -> None:
    """Train calls that are at one step and see the same batches, up to a later step.

    It ends before that where one of them fails, which will have no steps left.
    """
    first, *others = level
    loaded = first.batches(until)
    runs = _SharedRuns(level)
    try:
        while first.done < until:
            try:
                inputs, targets, whole = next(loaded)
                first.spend(whole)
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                first.fail(error)
                return  # the others have not paid for this step yet: one of them reads the batch
            for trainer in others:
                try:
                    trainer.spend(whole)
                except Exception as error:  # noqa: BLE001 (`failure` returns it)
                    trainer.fail(error)
            if any(trainer.failed is not None for trainer in others):
                # The rest have paid for this step, and take it.
                runs.release()
                runs = _SharedRuns([each for each in level if each.failed is None])
            runs.step(inputs, targets, whole)
            if any(trainer.failed is not None for trainer in level):
                return
    finally:
        loaded.close()
        runs.release()


def _take_slots(trainers: Sequence[Trainer]) -> None:
    """Decide which linear probes train side by side through this call of `learn`.

    Runs that make the same updates share a slot. A run that is resumed keeps the slot it had.
    """
    groups: dict[Hashable, list[list[Trainer]]] = {}
    for trainer in trainers:
        if trainer.slot is None and (key := trainer.bank_key) is not None:
            known = groups.setdefault(key, [])
            group = next((g for g in known if trainer.sees_same_batches(g[0])), None)
            known.append([trainer]) if group is None else group.append(trainer)
    for group in (group for known in groups.values() for group in known):
        copies = _copies(group)
        for place, (trained, others) in enumerate(copies.items()):
            for trainer in (trained, *others):
                trainer.take_slot(Slot(place, len(copies)))


def _copies(trainers: Sequence[Trainer]) -> dict[Trainer, list[Trainer]]:
    """Return runs that differ in their updates, each with those that make the same ones."""
    found: dict[Trainer, list[Trainer]] = {}
    for trainer in trainers:
        same = (other for other in found if trainer.makes_same_updates(other))
        if (trained := next(same, None)) is None:
            found[trainer] = []
        else:
            found[trained].append(trainer)
    return found


class _SharedRuns:
    """Runs that train on the same batches.

    Several methods begin alike: of the runs that would make the same updates, one is trained and
    the others copy it. Linear probes are trained as one wide layer.
    """

    def __init__(self, level: Sequence[Trainer]) -> None:
        self._copies = _copies(level)
        # By what a bank's probes have in common: banks, each with its runs by their places.
        banks: dict[Hashable, list[dict[int, Trainer]]] = {}
        self._alone: list[Trainer] = []
        for trainer in self._copies:
            if (key := trainer.bank_key) is None:
                self._alone.append(trainer)
                continue
            slot = trainer.slot or Slot()
            known = banks.setdefault((key, slot.slots), [])
            bank = next((bank for bank in known if slot.place not in bank), None)
            if bank is None:
                known.append({slot.place: trainer})
            else:
                bank[slot.place] = trainer
        self._probes = [_ProbeRuns([*bank.values()]) for known in banks.values() for bank in known]

    def step(self, inputs: torch.Tensor, targets: torch.Tensor, whole: WholeBatch) -> None:
        """Take one step of each run; where one raises an exception, the others take theirs."""
        before = [trainer.done for trainer in self._copies]
        for group in self._probes:
            group.step(inputs, targets, whole)
        for trainer in self._alone:
            try:
                trainer.step(inputs, targets, whole)
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                trainer.fail(error)
        for done, (trainer, copies) in zip(before, self._copies.items(), strict=True):
            for copy in copies:
                if trainer.done > done:
                    try:
                        copy.copy_step(trainer, len(whole.positions))
                    except Exception as error:  # noqa: BLE001 (`failure` returns it)
                        copy.fail(error)
                else:  # a step that is the same for all of them fails for all of them
                    copy.failed = trainer.failed

    def release(self) -> None:
        """Give every model parameters of its own again."""
        for group in self._probes:
            group.bank.release()


class _ProbeRuns:
    """Runs whose models are linear probes: one bank, and one optimizer step for all of them."""

    def __init__(self, runs: Sequence[Trainer]) -> None:
        self._runs = runs
        self.bank = ProbeBank([run.model for run in runs], [run.slot or Slot() for run in runs])
        self._sgd: RowwiseSGD | None = None
        if runs[0].optimizer.is_plain_sgd:
            self._sgd = RowwiseSGD([run.optimizer for run in runs], self.bank)
        task = runs[0].method.setting.task
        self._task = task if isinstance(task, LossesOfHeads) else None
        self._with_task_loss = {n for n, run in enumerate(runs) if run.uses_task_loss}
        self._need_batch = {number for number, run in enumerate(runs) if run.needs_batch}

    def step(self, inputs: torch.Tensor, targets: torch.Tensor, whole: WholeBatch) -> None:
        """Take one step of each run."""
        num_new, rows = whole.num_new, whole.positions
        lrs = [self._lr(run) for run in self._runs]
        used = slice(num_new) if self._runs[0].training.separate_replay else slice(None)
        self.bank.forward(inputs[used])
        finished = self._task_losses(targets[used])
        losses = dict(finished)
        logged: dict[int, dict[str, Any]] = {}
        changed: list[tuple[Trainer, Batch]] = []
        for number, run in enumerate(self._runs):
            if run.failed or (number in finished and number not in self._need_batch):
                continue
            try:
                outputs = self.bank.outputs(number)
                batch = Batch(run.model, inputs, outputs, targets, num_new, rows, lrs[number])
                if number not in finished:
                    with torch.enable_grad():
                        loss = require_scalar(run.method.compute_loss(batch))
                    if run.check_finite(loss):
                        self.bank.backward(number, loss)
                    losses[number] = loss.detach()
                logged[number] = batch.logged
                changed.append((run, batch))
            except Exception as error:  # noqa: BLE001 (`failure` returns it)
                run.fail(error)
        self.bank.finish_backward()
        for run, batch in changed:
            if run.failed is None:
                try:
                    run.after_backward(batch)
                except Exception as error:  # noqa: BLE001 (`failure` returns it)
                    run.fail(error)
        for number, run in enumerate(self._runs):
            if run.failed is None:
                run.record(losses[number], lrs[number], logged.get(number, {}), len(rows))
        self._update(lrs)

    def _lr(self, run: Trainer) -> float:
        """Return the learning rate of a run's next step; 0 if the method raises an exception."""
        try:
            return run.lr
        except Exception as error:  # noqa: BLE001 (`failure` returns it)
            run.fail(error)
            return 0.0

    def _task_losses(self, targets: torch.Tensor) -> dict[int, torch.Tensor]:
        """Compute losses and gradients of runs with the task's loss; return the losses by run."""
        if self._task is None or not self._with_task_loss:
            return {}
        try:
            losses = self.bank.backward_of_heads(self._task, targets)
        except Exception:  # noqa: BLE001 (each run then meets the error by itself)
            return {}
        for number in self._with_task_loss:
            if self._runs[number].failed is None:
                self._runs[number].check_finite(losses[number])
        return {number: losses[number] for number in self._with_task_loss}

    def _update(self, lrs: Sequence[float]) -> None:
        """Take the optimizer steps of all runs that have not failed."""
        if self._sgd is not None:
            self._sgd.step(lrs, self._need_batch)
        for run, lr in zip(self._runs, lrs, strict=True):
            if run.failed is None:
                try:
                    if self._sgd is None:
                        run.optimizer.step(lr)
                    run.finish_step()
                except Exception as error:  # noqa: BLE001 (`failure` returns it)
                    run.fail(error)
