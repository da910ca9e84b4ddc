"""A pool on one machine: memory for a few pieces, whatever the number of rows.

Each piece becomes a run: its rows in order of time, with their hashes of ids beside them in order,
too. What belongs together is then a slice of each run. Runs are files, and stay if the process is
stopped.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa

from onward.curate import rules
from onward.curate.ahead import in_order
from onward.curate.cutting import Cut, Key
from onward.curate.engines import WORK, Tally
from onward.curate.pool_rows import write_dropped, write_part
from onward.curate.reading import Piece
from onward.curate.runs import Run, hash_ids, write_run
from onward.files import write_atomic

# Arrow and polars have threads of their own; a second piece fills the pauses of the first.
_WORKERS = 2
_HASHES = 1_000_000
_JUDGED = ("order", "id", "time", "taken", "time_unsaid", "taken_unsaid", "fault")


class OnPolars:
    """See `onward.curate.engines.Engine`."""

    def __init__(self, limits: rules.Limits, out: Path) -> None:
        self._limits, self._out = limits, out
        # What another version of polars has hashed is read again.
        self._work = out / WORK / pl.__version__
        self._runs: list[Run] = []
        self._days: Counter[int] = Counter()
        self._left_out = np.zeros(0, np.int64)

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> Tally:
        """Make a run of every piece that has none yet."""
        tally = Tally()
        for _, found in in_order(self._read, pieces, _WORKERS, _WORKERS):
            tally.add(found["counted"])
            self._days.update({int(day): rows for day, rows in found["days"].items()})
            self._runs += [Run(self._work / name) for name in found["runs"]]
            progress(1)
        return tally

    def _read(self, piece: Piece) -> dict[str, Any]:
        summary = self._work / f"{piece.name}.json"
        if summary.is_file():
            return dict(json.loads(summary.read_bytes()))
        tally: list[Any] = []
        days: Counter[int] = Counter()
        runs, dropped = [], []
        for number, table in enumerate(piece.tables()):
            frame = rules.judged(_lazy(table.select(_JUDGED)), self._limits)
            judged = nw.to_native(frame.collect())
            tally += _lists(rules.counted(_lazy(judged)))
            bad = judged.filter(pl.col("reason").is_not_null())
            if len(bad):
                dropped.append(bad.select("id", "reason").to_arrow())
            good = judged["reason"].is_null().arg_true().to_numpy()
            if len(good):
                runs.append(f"{piece.name}-{number}")
                write_run(self._work / runs[-1], table.select(rules.KEPT), good)
                by_day = _lists(rules.per_day(_lazy(pl.DataFrame(judged["time"].gather(good)))))
                days.update({row["day"]: row["rows"] for row in by_day})
        if dropped:
            table = pa.concat_tables(dropped)
            path = self._out / "dropped" / f"{piece.name}.parquet"
            write_dropped(table["id"], table["reason"], str(piece.source), path)
        found = {"counted": tally, "days": days, "runs": runs}
        write_atomic(summary, json.dumps(found).encode())
        return found

    def repeats(self) -> pa.Table:
        """Look for hashes that are there twice, and only then at ids."""
        rows = sum(len(run.times) for run in self._runs)
        bounds = np.linspace(0, 2.0**64, -(-rows // _HASHES) + 1)
        twice = [self._twice(low, high) for low, high in pairwise(bounds)]
        suspects = np.concatenate([np.zeros(0, np.uint64), *twice])
        none = pa.table({"order": pa.array([], pa.int64()), "id": pa.array([], pa.string())})
        if not len(suspects):
            return none
        held = []
        for run in self._runs:
            keys = run.read(0, len(run.times), ("order", "time", "id"))
            held.append(keys.filter(pa.array(np.isin(hash_ids(keys["id"]), suspects))))
        numbered = rules.nth_of_id(_lazy(pa.concat_tables(held)))
        again = numbered.filter(nw.col("nth") > 1).sort("order")
        found = nw.to_native(again.collect())
        for row in _lists(rules.per_day(_lazy(found))):
            self._days[row["day"]] -= row["rows"]
        self._days = +self._days
        self._left_out = found["order"].to_numpy()
        return found.select("order", "id").to_arrow().cast(none.schema)

    def _twice(self, low: float, high: float) -> Any:
        """Return the hashes of a range that several rows have."""
        parts = []
        for run in self._runs:
            hashes = run.hashes
            # The last bound is above all numbers.
            first = np.searchsorted(hashes, np.uint64(low))
            last = len(hashes) if high >= 2.0**64 else np.searchsorted(hashes, np.uint64(high))
            parts.append(np.array(hashes[first:last]))
        together = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]))
        return np.unique(together[1:][together[1:] == together[:-1]])

    def days(self) -> dict[int, int]:
        """Return what was counted while reading, without what was left out since."""
        return dict(self._days)

    def keys_of_day(self, day: int) -> Sequence[Key]:
        """Return the keys of a day out of every run."""
        first, last = day * rules.DAY, (day + 1) * rules.DAY
        rows = self._slice(first, last, ("order", "time", "id"))
        keys = rules.keys_of_day(self._keys(rows), day).sort("time", "id")
        return list(nw.to_native(keys.collect()).iter_rows())

    def _slice(self, first: int, last: int | None, columns: Iterable[str]) -> pa.Table:
        """Return the rows of a range of times, those that are left out among them."""
        found = []
        for run in self._runs:
            stop = len(run.times) if last is None else int(np.searchsorted(run.times, last))
            found.append(run.read(int(np.searchsorted(run.times, first)), stop, columns))
        return pa.concat_tables(found)

    def _keys(self, rows: pa.Table) -> rules.Frame:
        """Return the number, time and id of those rows that are not left out."""
        keys = pl.DataFrame(pl.from_arrow(rows.select(["time", "id"]))).with_row_index("row")
        if len(self._left_out):
            keys = keys.filter(~np.isin(rows["order"].to_numpy(), self._left_out))
        return _lazy(keys)

    def write(
        self, cuts: Sequence[Cut], rows: Path, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Collect each part from all runs."""
        written = []
        write = partial(self._write, folder=rows)
        parts = zip(cuts, [*(cut.start for cut in cuts[1:]), None], strict=True)
        for _, found in in_order(write, parts, _WORKERS, _WORKERS):
            written.append(found)
            progress(found["rows"])
        return written

    def _write(self, part: tuple[Cut, Key | None], folder: Path) -> dict[str, Any]:
        cut, end = part
        summary = (self._work / cut.path).with_suffix(".json")
        path = folder / cut.path
        if summary.is_file() and path.is_file():
            return dict(json.loads(summary.read_bytes()))
        rows = self._slice(cut.start[0], None if end is None else end[0] + 1, rules.KEPT)
        inside = rules.between(self._keys(rows), cut.start, end)
        chosen = nw.to_native(inside.select("row").collect())["row"].to_numpy()
        found = write_part(rows, path, chosen=chosen)
        write_atomic(summary, json.dumps(found).encode())
        return found

    def close(self) -> None:
        """Forget the runs."""
        self._runs.clear()


def _lazy(table: pa.Table | pl.DataFrame) -> rules.Frame:
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(pl.from_arrow(table))
    return nw.from_native(frame.lazy())


def _lists(frame: rules.Frame) -> list[dict[str, Any]]:
    return list(nw.to_native(frame.collect()).to_dicts())
