"""``onward curate filter``: named steps, each of which keeps some pairs, counted by period."""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from onward.curate.ahead import in_order
from onward.curate.engines import emptied_if_refused
from onward.curate.filters import Given, Step
from onward.curate.polars_files import read_frame
from onward.curate.pool_rows import write_dropped, write_rows
from onward.curate.records import DATED, row_files, said
from onward.curate.stage import DATED_KINDS, Stage, making, open_stage
from onward.curate.survival import bias
from onward.curate.watching import Watch, unwatched
from onward.errors import OnwardError, first_few
from onward.files import write_atomic
from onward.types import Array

PICTURE = "survival.png"
_KEPT = 255
_WRITERS, _AHEAD = 2, 4


def make_filtered(
    dated: Path,
    out: Path,
    steps: Sequence[Step],
    given: Given | None = None,
    *,
    allow_empty: bool = False,
    watch: Watch = unwatched,
) -> Mapping[str, Any]:
    """Filter dated pairs, and return what was counted.

    Rows stay where they are, in the same buckets and parts; what a step drops is written down with
    the step as its reason. ``survival.png`` has the share that is left in each period.

    Parameters
    ----------
    dated
        What ``onward curate date``, ``filter`` or ``tests`` has written.
    out
        Where to.
    steps
        What to do, in this order, see `onward.curate.filters.read_steps`.
    given
        What some steps need beside the rows.
    allow_empty
        Whether a period may lose all its pairs.
    watch
        What shows progress.
    """
    stage = open_stage(dated, *DATED_KINDS)
    given = given or Given()
    told = [{"name": step.name, **step.options} for step in steps]
    options = {"dated": stage.digest, "steps": told, "allow_empty": allow_empty, **_told(given)}
    with making(out, "filter", options) as made:
        if made.finished is not None:
            return made.finished
        for step in steps:
            step.prepare(given)
        with emptied_if_refused(out):
            return made.finish(_make(out, stage, steps, watch, allow_empty=allow_empty))


