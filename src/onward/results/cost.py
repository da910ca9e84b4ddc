"""What a run costs, and where it was made."""

import contextlib
import os
import platform
import resource
import time
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from onward.budget import REPORTED, Budget
from onward.crew import crew
from onward.results.schema import Cost, Environment, RunSpec


class Meter:
    """Counts what a run costs, on top of what it had cost before it was resumed.

    Peak memory is that of the process, which may have run something larger before. Where several
    processes share the work, all of them are taken to have worked as long as this one.

    Parameters
    ----------
    metered
        The names of `onward.budget.REPORTED` that the learner reports.
    before
        What the run had cost before it was resumed.
    """

    def __init__(self, metered: Collection[str], before: Cost | None = None) -> None:
        self._metered, self._before = metered, before or Cost()
        self._share = self._cpu = self._wall = 0.0
        self._at = time.process_time(), time.monotonic()

    def charge(self, share: float) -> None:
        """From now on, charge the run with this share of the time that passes.

        It is 1 while the run works alone, 0 while others do, and 1/n while n of them train side by
        side, where nobody can tell whose time it is.
        """
        now = time.process_time(), time.monotonic()
        self._cpu += self._share * (now[0] - self._at[0])
        self._wall += self._share * (now[1] - self._at[1])
        self._share, self._at = share, now

    def cost(self, budget: Budget) -> Cost:
        """Return the cost up to now."""
        self.charge(self._share)
        before = self._before
        return Cost(
            cpu_seconds=before.cpu_seconds + self._cpu * crew().size,
            wall_seconds=before.wall_seconds + self._wall,
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


@cache
def environment() -> Environment:
    """Describe this machine and what is installed on it."""
    return Environment(
        onward=version("onward"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpus=os.cpu_count() or 1,
        processes=crew().size,
        packages=dict(_versions()),
    )


def _versions() -> Iterator[tuple[str, str]]:
    for name in ("numpy", "pyarrow", "torch"):
        yield name, version(name)
    for name in ("timm", "torchvision"):  # which define models, where they are installed
        with contextlib.suppress(PackageNotFoundError):
            yield name, version(name)
