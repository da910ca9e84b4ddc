"""Processes that work on one run together, each on its share of every batch.

They are started by ``torchrun``, which tells each its number. All of them make the same run with
the same seed, so they are always at the same place of it; only the samples are shared out. The
first one writes the run's folder and speaks for all.
"""

import functools
import os
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from onward.errors import DivergedError, OnwardError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
# A process waits for the first one while that waits for a folder that somebody else works in.
_PATIENCE = timedelta(days=1)
_TO_MEET = timedelta(minutes=15)


class CrewLostError(OnwardError):
    """Another process of the crew has ended."""


class Crew:
    """A process that works alone: it has all samples, and there is nobody to tell."""

    rank = 0
    size = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes and speaks."""
        return self.rank == 0

    def share(self, samples: int) -> slice:
        """Return which of so many samples are this process's; of fewer than processes, all are."""
        if samples < self.size:
            return slice(0, samples)
        ends = [samples * rank // self.size for rank in (self.rank, self.rank + 1)]
        return slice(*ends)

    def gather(self, mine: "Tensor", samples: int) -> "Tensor":
        """Return the rows of all samples, given those of this process's share."""
        return mine

    def add_up(self, mine: "Tensor", samples: int) -> "Tensor":
        """Return the sum over all samples, given that over this process's share."""
        return mine

    def tell(self, found: Callable[[], T]) -> T:
        """Return what the first process finds, which alone looks for it."""
        return found()

    def require_alike(self, number: float) -> None:
        """Raise unless all processes have found the same."""
        if self.tell(lambda: number) != number:
            raise OnwardError(
                "expected all processes to have learned the same weights, found others here. They "
                "need the same versions of everything, and processors of the same kind"
            )

    def first_to_fail(self) -> bool:
        """Whether no other process has failed before: its message is the one to show."""
        return True


class Helpers(Crew):
    """One process of several, which have found each other.

    Parameters
    ----------
    store
        Where they find each other.
    rank, size
        Its number, and how many there are.
    """

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self._store, self.rank, self.size = store, rank, size

    def gather(self, mine: "Tensor", samples: int) -> "Tensor":
        """Return the rows of all samples, given those of this process's share."""
        import torch
        from torch import distributed

        if samples < self.size:
            return mine
        # All send as many rows as the largest share has.
        room = mine.new_zeros(-(-samples // self.size), *mine.shape[1:])
        room[: len(mine)] = mine
        theirs = [torch.empty_like(room) for _ in range(self.size)]
        self._together(lambda: distributed.all_gather(theirs, room))
        ends = [samples * rank // self.size for rank in range(self.size + 1)]
        return torch.cat([rows[: ends[r + 1] - ends[r]] for r, rows in enumerate(theirs)])

    def add_up(self, mine: "Tensor", samples: int) -> "Tensor":
        """Return the sum over all samples, given that over this process's share."""
        from torch import distributed

        if samples < self.size:
            return mine
        total = mine.clone()
        self._together(lambda: distributed.all_reduce(total))
        return total

    def tell(self, found: Callable[[], T]) -> T:
        """Return what the first process finds; what it raises for a user, all raise."""
        from torch import distributed

        message: list[Any] = [None, None]
        if self.leads:
            try:
                message[0] = found()
            except OnwardError as error:
                message[1] = error
        self._together(lambda: distributed.broadcast_object_list(message))
        if message[1] is not None:
            raise message[1]
        told: T = message[0]
        return told

    def first_to_fail(self) -> bool:
        """Whether no other process has failed before."""
        try:
            first = self._store.compare_set("onward/failed", "", str(self.rank))
        except RuntimeError:  # where they found each other is gone: somebody has ended everything
            return self.leads
        return bool(first == str(self.rank).encode())

    def _together(self, work: Callable[[], object]) -> None:
        try:
            work()
        except RuntimeError as error:
            raise CrewLostError(
                "expected all processes of this run to go on together, and one has ended. Its own "
                "message says why; if there is none, it was killed (out of memory?). Run the same "
                "command again: it goes on where it stopped"
            ) from error


@functools.cache
def crew() -> Crew:
    """Return the crew that this process was started in: by torchrun, or alone."""
    size = os.environ.get("WORLD_SIZE", "1")
    if size == "1" or "RANK" not in os.environ:
        return Crew()
    import torch
    from torch import distributed
    from torch.distributed.rendezvous import rendezvous

    # Objects travel between processors, tensors between whatever has made them.
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        store, rank, count = next(rendezvous("env://", timeout=_TO_MEET))
        distributed.init_process_group(
            backend, store=store, rank=rank, world_size=count, timeout=_PATIENCE
        )
    except (RuntimeError, ValueError) as error:
        raise OnwardError(
            f"expected to find the {size} processes of this run (WORLD_SIZE and RANK are set), and "
            f"did not: {error}. Start all of them with torchrun, or unset these variables"
        ) from error
    return Helpers(store, rank, count)


def contained(error: Exception) -> Exception:
    """Return the exception of one of several runs, which the others are to survive.

    With several processes it is raised instead: they must stay at the same place of the same run,
    and only divergence is sure to be found by all of them at the same step.
    """
    if crew().size > 1 and not isinstance(error, DivergedError):
        raise error
    return error


def leave() -> None:
    """Part from the others, once all work is done."""
    if crew().size > 1:
        from torch import distributed

        distributed.destroy_process_group()
