"""TiC-CLIP's data in a folder, in any of the layouts in which it is released or made.

See ``docs/benchmarks/tic_data.md``. Everything that a period is made of is a row of one table,
whose wide column ``pair`` reads images and texts when they are asked for.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onward.data.bags import ZERO_SHOT, zero_shot_test
from onward.data.counts import Count
from onward.data.gaps import Flaw, Gaps
from onward.data.pair_column import CAPTION_BYTES, MIXED, ONLY_IMAGE, PAIR, WINDOW
from onward.data.pair_files import PairFiles
from onward.data.shards import Shards
from onward.data.tic_datacomp import CALENDARS, has_datacomp, read_datacomp
from onward.data.tic_joined import has_lists, read_joined
from onward.data.tic_layout import Layout, Step, Wanted, tested
from onward.data.tic_rows import TicRows
from onward.data.tic_splits import has_splits, read_splits
from onward.errors import OnwardError, first_few, unknown
from onward.seeds import Draws, draws
from onward.types import Period, Samples, Table

MOST_VALIDATION = 5_000
"""Held back at most in a period. Among so many candidates, the share of right answers is known to
less than a point, and looking at them takes as many forward passes as one batch of the paper's."""
# What pairs without classes are one of.
_ONE_CLASS = ("pair",)
_LAYOUTS = ((has_datacomp, read_datacomp), (has_splits, read_splits), (has_lists, read_joined))


@dataclass(frozen=True, eq=False)
class TicData:
    """All of it.

    Parameters
    ----------
    layout
        What was found on disk.
    table
        ``id``, ``time`` (the last day of its period; null for prompts), ``kind`` (pair, image,
        text or prompt); wide: ``pair``.
    periods
        In order of time. Tests ask images and texts for each other; there is more, ``zero_shot``,
        if images are classified. What is held back for validation is asked like the test.
    classes
        What images are classified into by prompts; none without such a test.
    files
        Where it lies.
    counts
        Numbers that the layout tells of itself, beside what was found.
    gaps
        What is missing or broken, where it was asked to go on without it.
    notes
        What else is to be told: what a list names, periods without a test, captions that are cut.
    flaws
        The broken samples and shards that were left out, see `onward.data.gaps.write_names`.
    without
        In a few words how much was left out; nothing if all is there.
    """

    layout: str
    table: Table
    periods: tuple[Period, ...]
    classes: tuple[str, ...]
    files: tuple[Path, ...]
    counts: tuple[Count, ...]
    gaps: tuple[str, ...]
    notes: tuple[str, ...]
    flaws: tuple[Flaw, ...]
    without: str


def read_tic(
    root: Path,
    *,
    side: int = 224,
    calendar: str | None = None,
    shards: str | None = None,
    images: Path | None = None,
    pool: bool = False,
    validation: float = 0.0,
    missing: str = "stop",
    leave_out: str | Path | None = None,
    window: int = WINDOW,
    mixed: int = MIXED,
    progress: Callable[[int], None] = lambda done: None,
) -> TicData:
    """Read which samples belong to which period, and make tests of them. Images stay on disk.

    Parameters
    ----------
    root
        The folder; which layout it has is seen by what is there.
    side
        Of images, in pixels.
    calendar
        TiC-DataComp: ``yearly`` or ``monthly``; by default the first that is there.
    shards
        Lists of ids: the shards of your CommonPool, a folder or patterns joined by ``::``.
    images
        Tables of paths: the folder that paths begin in.
    pool
        TiC-DataComp: whether the first year is tested with 2014, 2015 and 2016 together; by default
        with 2016 alone, and the tests of 2014 and 2015 have no part.
    validation
        The share of each period's pairs that is held back, see `MOST_VALIDATION`.
    missing
        Whether to ``stop`` at what is missing or differs from what the data says of itself, or to
        ``skip`` it and tell in `TicData.gaps`.
    leave_out
        A file that names samples and shards to leave out, as ``onward check data tic --list``
        writes it: those whose images cannot be decoded, say, which is known once all are read.
    window
        How many bytes of decoded samples are kept.
    mixed
        How many shards are read at the same time by who shuffles.
    progress
        Called with how many more shards were looked through.
    """
    if calendar is not None and calendar not in CALENDARS:
        raise unknown("calendar", calendar, CALENDARS, "docs/benchmarks/tic_data.md")
    if not 0 <= validation < 1:
        raise OnwardError(f"expected a share from 0 up to 1 for validation, found {validation}")
    gaps = Gaps(missing, None if leave_out is None else Path(leave_out).expanduser())
    found = _found(Wanted(root, gaps, calendar, shards, images, pool, progress))
    steps, untested = tested(found.steps)
    if not steps:
        raise OnwardError(
            f"expected periods both to learn and to test in {root}, found none: "
            f"{first_few(untested, '; ')}. Fetch what is missing or broken again"
        )
    rows = TicRows(found.files, found.prompts)
    classes = found.classes or _ONE_CLASS
    periods = tuple(
        _period(number, step, rows, validation, classes) for number, step in enumerate(steps)
    )
    column = rows.column(side, window, mixed)
    digest = hashlib.sha256(found.files.digest.encode())
    for part in (column.sample, column.part, column.line):
        digest.update(part.tobytes())
    digest.update("\n".join(found.prompts).encode())
    table = Table(rows.narrow(), {"pair": column}, f"{digest.hexdigest()}-{side}")
    return TicData(
        layout=found.name,
        table=table,
        periods=periods,
        classes=found.classes,
        files=_places(found.files, root),
        counts=found.counts,
        gaps=gaps.told,
        notes=(*gaps.of_list(), *found.notes, *untested, *_long_captions(found)),
        flaws=tuple(gaps.flaws),
        without=gaps.without,
    )


