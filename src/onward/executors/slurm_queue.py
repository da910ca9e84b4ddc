"""Slurm's queue: which jobs have left it, and which will never start.

``squeue`` is asked and not ``sacct``, which many clusters do without.
"""

import subprocess
import time
from collections.abc import Collection

from onward.errors import OnwardError

_SECONDS = 10.0
# A result may be visible on this machine later than the end of its job: file systems have caches.
_TIMES_AWAY = 4
_NEVER = (
    "AccountNotAllowed",
    "BadConstraints",
    "InvalidAccount",
    "InvalidQOS",
    "PartitionConfig",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "QOSMaxWallDurationPerJobLimit",
    "QOSNotAllowed",
)
"""Why a job waits without end."""


class SlurmQueue:
    """What the queue says of some jobs; it is asked every ten seconds."""

    def __init__(self) -> None:
        self._asked = time.monotonic()
        self._away: dict[str, int] = {}

    def lost(self, jobs: Collection[str]) -> set[str]:
        """Return the jobs that have ended; raise if one will never start."""
        if time.monotonic() - self._asked < _SECONDS:
            return set()
        self._asked = time.monotonic()
        reasons = _reasons()
        if reasons is None:
            return set()
        for job in jobs:
            self._away[job] = 0 if job in reasons else self._away.get(job, 0) + 1
            if reasons.get(job) in _NEVER:
                raise OnwardError(
                    f"expected Slurm to run the job {job} at some time, found that it never will "
                    f"({reasons[job]}). Change the options of --slurm, such as time or partition"
                )
        return {job for job in jobs if self._away[job] >= _TIMES_AWAY}


def _reasons() -> dict[str, str] | None:
    """Return the jobs of this user and why each waits; None if the queue does not answer."""
    command = ["squeue", "--me", "--noheader", "--array", "--format=%i|%r"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return dict(line.strip().split("|", 1) for line in done.stdout.splitlines() if "|" in line)


def cancel(jobs: Collection[str]) -> None:
    """Take jobs out of the queue, and end those that run.

    They are killed: submitit ignores the signal by which ``scancel`` asks a job to end, and Slurm
    would wait for half a minute.
    """
    arrays = sorted({job.split("_")[0] for job in jobs})
    if arrays:
        for words in (["--state=PENDING"], ["--signal=KILL"]):
            subprocess.run(["scancel", *words, *arrays], capture_output=True, check=False)
