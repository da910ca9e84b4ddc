"""What carries the rows of a pool: one machine with polars, or a cluster with Spark."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from onward.curate.cutting import Cut, Key
from onward.curate.reading import Piece
from onward.curate.stage import BEGUN
from onward.errors import OnwardError, unknown
from onward.extras import need

ENGINES = ("polars", "spark")
WORK = ".work"
"""A folder of an engine's own, below the pool, until the pool is finished."""


@dataclass
class Tally:
    """How many rows were read, why some of them are dropped, and how many moments understood."""

    dropped: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    times: int = 0
    takens: int = 0

    def add(self, counted: Sequence[Mapping[str, Any]]) -> None:
        """Add what `onward.curate.rules.counted` found."""
        for row in counted:
            self.rows += row["rows"]
            self.times += row["times"]
            self.takens += row["takens"]
            if row["reason"] is not None:
                self.dropped[row["reason"]] += row["rows"]


class Closing(Protocol):
    """What works below `WORK` and lets go of everything in the end."""

    def close(self) -> None:
        """Let go of everything; what is below `WORK` stays for the next time."""


class Engine(Closing, Protocol):
    """The steps of a pool, in their order."""

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> Tally:
        """Read and judge all rows, write down those that are dropped, and keep the others."""

    def repeats(self) -> pa.Table:
        """Leave out all rows of an id but one; return ``order`` and ``id`` of what is left out."""

    def days(self) -> dict[int, int]:
        """Count the rows that are left by day."""

    def keys_of_day(self, day: int) -> Sequence[Key]:
        """Return (time, id) of a day's rows, in order."""

    def write(
        self, cuts: Sequence[Cut], rows: Path, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Write each part; return what `onward.curate.pool_rows.write_part` says of each."""


@contextlib.contextmanager
def emptied_if_refused(out: Path) -> Iterator[None]:
    """Leave a folder as empty as it was if other data or options turn out to be needed.

    These make another folder, which may be this one.
    """
    try:
        yield
    except OnwardError:
        for name in ("dropped", "rows", WORK):
            shutil.rmtree(out / name, ignore_errors=True)
        (out / BEGUN).unlink()
        raise


@contextlib.contextmanager
def at_work(engine: Closing, out: Path) -> Iterator[None]:
    """Have an engine write below `out`; what is below `WORK` stays if the process is stopped."""
    with emptied_if_refused(out), contextlib.closing(engine):
        yield
    shutil.rmtree(out / WORK, ignore_errors=True)


def require_engine(name: str, verb: str) -> None:
    """Say that there is no such engine, or that Spark is missing."""
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES, f"onward curate {verb} --help")
    if name == "spark":
        need("pyspark", "which carries a pool on a cluster", "curate,spark")