@dataclass
class _Work:
    """What became of each row so far: the number of the step that dropped it, or `_KEPT`."""

    stage: Stage
    steps: Sequence[Step]
    fates: dict[str, Array] = field(default_factory=dict)
    after: Counter[tuple[int, int]] = field(default_factory=Counter)

    def parts(self) -> list[Path]:
        """Return all parts, in their order."""
        return [path for _, path in row_files(self.stage.folder)]

    def alive(self, columns: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield what is left of each part."""
        for path in self.parts():
            rows = read_frame(path, [*dict.fromkeys(["id", *columns])])
            yield _name(path), rows.filter(self.fate(path, len(rows)) == _KEPT)

    def fate(self, path: Path, rows: int) -> Array:
        """Return what became of the rows of a part."""
        return self.fates.setdefault(_name(path), np.full(rows, _KEPT, np.uint8))

    def judge(self, path: Path, rows: pl.DataFrame, pending: Sequence[int]) -> Array:
        """Let steps look at a part, one after the other."""
        fate = self.fate(path, len(rows))
        for number in pending:
            places = np.flatnonzero(fate == _KEPT)
            held = rows if len(places) == len(rows) else rows[places]
            kept = self.steps[number].keep(_name(path), held).to_numpy()
            fate[places[~kept]] = number
            self.after[number, int(path.parent.name)] += int(kept.sum())
        return fate


def _make(
    out: Path, stage: Stage, steps: Sequence[Step], watch: Watch, *, allow_empty: bool
) -> dict[str, Any]:
    work = _Work(stage, steps)
    pending: list[int] = []
    for number, step in enumerate(steps):
        if step.learns:
            _pass(work, pending)
            pending = []
            step.learn(partial(work.alive, step.columns))
        pending.append(number)
    shutil.rmtree(out / "rows", ignore_errors=True)
    shutil.rmtree(out / "dropped", ignore_errors=True)
    ends: dict[int, tuple[datetime, datetime]] = {}

    def judged() -> Iterator[tuple[Path, pl.DataFrame, Array]]:
        for path in work.parts():
            rows = read_frame(path, DATED.names)
            yield path, rows, work.judge(path, rows, pending)

    # Steps look at one part after the other; meanwhile those before it are written.
    with watch(stage.counts["kept"], "pairs", "filtering") as done:
        write = partial(_write, out, steps)
        for (path, rows, _), times in in_order(write, judged(), _WRITERS, _AHEAD):
            if times is not None:
                bucket = int(path.parent.name)
                ends[bucket] = (ends.get(bucket, times)[0], times[1])
            done(len(rows))
    counts = _counted(work, ends)
    _nobody_left(counts, allow_empty=allow_empty)
    from onward.report.style import to_png
    from onward.report.survival_picture import survival_figure

    write_atomic(out / PICTURE, to_png(survival_figure(*shares(counts))))
    return counts


def _pass(work: _Work, pending: Sequence[int]) -> None:
    """Let steps look at everything, without writing."""
    if not pending:
        return
    columns = dict.fromkeys(["id", *(c for n in pending for c in work.steps[n].columns)])
    for path in work.parts():
        work.judge(path, read_frame(path, [*columns]), pending)


def _write(
    out: Path, steps: Sequence[Step], judged: tuple[Path, pl.DataFrame, Array]
) -> tuple[datetime, datetime] | None:
    """Write what is left of a part, and the ids and steps of the rest.

    Returns the first and the last moment of what is left.
    """
    path, rows, fate = judged
    kept = rows.filter(fate == _KEPT)
    if len(kept):
        table = kept.to_arrow(compat_level=pl.CompatLevel.oldest())
        write_rows(table.cast(DATED), out / "rows" / path.parent.name / path.name)
    lost = fate != _KEPT
    if lost.any():
        reasons = pl.Series([step.told() for step in steps]).gather(pl.Series(fate[lost]))
        write_dropped(
            rows["id"].filter(lost).to_arrow(),
            reasons.to_arrow(),
            f"{path.parent.name}/{path.name}",
            out / "dropped" / f"{path.parent.name}-{path.name}",
        )
    return (kept["time"][0], kept["time"][-1]) if len(kept) else None


def _counted(work: _Work, ends: Mapping[int, tuple[datetime, datetime]]) -> dict[str, Any]:
    before = [bucket["rows"] for bucket in work.stage.counts["buckets"]]
    names = [bucket["name"] for bucket in work.stage.counts["buckets"]]
    years = [_year(name) for name in names]
    steps: list[dict[str, Any]] = []
    left = before
    for number, step in enumerate(work.steps):
        after = [work.after[number, bucket] for bucket in range(len(before))]
        steps.append(
            {
                "name": step.told(),
                "before": left,
                "after": after,
                "bias": bias(left, after, years).as_json(),
                "notes": step.notes(),
            }
        )
        left = after
    lost: Counter[str] = Counter()
    for one in steps:
        lost[one["name"]] += sum(one["before"]) - sum(one["after"])
    buckets: list[dict[str, Any]] = [
        {"name": name, "rows": rows} for name, rows in zip(names, left, strict=True)
    ]
    for number, (first, last) in ends.items():
        buckets[number] |= {"first": said(first), "last": said(last)}
    return {
        "rows": sum(before),
        "kept": sum(left),
        "dropped": dict(sorted((+lost).items())),
        "buckets": buckets,
        "steps": steps,
        "bias": bias(before, left, years).as_json(),
    }


def shares(counts: Mapping[str, Any]) -> tuple[list[str], dict[str, list[float]]]:
    """Return the names of periods, and after each step the share of pairs that is left in each."""
    names = [bucket["name"] for bucket in counts["buckets"]]
    first = counts["steps"][0]["before"]
    found: dict[str, list[float]] = {}
    for step in counts["steps"]:
        label = step["name"]
        while label in found:
            label += " again"
        pairs = zip(first, step["after"], strict=True)
        found[label] = [after / all_ if all_ else float("nan") for all_, after in pairs]
    return names, found


def _nobody_left(counts: Mapping[str, Any], *, allow_empty: bool) -> None:
    names = [bucket["name"] for bucket in counts["buckets"]]
    for step in counts["steps"]:
        gone = [
            name
            for name, before, after in zip(names, step["before"], step["after"], strict=True)
            if before and not after
        ]
        if gone and not (allow_empty and counts["kept"]):
            some, way = ("every", ", or say --allow-empty") if counts["kept"] else ("some", "")
            raise OnwardError(
                f"expected pairs in {some} period after filtering, found none left in "
                f"{first_few(gone)} after the step {step['name']}. Loosen it{way}"
            )


def _told(given: Given) -> dict[str, Any]:
    """Return what tells what was given from something else."""
    store = None if given.store is None else open_stage(given.store, "embed").digest
    return {
        "store": store,
        "model": None if given.clip is None else dict(given.clip.identity),
        "reference": None if given.reference is None else str(given.reference),
        "images": None if given.images is None else str(given.images),
    }


def _year(name: str) -> float:
    """Return when a period is, in years: 2016, or 2016-06."""
    year, _, month = name.partition("-")
    return int(year) + (int(month) - 1) / 12 if month else int(year)


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"
