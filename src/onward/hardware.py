"""What a run computes on: settings that do not belong to its spec, and are recorded beside it."""

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from onward.errors import OnwardError

_DEVICE = re.compile(r"[a-z]+(:\d+)?")


@dataclass(frozen=True)
class Hardware:
    """Device, data loading processes and threads of a run.

    Parameters
    ----------
    device
        ``auto`` takes a GPU where there is one; ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    workers
        How many processes read and augment batches ahead of training; 0 does it in the training
        process. Any number gives the same results, bit for bit.
    threads
        How many threads each process computes on. Another number may change the last bits.
    """

    device: str = "auto"
    workers: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.device, str) or not _DEVICE.fullmatch(self.device):
            raise OnwardError(
                f"expected the device auto, cpu, cuda, cuda:NUMBER or mps, found {self.device!r}"
            )
        for name, least in (("workers", 0), ("threads", 1)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise OnwardError(
                    f"expected {name} as a whole number of at least {least}, found {value!r}"
                )


ANY_HARDWARE = Hardware()
"""The best device that there is, without workers, on one thread."""
_CURRENT: ContextVar[Hardware] = ContextVar("hardware", default=ANY_HARDWARE)


@contextlib.contextmanager
def preparing_on(hardware: Hardware) -> Iterator[None]:
    """Let inputs be prepared on this hardware."""
    token = _CURRENT.set(hardware)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def preparation_hardware() -> Hardware:
    """Return the hardware that inputs are prepared on: that of their benchmark."""
    return _CURRENT.get()
