"""``onward curate date``: pairs of image and caption, dated by the first snapshot that has them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from onward.curate.date_on_polars import DateOnPolars
from onward.curate.date_on_spark import DateOnSpark
from onward.curate.engines import Closing, at_work, require_engine
from onward.curate.first_seen import Part, micros_of, parts_of
from onward.curate.metadata import layout_of, metadata_files
from onward.curate.pair_reading import USUAL
from onward.curate.pool import glance
from onward.curate.reading import Piece, pieces_of
from onward.curate.records import moment_of, said
from onward.curate.snapshots import (
    Snapshots,
    find_snapshots,
    month_text,
    refuse_later_months,
)
from onward.curate.stage import making
from onward.curate.watching import Watch, unwatched
from onward.errors import OnwardError, first_few, unknown

EVERY = ("year", "month")


@dataclass(frozen=True)
class DateOptions:
    """What decides how pairs are dated.

    Parameters
    ----------
    every
        ``year`` or ``month``: a bucket for each.
    columns
        Which column of the pool is which, where that is not plain; ``none`` for one that is not to
        be used.
    snapshot_columns
        The same of the snapshots: ``url``, ``caption``, ``month``.
    """

    every: str = "year"
    columns: Mapping[str, str] = field(default_factory=dict)
    snapshot_columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.every not in EVERY:
            raise unknown("calendar", self.every, EVERY, "onward curate date --help")


class DateEngine(Closing, Protocol):
    """The steps of dating, in their order."""

    def read(self, pieces: Sequence[Piece], progress: Callable[[int], None]) -> None:
        """Read the pool."""

    def match(
        self, snapshots: Snapshots, progress: Callable[[int], None]
    ) -> dict[int | None, tuple[int, int]]:
        """Date all pairs, and return what snapshots have by month.

        That is how many rows, and how many of them not in UTF-8; None is for months that are not
        understood.
        """

    def months(self) -> dict[int, int]:
        """Count what is kept by month, as months since 1970."""

    def dropped(self) -> dict[str, int]:
        """Count what is not kept by reason."""

    def hashed(self) -> int:
        """Count what is kept without an id of its own."""

    def write(
        self, parts: Sequence[Part], rows: Path, progress: Callable[[int], None]
    ) -> list[dict[str, Any]]:
        """Write everything; return what `onward.curate.pool_rows.write_part` says of each part."""


def make_dated(
    pool: Sequence[Path],
    snapshots: Sequence[Path],
    out: Path,
    options: DateOptions | None = None,
    *,
    engine_name: str = "polars",
    master: str | None = None,
    watch: Watch = unwatched,
) -> Mapping[str, Any]:
    """Date the pairs of a pool, and return what was counted.

    A pair has the first month in which a snapshot has its very URL and caption; only then is the
    same pair of the pool dropped where it stands again. Captions are compared as they are, and
    written without HTML. An id is the pool's own, if it has 32 hexadecimal digits, else a hash of
    URL and caption.

    Parameters
    ----------
    pool
        Files of pairs, folders of them, or patterns.
    snapshots
        Files, or folders of them, whose names tell their months, see
        `onward.curate.snapshots.find_snapshots`.
    out
        Where to.
    options
        What decides how pairs are dated.
    engine_name
        ``polars`` or ``spark``: both write the same.
    master
        Where Spark is.
    watch
        What shows progress.
    """
    options = options or DateOptions()
    files = metadata_files(pool)
    needed = ("url", "caption")
    found = [(path, layout_of(path, None, options.columns, USUAL, needed)) for path in files]
    pieces, seen = pieces_of(found), find_snapshots(snapshots, options.snapshot_columns)
    if not pieces:
        raise OnwardError(f"expected pairs in {first_few(files)}, found no rows")
    sources = [
        [path.name, path.stat().st_size, glance(path)]
        for path in dict.fromkeys([*files, *(piece.source for piece in seen.pieces)])
    ]
    with making(out, "date", {**asdict(options), "sources": sources}) as made:
        if made.finished is not None:
            return made.finished
        require_engine(engine_name, "date")
        spark = engine_name == "spark"
        chosen: DateEngine = DateOnSpark(out, master) if spark else DateOnPolars(out)
        with at_work(chosen, out):
            return made.finish(_make(out, chosen, pieces, seen, options, watch))


def _make(
    out: Path,
    engine: DateEngine,
    pieces: Sequence[Piece],
    snapshots: Snapshots,
    options: DateOptions,
    watch: Watch,
) -> dict[str, Any]:
    with watch(len(pieces), "parts of the pool", "reading") as done:
        engine.read(pieces, done)
    with watch(len(snapshots.pieces), "parts of snapshots", "reading") as done:
        counted = engine.match(snapshots, done)
    if None in counted:
        raise OnwardError(
            f"expected months such as 2016-06 in the column month of the snapshots, found "
            f"{counted[None][0]:,} rows with another text. Mend them, or name files by their months"
        )
    refuse_later_months(month for month in counted if month is not None)
    months, dropped = engine.months(), engine.dropped()
    if not months:
        reasons = sorted(dropped.items(), key=lambda one: -one[1])
        why = first_few([f"{n:,} {reason}" for reason, n in reasons]) or "there are no rows"
        raise OnwardError(
            f"expected pairs that a snapshot has, found none among {sum(dropped.values()):,}: {why}"
        )
    parts, names = parts_of(months, options.every)
    with watch(sum(months.values()), "pairs", "writing") as done:
        written = engine.write(parts, out / "rows", done)
    buckets: list[dict[str, Any]] = [{"name": name, "rows": 0} for name in names]
    for part, one in zip(parts, written, strict=True):
        bucket = buckets[part.bucket]
        bucket["rows"] += one["rows"]
        bucket["last"] = said(moment_of(micros_of(part.month)))
        bucket.setdefault("first", bucket["last"])
    kept = sum(months.values())
    if sum(bucket["rows"] for bucket in buckets) != kept:
        raise OnwardError(
            f"expected {kept:,} pairs to be written, found another number. Did the pool change "
            "meanwhile? Run the same command again"
        )
    return {
        "rows": kept + sum(dropped.values()),
        "kept": kept,
        "dropped": dict(sorted(dropped.items())),
        "buckets": buckets,
        "hashed_ids": engine.hashed(),
        "snapshots": [
            {
                "month": month_text(month),
                "rows": rows,
                "undecoded": strange,
                "first_seen": months.get(month or 0, 0),
            }
            for month, (rows, strange) in sorted(counted.items(), key=lambda one: one[0] or 0)
        ],
        "snapshots_in_order": snapshots.in_order,
    }
