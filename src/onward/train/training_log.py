"""What is recorded of training: metrics of steps and epochs, read from the device in one go."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from onward.clocks import WAITING
from onward.results.schema import TrainingProgress
from onward.results.training import TrainingRecord

if TYPE_CHECKING:
    import torch

# Seconds between two readings of what was recorded, each of which waits for the device.
_FLUSH_SECONDS = 2.0
_MOST_ROWS = 8192
# So often the clock is read where single steps are not recorded.
_ROWS_PER_LOOK = 64
# By default a call of `learn` records at most so many of its steps.
_MOST_STEPS = 10_000


class _Row(NamedTuple):
    """A step; `recorded` has its number, the time and the gradient norm, if it is a record."""

    epoch: int
    recorded: "tuple[int, float, Any] | None"
    loss: Any
    lr: float
    logged: Mapping[str, Any]


class _EpochEnd(NamedTuple):
    """The end of an epoch: the mean of its steps is a record."""

    epoch: int
    step: int
    at: float
    values: dict[str, float]


class TrainingLog:
    """Records the training of one run, through all calls of `learn`.

    The trainer calls `step` and `end_epoch`; values stay tensors on their device until `flush`,
    every two seconds and with every checkpoint. So recording does not wait for the device.

    Parameters
    ----------
    emit
        Called with new records; without it, nothing is recorded.
    every
        Record every so many steps of a call. By default every step, or of more than 10,000 steps
        as many at equal distances; of linear probes, whose steps take a millisecond, epochs alone.
    """

    def __init__(
        self,
        emit: Callable[[Sequence[TrainingRecord]], None] | None = None,
        every: int | None = None,
    ) -> None:
        self.enabled, self._emit, self._asked = emit is not None, emit, every
        self.steps = (0, 0)
        """How many steps of the current call are done, and how many it has."""
        self._rows: list[tuple[int, int, _Row | _EpochEnd]] = []
        self._last: _Row | None = None
        # Sum and number of the finite values of each name in the steps of the current epoch.
        self._sums: dict[str, tuple[float, int]] = {}
        self._place = (0, 0)
        self._every: int | None = None
        self._open_epoch: tuple[int, int] | None = None
        self._flushed_at = self._marked = time.monotonic()
        self._waited = WAITING.seconds
        # Samples, seconds, and seconds of waiting: since the last flush, and in this epoch.
        self._window, self._epoch = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]

    def begin_call(self, period: int, call: int, before: TrainingProgress | None = None) -> None:
        """Begin a call of `learn`; `before` is what `state` returned, where it is resumed."""
        before = before or TrainingProgress()
        self._place, self._sums = (period, call), dict(before.sums)
        self._every, self._open_epoch, self.steps = None, before.open_epoch, (0, 0)
        self._epoch = [0.0, 0.0, 0.0]
        self._reset_clock()

    def begin(
        self,
        done: int,
        total: int,
        parameters: "Callable[[], Iterable[torch.Tensor]]",
        *,
        is_probe: bool,
    ) -> None:
        """Begin the steps of a call; `parameters` returns what gradients are measured of."""
        self.steps, self._parameters = (done, total), parameters
        default = None if is_probe else max(1, -(-total // _MOST_STEPS))
        self._every = default if self._asked is None else self._asked
        self._reset_clock()

    def step(
        self,
        loss: Any,
        lr: float,
        logged: Mapping[str, Any],
        *,
        samples: int,
        epoch: int,
        number: int,
    ) -> None:
        """Record a step before its optimizer step.

        Parameters
        ----------
        loss
            A number or a tensor without a graph.
        lr
            The learning rate.
        logged
            What the method has logged.
        samples
            The size of the batch.
        epoch
            The epoch that it is part of, from 0.
        number
            The number of the run's optimizer step.
        """
        if not self.enabled:
            return
        done = self.steps[0] + 1
        self.steps = (done, self.steps[1])
        recorded = None
        if self._every is not None and (done % self._every == 0 or done == self.steps[1]):
            recorded = number, time.time(), grad_norm(self._parameters())
        self._add(_Row(epoch, recorded, loss, lr, logged), samples, number)

    def repeat(self, other: "TrainingLog", *, samples: int, number: int) -> None:
        """Record the last step of another run, which this run has copied."""
        row = other._last
        if not self.enabled or row is None:
            return
        self.steps = (self.steps[0] + 1, self.steps[1])
        if row.recorded is not None:
            row = row._replace(recorded=(number, *row.recorded[1:]))
        self._add(row, samples, number)

    def end_epoch(self, number: int, **values: float) -> None:
        """Record the means of an epoch after its last step, and further values of it."""
        if not self.enabled or self._open_epoch is None:
            return
        self._mark()
        values = {**_speed(self._epoch), **values}
        row = _EpochEnd(self._open_epoch[0], number, time.time(), values)
        self._rows.append((*self._place, row))
        self._open_epoch, self._epoch = None, [0.0, 0.0, 0.0]
        self._flush_if_due()

    def end_call(self) -> None:
        """End a call of `learn`, and an epoch that was not finished."""
        if self._open_epoch is not None:
            self.end_epoch(self._open_epoch[1])
        self._last = None

    def flush(self) -> None:
        """Read what was recorded, and pass it on."""
        if self._emit is None or not self._rows:
            return
        if self._open_epoch is not None:
            self._mark()
        rows, self._rows = self._rows, []
        self._flushed_at = time.monotonic()
        values = iter(to_numbers([value for *_, row in rows for value in _values(row)]))
        found: list[TrainingRecord] = []
        for period, call, row in rows:
            if isinstance(row, _EpochEnd):
                means = {name: total / count for name, (total, count) in self._sums.items()}
                self._sums = {}
                found.append(
                    TrainingRecord(
                        kind="epoch",
                        period=period,
                        call=call,
                        epoch=row.epoch,
                        step=row.step,
                        time=round(row.at, 3),
                        values={**means, **row.values},
                    )
                )
                continue
            own = {"loss": next(values), "lr": row.lr}
            if row.recorded is not None:
                own["grad_norm"] = next(values)
            numbers = {name: next(values) for name in row.logged} | own
            for name, value in numbers.items():
                if math.isfinite(value):
                    total, count = self._sums.get(name, (0.0, 0))
                    self._sums[name] = total + value, count + 1
            if row.recorded is not None:
                finite = {name: v if math.isfinite(v) else None for name, v in numbers.items()}
                found.append(
                    TrainingRecord(
                        kind="step",
                        period=period,
                        call=call,
                        epoch=row.epoch,
                        step=row.recorded[0],
                        time=round(row.recorded[1], 3),
                        values=finite,
                    )
                )
        steps = [record for record in found if record.kind == "step"]
        if steps:
            # How fast training was since the last flush, which has waited for the device, too.
            steps[-1].values.update(_speed(self._window))
            self._window = [0.0, 0.0, 0.0]
        if found:
            self._emit(found)

    def state(self) -> TrainingProgress:
        """Return what a resumed call needs of an epoch that is not finished."""
        self.flush()
        return TrainingProgress(sums=self._sums, open_epoch=self._open_epoch)

    def _add(self, row: _Row, samples: int, number: int) -> None:
        self._rows.append((*self._place, row))
        self._last, self._open_epoch = row, (row.epoch, number)
        self._epoch[0] += samples
        self._window[0] += samples
        if row.recorded is not None or len(self._rows) % _ROWS_PER_LOOK == 0:
            self._flush_if_due()

    def _flush_if_due(self) -> None:
        due = time.monotonic() - self._flushed_at >= _FLUSH_SECONDS
        if due or len(self._rows) >= _MOST_ROWS:
            self.flush()

    def _reset_clock(self) -> None:
        self._marked, self._waited = time.monotonic(), WAITING.seconds

    def _mark(self) -> None:
        """Add the time that has passed in this call to what is measured."""
        seconds, waited = time.monotonic() - self._marked, WAITING.seconds - self._waited
        for measured in (self._window, self._epoch):
            measured[1] += seconds
            measured[2] += waited
        self._reset_clock()


def grad_norm(parameters: "Iterable[torch.Tensor]") -> Any:
    """Return the norm of all gradients together, as a tensor."""
    import torch  # loaded when it is needed

    grads = [p.grad for p in parameters if p.grad is not None and not p.grad.is_sparse]
    if not grads:
        return 0.0
    with torch.no_grad():
        return torch.stack(torch._foreach_norm(grads)).float().norm()


def to_numbers(values: Sequence[Any]) -> list[float]:
    """Return numbers and tensors of one number as floats, with one transfer from each device."""
    import torch  # loaded when it is needed

    found: list[float] = [0.0] * len(values)
    on_devices: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        if isinstance(value, torch.Tensor):
            on_devices.setdefault((value.device, value.dtype), []).append(place)
        else:
            found[place] = float(value)
    for places in on_devices.values():
        together = torch.stack([values[place].reshape(()) for place in places])
        for place, number in zip(places, together.tolist(), strict=True):
            found[place] = float(number)
    return found


def _values(row: _Row | _EpochEnd) -> list[Any]:
    """Return what has to be read of a row, in the order that `flush` takes it in."""
    if isinstance(row, _EpochEnd):
        return []
    norm = [] if row.recorded is None else [row.recorded[2]]
    return [row.loss, *norm, *row.logged.values()]


def _speed(measured: Sequence[float]) -> dict[str, float]:
    samples, seconds, waited = measured
    if seconds <= 0:
        return {}
    return {
        "samples_per_second": round(samples / seconds, 1),
        "waiting_share": round(min(waited / seconds, 1.0), 3),
    }
