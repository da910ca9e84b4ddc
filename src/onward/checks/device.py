"""The check of a device: small runs on it agree with the CPU, resume, and are measured."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from onward.benchmarks import retrained
from onward.checks.device_plan import Case, cases
from onward.checks.device_runs import interrupted, largest_difference, same_bits, traced
from onward.errors import OnwardError
from onward.hardware import Hardware

TOLERANCES = {"fp32": 0.001, "fp16": 0.02, "bf16": 0.05, "fp64": 1e-6}
"""By precision: the largest difference from fp32 on the CPU, as a share of the largest output."""

# How much more than repeats a resumed run may differ, where repeats are not bit-identical.
_FACTOR = 10.0

Status = Literal["passed", "failed", "skipped"]
Resume = Literal["equal", "as repeats", "differs"]


@dataclass(frozen=True)
class DeviceRow:
    """What was found for one model and method.

    Parameters
    ----------
    model, method, data
        What was run on which tiny benchmark.
    status
        Whether it passed.
    difference
        The largest difference of outputs from those of the CPU after a few steps, as a share of the
        largest output; on the CPU itself, from those of a repeat, which must be 0.
    tolerance
        The largest `difference` that is allowed.
    resume
        Whether a run that was interrupted within a call of learn and resumed ended with ``equal``
        bytes. ``as repeats``: it did not, but uninterrupted repeats are not bit-identical either
        on this device.
    samples_per_second
        Of learning, without the first call, which includes the start of the device.
    waiting_share
        The share of that time that was spent waiting for data.
    peak_memory_bytes
        Of the device; on the CPU, of the process up to then.
    seconds
        What all runs of the row took.
    message
        Why it failed or was skipped; empty if it passed.
    """

    model: str
    method: str
    data: str
    status: Status
    difference: float | None = None
    tolerance: float | None = None
    resume: Resume | None = None
    samples_per_second: float | None = None
    waiting_share: float | None = None
    peak_memory_bytes: int | None = None
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class DeviceReport:
    """What was found on a device.

    ``device_name`` is the model of a GPU, and ``packages`` are versions.
    """

    device: str
    device_name: str | None
    precision: str
    workers: int
    threads: int
    packages: dict[str, str]
    rows: tuple[DeviceRow, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self._with("failed")

    @property
    def verdict(self) -> str:
        """The result in one or two sentences."""
        failed, skipped = len(self._with("failed")), len(self._with("skipped"))
        count = len(self.rows) - skipped
        runs = "1 row" if count == 1 else f"{count} rows"
        text = f"{failed} of {runs} failed" if failed else f"All {runs} passed"
        text += f" on {self.device_name or self.device} in {self.precision}"
        text += f", {skipped} skipped." if skipped else "."
        loose = sum(row.resume == "as repeats" for row in self.rows)
        if loose:
            text += f" Repeats of {loose} of them are not bit-identical on this device."
        return text

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "ok": self.ok, "verdict": self.verdict}

    def _with(self, status: Status) -> list[DeviceRow]:
        return [row for row in self.rows if row.status == status]


def check_device(
    device: str = "auto",
    *,
    precision: str = "fp32",
    workers: int = 0,
    threads: int = 1,
    models: Sequence[str] = (),
    methods: Sequence[str] = (),
    quick: bool = False,
    full: bool = False,
    progress: Callable[[Case], None] = lambda case: None,
    start: Callable[[int], None] = lambda count: None,
) -> DeviceReport:
    """Check that models and methods compute the same on a device as on the CPU, and resume there.

    Each row is a few small runs on a tiny benchmark. Two of a few steps, on the CPU in fp32 and on
    the device, must give the same outputs up to rounding; a longer one on the device is measured,
    and must be equal to one that is interrupted and resumed. Where the device is the CPU, a repeat
    of the longer one must be equal, too.

    Parameters
    ----------
    device, workers, threads
        See `onward.hardware.Hardware`.
    precision
        ``fp32``, ``bf16`` or ``fp16``.
    models, methods
        What to run; by default some of each kind.
    quick
        Whether to run one method for each model.
    full
        Whether to run a ResNet-18 on images of 224 x 224 pixels on the CPU too.
    progress
        Called before each row.
    start
        Called once with the number of rows.

    Examples
    --------
    >>> found = check_device("cpu", models=["linear"], methods=["finetune"])
    >>> found.verdict
    'All 1 row passed on cpu in fp32.'
    >>> found.rows[0].difference, found.rows[0].resume
    (0.0, 'equal')
    """
    from onward.models.device import device_name, require_precision, resolve_device
    from onward.results.cost import environment

    hardware = Hardware(device, workers, threads)
    found = resolve_device(device)
    if precision not in TOLERANCES:
        raise OnwardError(f"expected a precision of {', '.join(TOLERANCES)}, found {precision!r}")
    require_precision(found, precision)
    on = replace(hardware, device=str(found))
    chosen = cases(models, methods, quick=quick, large=full or found.type != "cpu")
    start(len(chosen))
    rows = []
    for case in chosen:
        progress(case)
        rows.append(_checked(case, on, precision))
    return DeviceReport(
        device=str(found),
        device_name=device_name(found),
        precision=precision,
        workers=workers,
        threads=threads,
        packages=environment().packages,
        rows=tuple(rows),
    )


def _checked(case: Case, on: Hardware, precision: str) -> DeviceRow:
    """Check one case; a failure is a row, too."""
    row = DeviceRow(case.model, case.method, case.data, "skipped")
    missing = case.missing
    if missing:
        return replace(row, message=f"{' and '.join(missing)} is not installed")
    began = time.perf_counter()
    try:
        row = _compared(case, row, on, precision)
    except Exception as error:  # noqa: BLE001 (it is reported, and the other rows are checked)
        row = replace(row, status="failed", message=_text(error))
    _release(on)
    return replace(row, seconds=time.perf_counter() - began)


def _compared(case: Case, row: DeviceRow, on: Hardware, precision: str) -> DeviceRow:
    is_cpu = on.device == "cpu"
    benchmark = replace(retrained(case.benchmark(), {"precision": precision}), hardware=on)
    run = traced(benchmark, case.method)
    resumed = interrupted(benchmark, case.method)
    tolerance = 0.0 if is_cpu else TOLERANCES[precision]
    messages = []
    resume: Resume = "equal" if same_bits(run, resumed) else "differs"
    if is_cpu or resume == "differs":
        repeat = traced(benchmark, case.method)
        is_repeated = same_bits(run, repeat)
        allowed = max(tolerance, _FACTOR * largest_difference(run, repeat))
        if is_cpu and not is_repeated:
            messages.append("expected a repeat with the same outputs and state, found others")
        elif not is_repeated and largest_difference(run, resumed) <= allowed:
            resume = "as repeats"
    if is_cpu:
        difference = largest_difference(run, repeat)
    else:
        difference = _difference_from_cpu(case, on, precision)
        if difference > tolerance:
            messages.append(
                f"expected outputs within {tolerance:g} of those of the CPU, found {difference:.2g}"
            )
    if resume == "differs":
        messages.append("expected equal bytes from a run that was interrupted, found others")
    cost, speed = run.cost, run.speed
    return replace(
        row,
        status="failed" if messages else "passed",
        difference=difference,
        tolerance=tolerance,
        resume=resume,
        samples_per_second=speed.samples_per_second,
        waiting_share=speed.waiting_share,
        peak_memory_bytes=cost.peak_memory_bytes if is_cpu else cost.peak_device_memory_bytes,
        message="; ".join(messages),
    )


def _difference_from_cpu(case: Case, on: Hardware, precision: str) -> float:
    """Return how much outputs differ after a few steps; the CPU computes in fp32."""
    short = case.short_benchmark()
    cpu = Hardware("cpu", threads=os.cpu_count() or 1)
    try:
        reference = traced(replace(short, hardware=cpu), case.method)
    except Exception as error:
        error.add_note("on the CPU")
        raise
    short = replace(retrained(short, {"precision": precision}), hardware=on)
    with _full_mantissa():
        return largest_difference(reference, traced(short, case.method))


@contextlib.contextmanager
def _full_mantissa() -> Iterator[None]:
    """Compute without TF32, which by default rounds the inputs of convolutions to 10 bits."""
    import torch

    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def _text(error: Exception) -> str:
    from onward.models.device import explained

    error = explained(error)
    lines = str(error).splitlines() or [""]
    name = "" if isinstance(error, OnwardError) else f"{type(error).__name__}: "
    where = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return f"{name}{lines[0]}{where}"


def _release(on: Hardware) -> None:
    """Give the device's memory back, so that one row does not use up that of the next."""
    if on.device.startswith("cuda"):
        import torch

        torch.cuda.empty_cache()
