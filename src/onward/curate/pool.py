"""``onward curate pool``: valid rows of metadata, in order of time, in buckets."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from onward.curate import rules
from onward.curate.cutting import EVERY, Cut, calendar_sizes, cuts, equal_sizes
from onward.curate.engines import Engine, Tally, at_work, require_engine
from onward.curate.metadata import FORMATS, layout_of, metadata_files
from onward.curate.on_polars import OnPolars
from onward.curate.on_spark import OnSpark
from onward.curate.pool_rows import write_dropped
from onward.curate.reading import Piece, pieces_of
from onward.curate.records import moment_of, said
from onward.curate.stage import BEGUN, making
from onward.curate.watching import Watch, unwatched
from onward.errors import OnwardError, first_few, unknown

_ENDS = 1 << 16


@dataclass(frozen=True)
class PoolOptions:
    """What decides what is in a pool.

    Parameters
    ----------
    buckets
        How many buckets of the same size; or None, with `every`.
    every
        ``year``, ``quarter`` or ``month``.
    columns
        Which column of the metadata is which of a pool's, where that is not plain; ``none`` for one
        that is not to be used.
    format
        One of `onward.curate.metadata.FORMATS`; None to see for oneself.
    earliest
        The first day that is taken for real, as 2004-01-01; None refuses 1970 and nothing else.
    latest
        The last day that is taken for real; None is the moment at which the pool was begun.
    day_first
        Whether 03/04/2020 is in April.
    """

    buckets: int | None = None
    every: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    earliest: str | None = None
    latest: str | None = None
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if (self.buckets is None) == (self.every is None):
            raise OnwardError(
                "expected either a number of equal buckets or a calendar, found "
                f"{'neither' if self.buckets is None else 'both'}. Say --buckets 11 or --every year"
            )
        if self.buckets is not None and self.buckets < 1:
            raise OnwardError(f"expected at least one bucket, found {self.buckets}")
        if self.every is not None and self.every not in EVERY:
            raise unknown("calendar", self.every, EVERY, "onward curate pool --help")
        if self.format is not None and self.format not in FORMATS:
            raise unknown("format", self.format, FORMATS, "onward curate pool --help")


def make_pool(
    meta: Sequence[Path],
    out: Path,
    options: PoolOptions,
    *,
    engine_name: str = "polars",
    master: str | None = None,
    watch: Watch = unwatched,
) -> Mapping[str, Any]:
    """Make a pool, or go on with one; return what was counted.

    Parameters
    ----------
    meta
        Files of metadata, folders of them, or patterns.
    out
        Where to.
    options
        What decides what is in it.
    engine_name
        One of `onward.curate.engines.ENGINES`: both write the same.
    master
        Where Spark is, such as ``local[2]`` or ``spark://host:7077``.
    watch
        What shows progress.
    """
    earliest, latest = _moment(options.earliest), _moment(options.latest, whole_day=True)
    files = metadata_files(meta)
    found = [(path, layout_of(path, options.format, options.columns)) for path in files]
    pieces = pieces_of(found, day_first=options.day_first)
    sources = [[path.name, path.stat().st_size, glance(path)] for path, _ in found]
    with making(out, "pool", {**asdict(options), "sources": sources}) as made:
        if made.finished is not None:
            return made.finished
        if latest is None:
            # The moment at which this was begun, however often it goes on.
            begun = (out / BEGUN).stat().st_mtime
            latest = int(begun * 1e6)
        captured = any("taken" in layout.chosen for _, layout in found)
        limits = rules.Limits(latest, earliest, captured)
        require_engine(engine_name, "pool")
        spark = engine_name == "spark"
        chosen: Engine = OnSpark(limits, out, master) if spark else OnPolars(limits, out)
        with at_work(chosen, out):
            counts = _make(out, chosen, pieces, options, limits, watch)
            return made.finish(counts)


def _make(
    out: Path,
    engine: Engine,
    pieces: Sequence[Piece],
    options: PoolOptions,
    limits: rules.Limits,
    watch: Watch,
) -> dict[str, Any]:
    with watch(len(pieces), "parts of metadata", "reading") as done:
        tally = engine.read(pieces, done)
    _understood(tally, pieces, limits)
    again = engine.repeats()
    _write_repeats(again, pieces, out)
    days = engine.days()
    names: Sequence[str | None]
    kept = sum(days.values())
    if not kept:
        raise OnwardError(
            f"expected valid rows, found none among {tally.rows:,}: "
            + first_few([f"{count:,} {reason}" for reason, count in tally.dropped.most_common()])
        )
    if options.every is None:
        sizes = equal_sizes(kept, options.buckets or 1)
        names = [None] * len(sizes)
    else:
        sizes, names = calendar_sizes(days, options.every)
    parts = cuts(sizes, days, engine.keys_of_day)
    with watch(kept, "rows", "writing") as done:
        written = engine.write(parts, out / "rows", done)
    wrong = [part for part, one in zip(parts, written, strict=True) if part.rows != one["rows"]]
    if wrong:
        raise OnwardError(
            f"expected {wrong[0].rows:,} rows in {wrong[0].path}, found another number. Did the "
            "metadata change meanwhile? Run the same command again"
        )
    tally.dropped[rules.SEEN] += len(again)
    return {
        "rows": tally.rows,
        "kept": kept,
        "dropped": dict(sorted((+tally.dropped).items())),
        "buckets": _buckets(parts, written, names),
    }


def _understood(tally: Tally, pieces: Sequence[Piece], limits: rules.Limits) -> None:
    """Refuse a column of which nothing was understood: it is not the one that was meant."""
    if not tally.rows:
        raise OnwardError(f"expected rows in {pieces[0].source}, found none")
    wanted = [("time", tally.times)] + [("taken", tally.takens)] * limits.captured
    for name, understood in wanted:
        if not understood:
            layout = next(piece.layout for piece in pieces if name in piece.layout.chosen)
            raise OnwardError(
                f"expected times in column {layout.chosen[name]!r}, found none that is understood "
                f"in {tally.rows:,} rows. There are the columns {', '.join(layout.names)}: name "
                f"another one with --{name}-column"
            )


def _write_repeats(again: Any, pieces: Sequence[Piece], out: Path) -> None:
    numbers = again["order"].to_numpy() >> rules.ROW_BITS
    for number in np.unique(numbers).tolist():
        first, last = np.searchsorted(numbers, [number, number + 1])
        rows = again.slice(first, last - first)
        path = out / "dropped" / f"{pieces[number].name}-again.parquet"
        reasons = [rules.SEEN] * len(rows)
        write_dropped(rows["id"], reasons, str(pieces[number].source), path)


def _buckets(
    parts: Sequence[Cut], written: Sequence[Mapping[str, Any]], names: Sequence[str | None]
) -> list[dict[str, Any]]:
    buckets: list[dict[str, Any]] = []
    for part, one in zip(parts, written, strict=True):
        if part.bucket == len(buckets):
            name = names[part.bucket]
            buckets.append({} if name is None else {"name": name})
            buckets[-1] |= {"first": said(moment_of(one["first"])), "rows": 0}
        buckets[-1]["last"] = said(moment_of(one["last"]))
        buckets[-1]["rows"] += one["rows"]
    return buckets


def _moment(day: str | None, *, whole_day: bool = False) -> int | None:
    """Return when a day begins, or its last moment."""
    if day is None:
        return None
    try:
        found = date.fromisoformat(day)
    except ValueError as error:
        raise OnwardError(f"expected a day such as 2004-01-01, found {day!r}") from error
    begin = (found - date(1970, 1, 1)).days * rules.DAY
    return begin + rules.DAY - 1 if whole_day else begin


def glance(path: Path) -> str:
    """Return a hash of how a file begins and ends: tens of gigabytes are not read twice."""
    with path.open("rb") as file:
        ends = file.read(_ENDS)
        file.seek(max(path.stat().st_size - _ENDS, 0))
        ends += file.read(_ENDS)
    return hashlib.sha256(ends).hexdigest()[:16]
