"""Where runs come from: the data's card and the machines, as the results folder has them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pydantic
from PIL import Image

from onward.binary_files import ARROW_ERRORS, validated
from onward.errors import DamagedFolderError, OnwardError
from onward.report.numbers import several
from onward.report.words import joined
from onward.results.record import RunRecord
from onward.results.schema import Environment
from onward.results.stream_card import DOMAINS

_DAYS_PER_YEAR = 365.25


class CardPeriod(pydantic.BaseModel):
    """One period on a stream's card."""

    name: str
    start: date | None
    end: date | None
    samples: int
    unlabelled: int = 0
    classes: dict[str, int] = {}


class StreamCard(pydantic.BaseModel):
    """What `onward.results.stream_card` wrote about the data, in a folder of its own."""

    title: str
    summary: str
    licence: str
    citation: str
    data_digest: str
    numbers: dict[str, Any] = {}
    periods: list[CardPeriod]
    pictures: tuple[str, ...] = ()
    folder: Path = pydantic.Field(default=Path(), exclude=True)

    def strip(self, period: int) -> bytes | None:
        """Return samples of a period side by side, as a PNG; None where there is none to see."""
        path = self._strip(period)
        return path.read_bytes() if path.exists() and _shows(path) else None

    def domains(self) -> pa.Table | None:
        """Return what tells tested samples apart, by ``id``; None where nothing does."""
        path = self.folder / DOMAINS
        try:
            table = validated(pq.read_table(path)) if path.exists() else None
        except ARROW_ERRORS:
            return None
        return table if table is not None and "id" in table.column_names else None

    def damaged(self) -> list[str]:
        """Name the files beside the card that are there and cannot be read."""
        paths = [self._strip(period) for period in range(len(self.periods))]
        found = [path.name for path in paths if path.exists() and not _shows(path)]
        if (self.folder / DOMAINS).exists() and self.domains() is None:
            found.append(DOMAINS)
        return found

    def _strip(self, period: int) -> Path:
        return self.folder / f"{period:03d}.png"

    @property
    def hierarchy(self) -> dict[str, list[str]]:
        """The subclasses of every superclass; empty where there is no hierarchy."""
        return dict(self.numbers.get("hierarchy", {}))


def _shows(picture: Path) -> bool:
    try:
        with Image.open(picture) as image:
            image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def stream_card(records: Iterable[RunRecord]) -> StreamCard | None:
    """Return the card of the data these runs were made on; None if no folder has one."""
    for record in records:
        if record.path is None:
            continue
        stream = record.path.parents[1] / "stream" / record.spec.stream_name
        if not (stream / "card.json").exists():
            continue
        try:
            card = StreamCard.model_validate_json((stream / "card.json").read_bytes())
            return card.model_copy(update={"folder": stream})
        except (OSError, pydantic.ValidationError) as error:
            raise DamagedFolderError(
                f"expected the card of a stream in {stream}, found a card.json that cannot be "
                "read; move that folder away: reports do without it"
            ) from error
    return None


def readable_card(records: Iterable[RunRecord]) -> StreamCard | None:
    """Return the card as `stream_card` does; None also where it is damaged."""
    try:
        return stream_card(records)
    except OnwardError:
        return None


@dataclass(frozen=True)
class Provenance:
    """Where runs come from: the card of their data, the different machines that made them.

    ``damage`` says what else the results folder should tell, but cannot be read.
    """

    card: StreamCard | None
    environments: Sequence[Environment]
    damage: Sequence[str]


def provenance(records: Sequence[RunRecord]) -> Provenance:
    """Return where complete runs of one stream come from; each file is read once."""
    card, told = None, []
    found, unread = _environments(records)
    if unread:
        told.append(f"what {several(unread, 'run')} ran on: env.json cannot be read")
    try:
        card = stream_card(records)
    except OnwardError:
        told.append("what the stream looks like: its card.json cannot be read")
    else:
        names = [] if card is None else card.damaged()
        if names:
            told.append(f"parts of the stream's card: {joined(names)} cannot be read")
    return Provenance(card, found, told)


def environments(records: Iterable[RunRecord]) -> list[Environment]:
    """Return the different machines and versions that the runs were made with.

    What cannot be read is left out: see `provenance`.
    """
    return _environments(records)[0]


def _environments(records: Iterable[RunRecord]) -> tuple[list[Environment], int]:
    """Return the different machines, and of how many runs they cannot be read."""
    found: list[Environment] = []
    unread = 0
    for record in records:
        try:
            used = [*filter(None, [record.environment]), *record.resumed]
        except OnwardError:
            unread += 1
            continue
        for environment in used:
            if environment not in found:
                found.append(environment)
    return found, unread


def years_by_distance(periods: Sequence[CardPeriod]) -> dict[int, float]:
    """Return how many years lie between two periods at each distance, on average.

    Periods need not be equally long, so a distance in periods is not one in years. Empty where
    periods have no dates.
    """
    days = [period.start.toordinal() for period in periods if period.start is not None]
    if len(days) < len(periods):
        return {}
    starts = np.array(days) / _DAYS_PER_YEAR
    apart = starts[None, :] - starts[:, None]
    return {
        distance: float(np.diagonal(apart, distance).mean())
        for distance in range(1 - len(starts), len(starts))
    }
