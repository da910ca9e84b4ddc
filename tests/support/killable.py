"""A run to be killed: python killable.py OUT TRACE CHECKPOINT_SECONDS.

Writes (time, steps so far) to TRACE before every step, unbuffered, so that whoever kills this
process knows how far it had come.
"""

import os
import struct
import sys
import time
from typing import Any

import onward
from onward.budget import Budget

RECORD = struct.Struct("dq")


def main(out: str, trace: str, checkpoint_seconds: str) -> None:
    handle = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    spend = Budget.spend

    def traced(self: Budget, **amounts: Any) -> None:
        os.write(handle, RECORD.pack(time.monotonic(), self.totals["iterations"]))
        spend(self, **amounts)

    Budget.spend = traced  # type: ignore[method-assign]
    benchmark = onward.load("clear", data="emoji", protocol="streaming", recipe="cpu")
    onward.run(benchmark, "er", seed=0, out=out, checkpoint_seconds=float(checkpoint_seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
