"""What a run costs, and where it was made."""

import contextlib
import os
import platform
import resource
import time
from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from onward.budget import REPORTED, Budget
from onward.clocks import DEVICE, WAITING
from onward.distributed import world_size
from onward.results.schema import Cost, Environment, RunSpec


class Spent(NamedTuple):
    """Seconds: of the CPU with ended child processes, by the clock, of a device, of waiting."""

    cpu: float = 0.0
    wall: float = 0.0
    device: float = 0.0
    waiting: float = 0.0

    @staticmethod
    def now() -> "Spent":
        """Return the clocks of this process."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = time.process_time() + children.ru_utime + children.ru_stime
        return Spent(cpu, time.monotonic(), DEVICE.seconds, WAITING.seconds)

    def plus(self, share: float, since: "Spent", until: "Spent") -> "Spent":
        """Return it with a share of what has passed between two moments."""
        return Spent(*(a + share * (c - b) for a, b, c in zip(self, since, until, strict=True)))


class Meter:
    """Counts what a run costs, on top of what it had cost before it was resumed.

    Peak memory is that of the process, which may have run something larger before. Where several
    processes share the work, all of them are taken to have worked as long as this one. The time of
    data loading workers is counted when they end: a call that is interrupted loses it.

    Parameters
    ----------
    metered
        The names of `onward.budget.REPORTED` that the learner reports.
    before
        What the run had cost before it was resumed.
    peak_device_memory
        Returns the most bytes that were allocated on the device; None on the CPU.
    """

    def __init__(
        self,
        metered: Collection[str],
        before: Cost | None = None,
        peak_device_memory: Callable[[], int] | None = None,
    ) -> None:
        self._metered, self._before = metered, before or Cost()
        self._peak_device_memory = peak_device_memory
        self._share, self._spent, self._at = 0.0, Spent(), Spent.now()

    def charge(self, share: float) -> None:
        """From now on, charge the run with this share of the time that passes.

        It is 1 while the run works alone, 0 while others do, and 1/n while n of them train side by
        side, where nobody can tell whose time it is.
        """
        now = Spent.now()
        self._spent = self._spent.plus(self._share, self._at, now)
        self._share, self._at = share, now

    @property
    def spent(self) -> Spent:
        """What was spent since the run was begun or resumed."""
        self.charge(self._share)
        return self._spent

    def cost(self, budget: Budget) -> Cost:
        """Return the cost up to now."""
        before, spent = self._before, self.spent
        peak = before.peak_device_memory_bytes
        if self._peak_device_memory is not None:
            peak = max(peak or 0, self._peak_device_memory())
        has_device = before.device_seconds is not None or self._peak_device_memory is not None
        return Cost(
            cpu_seconds=before.cpu_seconds + spent.cpu * world_size(),
            wall_seconds=before.wall_seconds + spent.wall,
            device_seconds=(
                (before.device_seconds or 0.0) + spent.device * world_size() if has_device else None
            ),
            peak_device_memory_bytes=peak,
            peak_memory_bytes=max(
                before.peak_memory_bytes,
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            ),
            samples=budget.totals["samples"],
            iterations=self._if_metered("iterations", budget.totals["iterations"]),
            macs=self._if_metered("macs", budget.totals["macs"]),
            parameters=self._if_metered(
                "parameters", max(before.parameters or 0, budget.parameters)
            ),
            stored_samples=max(before.stored_samples, budget.most_stored),
            stored_bytes=max(before.stored_bytes, budget.most_stored * budget.sample_bytes),
            metered=sorted(self._metered),
        )

    def _if_metered(self, name: str, value: int) -> int | None:
        return value if name in self._metered else None


def unmetered(spec: RunSpec, cost: Cost | None) -> list[str]:
    """Return the limits of a run on what its learner did not report."""
    if cost is None:
        return []
    metered: Collection[str] | None = cost.metered
    if metered is None:
        # An older file: how large batches are was reported with each iteration.
        of_batches = ("iterations", "batch_size", "new_in_batch")
        metered = {name for name in ("macs", "parameters") if getattr(cost, name) is not None}
        metered |= set(of_batches if cost.iterations is not None else ())
    return [name for name in spec.limits if name in REPORTED and name not in metered]


def environment(
    device: str | None = None,
    device_name: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
) -> Environment:
    """Describe this machine, what is installed on it, and what a run computes on."""
    computed_on = {
        "device": device,
        "device_name": device_name,
        "workers": workers,
        "threads": threads,
        "visible_gpus": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }
    return _machine().model_copy(update=computed_on)


@cache
def _machine() -> Environment:
    return Environment(
        onward=version("onward"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpus=os.cpu_count() or 1,
        processes=world_size(),
        packages=dict(_versions()),
    )


def _versions() -> Iterator[tuple[str, str]]:
    for name in ("numpy", "pyarrow", "torch"):
        yield name, version(name)
    for name in ("timm", "torchvision"):  # which define models, where they are installed
        with contextlib.suppress(PackageNotFoundError):
            yield name, version(name)
