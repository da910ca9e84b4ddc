"""Which GPUs there are, and which job gets which of them."""

import os
import re
from collections.abc import Sequence

from onward.errors import OnwardError
from onward.executors.executor import Request

VARIABLE = "CUDA_VISIBLE_DEVICES"
_NAME = re.compile(r"\d+|(GPU|MIG)-.+")


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, by number, UUID or MIG name.

    CUDA is not initialized by it: without ``CUDA_VISIBLE_DEVICES``, torch asks the driver's NVML.
    """
    given = os.environ.get(VARIABLE)
    if given is None:
        import torch

        return [str(number) for number in range(torch.cuda.device_count())]
    found = []
    for name in given.split(","):
        if not _NAME.fullmatch(name.strip()):
            break  # as CUDA does: what follows an invalid name is not visible
        found.append(name.strip())
    return found


class GpuSlots:
    """GPUs, and which of them have room for a job.

    Parameters
    ----------
    gpus
        Their names.
    per_job
        How many a job gets: a whole number, or a share of one such as 0.5.

    Examples
    --------
    >>> slots = GpuSlots(["0", "1"], 0.5)
    >>> slots.capacity, [slots.take() for _ in range(4)]
    (4, [('0',), ('1',), ('0',), ('1',)])
    >>> slots.give_back(("1",))
    >>> slots.take()
    ('1',)
    >>> GpuSlots(["0", "1", "2", "3", "4"], 2).capacity
    2
    """

    def __init__(self, gpus: Sequence[str], per_job: float) -> None:
        size = max(1, int(per_job))
        groups = [tuple(gpus[at : at + size]) for at in range(0, len(gpus) - size + 1, size)]
        jobs = 1 if per_job >= 1 else int(1 / per_job + 1e-9)
        self._room = dict.fromkeys(groups, jobs)
        self.capacity = jobs * len(groups)
        """How many jobs there is room for at a time."""

    def take(self) -> tuple[str, ...]:
        """Return the GPUs of the next job: those with the most room left."""
        group = max(self._room, key=self._room.__getitem__)
        if not self._room[group]:
            raise ValueError("no GPU has room for another job")
        self._room[group] -= 1
        return group

    def give_back(self, group: tuple[str, ...]) -> None:
        """Make room again where a job has ended."""
        self._room[group] += 1


def local_slots(request: Request) -> GpuSlots | None:
    """Return the places for jobs on the GPUs of this machine; None if jobs are given no GPU."""
    asked = request.gpus_per_job
    if asked == 0 or not request.any_gpu:
        return None
    gpus = visible_gpus()
    if asked is None and not gpus:
        return None
    per_job = 1 if asked is None else asked
    slots = GpuSlots(gpus, per_job)
    if not slots.capacity:
        found = f"{len(gpus)} ({', '.join(gpus)})" if gpus else "none"
        fix = f"Lower it, or check {VARIABLE}" if gpus else f"Leave it out, or check {VARIABLE}"
        raise OnwardError(
            f"expected GPUs on this machine for --gpus-per-job {per_job:g}, found {found}. {fix}"
        )
    return slots
