"""What a run costs, and where it was made."""

import os
import platform
import resource
import time
from functools import cache
from importlib.metadata import version

from onward.budget import Budget
from onward.results.schema import Cost, Environment


class Meter:
    """Counts what a run costs, on top of what it had cost before it was resumed.

    Peak memory is that of the process, which may have run something larger before.
    """

    def __init__(self, before: Cost | None = None) -> None:
        self._before = before or Cost()
        self._cpu, self._wall = time.process_time(), time.monotonic()

    def cost(self, budget: Budget) -> Cost:
        """Return the cost up to now."""
        before = self._before
        return Cost(
            cpu_seconds=before.cpu_seconds + time.process_time() - self._cpu,
            wall_seconds=before.wall_seconds + time.monotonic() - self._wall,
            peak_memory_bytes=max(
                before.peak_memory_bytes,
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            ),
            samples=budget.totals["samples"],
            iterations=budget.totals["iterations"],
            macs=budget.totals["macs"],
            parameters=max(before.parameters, budget.parameters),
            stored_samples=max(before.stored_samples, budget.most_stored),
            stored_bytes=max(before.stored_bytes, budget.most_stored * budget.sample_bytes),
        )


@cache
def environment() -> Environment:
    """Describe this machine and what is installed on it."""
    return Environment(
        onward=version("onward"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpus=os.cpu_count() or 1,
        packages={name: version(name) for name in ("numpy", "pyarrow", "torch")},
    )