def is_tic(root: Path) -> bool:
    """Whether a folder has one of the layouts."""
    return root.is_dir() and any(has(root) for has, _ in _LAYOUTS)


def _found(wanted: Wanted) -> Layout:
    for has, read in _LAYOUTS:
        if has(wanted.root):
            return read(wanted)
    raise OnwardError(
        f"expected data of TiC-CLIP in {wanted.root}, found none of yearly/train/<YEAR>/*.tar, "
        "monthly/train/<YYYYMM>/*.tar (TiC-DataComp's shards), <YEAR>.npy, "
        "tic-datacomp_training_monthly/<YEAR>.tar (its lists of ids), "
        "splits/{train,test}_batch_<batch>.csv, {train,test}_batch_<batch>__<8 digits>.tar "
        "(TiC-YFCC, TiC-RedCaps). See docs/benchmarks/tic_data.md, or make a stand-in with: "
        "onward data make tic-shards --out DIR"
    )


def _period(
    number: int, step: Step, rows: TicRows, share: float, classes: tuple[str, ...]
) -> Period:
    rng = draws(Draws.HELD_OUT, number)
    held = min(int(share * len(step.train)), MOST_VALIDATION)
    apart = np.zeros(len(step.train), np.bool_)
    apart[rng.permutation(len(step.train))[:held]] = True
    more = {}
    day = step.end
    train = rows.add(step.train[~apart], PAIR, day)
    validation, test = (
        rows.retrieval(samples, day, rng) for samples in (step.train[apart], step.test)
    )
    if len(step.classified):
        seen = rows.add(step.classified, ONLY_IMAGE, day)
        more[ZERO_SHOT] = zero_shot_test(seen, step.labels, rows.prompts, rng)
    # No pair has a class of its own: prompts are asked for in tests alone.
    learned = Samples(train, np.zeros(len(train), np.int64))
    return Period(
        number, step.name, step.start, day, learned, test, classes, validation=validation, more=more
    )


def _places(files: PairFiles, root: Path) -> tuple[Path, ...]:
    """Return the folders that are read from."""
    mine = {path.parent for path in files.paths} if isinstance(files, Shards) else set()
    return (root, *sorted(path for path in mine if not path.is_relative_to(root)))


def _long_captions(layout: Layout) -> tuple[str, ...]:
    """Say once that captions are cut, if any are."""
    learned = [layout.files.text_sizes[step.train] for step in layout.steps]
    long = sum(int((sizes > CAPTION_BYTES).sum()) for sizes in learned)
    return (f"{long:,} captions have more than {CAPTION_BYTES} bytes: they are cut",) * bool(long)
