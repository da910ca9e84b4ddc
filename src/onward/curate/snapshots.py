"""Dated snapshots of the web: which files there are, and of which month each is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from onward.curate.metadata import layout_of, metadata_files
from onward.curate.reading import Piece, pieces_of
from onward.errors import OnwardError, first_few

_WEEK = re.compile(r"CC-MAIN-(\d{4})-(\d{2})(?!\d)")
_MONTH = re.compile(r"(?<!\d)((?:19|20)\d{2})[-_]?(0[1-9]|1[0-2])(?!\d)")
_USUAL = {
    "url": ("url", "URL"),
    "caption": ("caption", "text", "TEXT", "alt", "description"),
    "month": ("month",),
}


@dataclass(frozen=True)
class Snapshots:
    """All snapshots: pieces of their files, each with its month, and whether names were in order.

    A month is the number of months since 1970, and None where each row has its own.
    """

    pieces: Sequence[Piece]
    months: Sequence[int | None]
    in_order: bool


def month_of(name: str) -> int | None:
    """Return the month that a name tells, or None.

    Common Crawl counts weeks; the month is that of the week's first day.

    Examples
    --------
    >>> [month_text(month_of(name)) for name in ("2016-06.parquet", "CC-MAIN-2016-26", "x_201712")]
    ['2016-06', '2016-06', '2017-12']
    >>> month_of("part-00001.parquet") is None
    True
    """
    week = _WEEK.search(name)
    if week:
        try:
            day = date.fromisocalendar(int(week[1]), int(week[2]), 1)
        except ValueError:
            return None
        return _number(day.year, day.month)
    found = _MONTH.findall(name)
    return _number(*map(int, found[-1])) if len(set(found)) == 1 else None


def month_text(month: int | None) -> str:
    """Return a month as it is written: 2016-06."""
    return "" if month is None else str(np.datetime64(month, "M"))


def find_snapshots(given: Sequence[Path], columns: Mapping[str, str]) -> Snapshots:
    """Return the snapshots that were meant, the earliest first.

    Parameters
    ----------
    given
        Files, or folders of them; the name of a file, or of the folder it is in, tells the month.
        Several files of one month are parts of one snapshot.
    columns
        Which column has the ``url``, the ``caption`` and the ``month``, where that is not plain.
    """
    dated: list[tuple[int, Path]] = []
    undated: list[Path] = []
    for path in given:
        for file in _files(path):
            month = month_of(file.name)
            if month is None:
                month = month_of(file.parent.name)
            if month is None:
                undated.append(file)
            else:
                dated.append((month, file))
    if dated and undated:
        raise OnwardError(
            f"expected the month of every snapshot in its name, found none in {undated[0].name}, "
            f"unlike {dated[0][1].name}. Name it as 2016-06.parquet"
        )
    refuse_later_months(month for month, _ in dated)
    needed = ("url", "caption") if dated else ("url", "caption", "month")
    held: list[tuple[int | None, Path]] = [*sorted(dated), *((None, path) for path in undated)]
    found = []
    for _, path in held:
        try:
            found.append((path, layout_of(path, "table", columns, _USUAL, needed)))
        except OnwardError as error:
            if "month" in str(error) and "month" in needed:
                raise OnwardError(
                    f"expected the month of a snapshot in the name of {path}, or in a column "
                    "month, found neither. Name it as 2016-06.parquet"
                ) from error
            raise
    pieces = pieces_of(found)
    if not pieces:
        raise OnwardError(f"expected rows in snapshots, found none in {first_few(given)}")
    by_path = {path: month for month, path in held}
    months = [by_path[piece.source] for piece in pieces]
    return Snapshots(
        pieces, months, in_order=[p for _, p in dated] == [p for _, p in sorted(dated)]
    )


def refuse_later_months(months: Iterable[int]) -> None:
    """Refuse snapshots of a month that is yet to come."""
    today = date.today()
    late = sorted({month for month in months if month > _number(today.year, today.month)})
    if late:
        raise OnwardError(
            f"expected snapshots of the past, found {first_few([month_text(m) for m in late])}. "
            "Is that a month?"
        )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return metadata_files([path])
    inside = sorted(p for p in path.iterdir() if p.name[0] not in "._")
    files = [file for p in inside for file in ([p] if p.is_file() else metadata_files([p]))]
    if not files:
        raise OnwardError(f"expected snapshots in {path}, found an empty folder")
    return files


def _number(year: int, month: int) -> int:
    return (year - 1970) * 12 + month - 1
