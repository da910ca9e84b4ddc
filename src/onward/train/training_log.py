"""What is recorded of training: metrics of steps and epochs, read from the device in one go."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

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


class _Step(NamedTuple):
    """A step with more than its loss; `number` is None where it is no record of its own."""

    place: tuple[int, int]
    epoch: int
    number: int | None
    at: float
    lr: float
    loss: Any
    grad_norm: Any
    logged: Mapping[str, Any]


class _EpochEnd(NamedTuple):
    """The end of an epoch: the mean of its steps is a record."""

    place: tuple[int, int]
    epoch: int
    number: int
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
        # Of a step of which nothing is recorded but its loss, that alone.
        self._rows: list[Any] = []
        # Sum and number of the finite values of each name in the steps of the current epoch.
        self._sums: dict[str, tuple[float, int]] = {}
        self._place, self._done, self._total, self._per_epoch = (0, 0), 0, 0, 1
        self._totals: Mapping[str, int] = {"iterations": 0}
        self._every: int | None = None
        self._in_epoch, self._lr = False, 0.0
        self._last: tuple[Any, Any, Mapping[str, Any]] | None = None
        self._flushed_at = self._marked = time.monotonic()
        self._waited = WAITING.seconds
        # Samples, seconds, and seconds of waiting: since the last flush, and in this epoch.
        self._window, self._epoch = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self._samples = 0

    @property
    def steps(self) -> tuple[int, int]:
        """How many steps of the current call are done, and how many it has."""
        return self._done, self._total

    def begin_call(self, period: int, call: int, before: TrainingProgress | None = None) -> None:
        """Begin a call of `learn`; `before` is what `state` returned, where it is resumed."""
        before = before or TrainingProgress()
        self._place, self._sums = (period, call), dict(before.sums)
        self._in_epoch, self._lr = before.lr is not None, before.lr or 0.0
        self._every, self._done, self._total = None, 0, 0
        self._epoch, self._samples, self._last = [0.0, 0.0, 0.0], 0, None
        self._reset_clock()

    def begin(
        self,
        done: int,
        total: int,
        per_epoch: int,
        *,
        totals: Mapping[str, int],
        parameters: "Callable[[], Iterable[torch.Tensor]]",
        is_probe: bool,
    ) -> None:
        """Begin the steps of a call.

        Parameters
        ----------
        done, total, per_epoch
            How many steps of the call are done, how many it has, and how many an epoch has.
        totals
            What the run has spent: the number of a step is that of its iterations.
        parameters
            Returns what the norm of gradients is measured of.
        is_probe
            Whether a step takes a millisecond.
        """
        self._done, self._total, self._per_epoch = done, total, per_epoch
        self._totals, self._parameters = totals, parameters
        default = None if is_probe else max(1, -(-total // _MOST_STEPS))
        self._every = default if self._asked is None else self._asked
        self._reset_clock()

    def step(self, loss: Any, lr: float, logged: Mapping[str, Any], samples: int) -> None:
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
        """
        norm = grad_norm(self._parameters()) if self._is_recorded() else None
        self._add(loss, norm, logged, lr, samples)

    def repeat(self, other: "TrainingLog", lr: float, samples: int) -> None:
        """Record the last step of another run, which this run has copied."""
        if self.enabled and other._last is not None:
            self._add(*other._last, lr, samples)

    def end_epoch(self, **values: float) -> None:
        """Record the means of an epoch after its last step, and further values of it."""
        if not self._in_epoch:
            return
        self._mark()
        values = {"lr": self._lr, **_speed(self._epoch), **values}
        epoch, number = (self._done - 1) // self._per_epoch, self._totals["iterations"]
        self._rows.append(_EpochEnd(self._place, epoch, number, time.time(), values))
        self._in_epoch, self._epoch = False, [0.0, 0.0, 0.0]
        self._flush_if_due()

    def end_call(self) -> None:
        """End a call of `learn`, and an epoch that was not finished."""
        self.end_epoch()
        self._last = None

    def flush(self) -> None:
        """Read what was recorded, and pass it on."""
        if self._emit is None or not self._rows:
            return
        if self._in_epoch:
            self._mark()
        rows, self._rows = self._rows, []
        self._flushed_at = time.monotonic()
        values = iter(to_numbers([value for row in rows for value in _values(row)]))
        found: list[TrainingRecord] = []
        newest: TrainingRecord | None = None
        for row in rows:
            if isinstance(row, _EpochEnd):
                means = {name: total / count for name, (total, count) in self._sums.items()}
                self._sums = {}
                found.append(_record("epoch", row, row.number, means | row.values))
                continue
            numbers = {"loss": next(values)}
            if isinstance(row, _Step):
                if row.grad_norm is not None:
                    numbers["grad_norm"] = next(values)
                numbers = {name: next(values) for name in row.logged} | numbers
            for name, value in numbers.items():
                if math.isfinite(value):
                    total, count = self._sums.get(name, (0.0, 0))
                    self._sums[name] = total + value, count + 1
            if isinstance(row, _Step) and row.number is not None:
                newest = _record("step", row, row.number, numbers | {"lr": row.lr})
                found.append(newest)
        if newest is not None:
            # How fast training was since the last flush, which has waited for the device, too.
            newest.values.update(_speed(self._window))
            self._window = [0.0, 0.0, 0.0]
        if found:
            self._emit(found)

    def state(self) -> TrainingProgress:
        """Return what a resumed call needs of an epoch that is not finished."""
        self.flush()
        return TrainingProgress(sums=self._sums, lr=self._lr if self._in_epoch else None)

    def _is_recorded(self) -> bool:
        """Whether the next step is a record of its own: so is the last step of a call."""
        done, every = self._done + 1, self._every
        return every is not None and (done % every == 0 or done == self._total)

    def _add(
        self, loss: Any, norm: Any, logged: Mapping[str, Any], lr: float, samples: int
    ) -> None:
        recorded = norm is not None
        if recorded or logged:
            number = self._totals["iterations"] if recorded else None
            epoch = self._done // self._per_epoch
            row = _Step(self._place, epoch, number, time.time(), lr, loss, norm, logged)
            self._rows.append(row)
        else:
            self._rows.append(loss)
        self._last, self._lr, self._in_epoch = (loss, norm, logged), lr, True
        self._done += 1
        self._samples += samples
        if recorded or len(self._rows) % _ROWS_PER_LOOK == 0:
            self._flush_if_due()

    def _flush_if_due(self) -> None:
        due = time.monotonic() - self._flushed_at >= _FLUSH_SECONDS
        if due or len(self._rows) >= _MOST_ROWS:
            self.flush()

    def _reset_clock(self) -> None:
        self._marked, self._waited = time.monotonic(), WAITING.seconds

    def _mark(self) -> None:
        """Add the samples and the time that has passed in this call to what is measured."""
        now, waited = time.monotonic(), WAITING.seconds
        for measured in (self._window, self._epoch):
            measured[0] += self._samples
            measured[1] += now - self._marked
            measured[2] += waited - self._waited
        self._samples, self._marked, self._waited = 0, now, waited


def _record(
    kind: Literal["step", "epoch"], row: _Step | _EpochEnd, number: int, values: dict[str, float]
) -> TrainingRecord:
    period, call = row.place
    return TrainingRecord(
        kind=kind,
        period=period,
        call=call,
        epoch=row.epoch,
        step=number,
        time=round(row.at, 3),
        values={name: value if math.isfinite(value) else None for name, value in values.items()},
    )


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
        tensors = [values[place] for place in places]
        together = torch.stack([t.reshape(()) if t.ndim else t for t in tensors])
        for place, number in zip(places, together.tolist(), strict=True):
            found[place] = float(number)
    return found


def _values(row: Any) -> Sequence[Any]:
    """Return what has to be read of a row, in the order that `flush` takes it in."""
    if isinstance(row, _EpochEnd):
        return ()
    if not isinstance(row, _Step):
        return (row,)
    norm = [] if row.grad_norm is None else [row.grad_norm]
    return [row.loss, *norm, *row.logged.values()]


def _speed(measured: Sequence[float]) -> dict[str, float]:
    samples, seconds, waited = measured
    if seconds <= 0:
        return {}
    return {
        "samples_per_second": round(samples / seconds, 1),
        "waiting_share": round(min(waited / seconds, 1.0), 3),
    }
