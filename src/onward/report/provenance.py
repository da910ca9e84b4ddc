"""Where runs come from: the data's card and the machines, as the results folder has them."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pydantic

from onward.errors import DamagedFolderError
from onward.results.read import check_mark, read_manifest
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
        """Return samples of a period side by side, as a PNG; None where they are no pictures."""
        path = self.folder / f"{period:03d}.png"
        return path.read_bytes() if path.exists() else None

    def domains(self) -> pa.Table | None:
        """Return what tells tested samples apart, by ``id``; None where nothing does."""
        path = self.folder / DOMAINS
        return pq.read_table(path) if path.exists() else None

    @property
    def hierarchy(self) -> dict[str, list[str]]:
        """The subclasses of every superclass; empty where there is no hierarchy."""
        return dict(self.numbers.get("hierarchy", {}))


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
        except pydantic.ValidationError as error:
            raise DamagedFolderError(
                f"expected the card of a stream in {stream}, found a card.json that cannot be "
                "read; move that folder away: reports do without it"
            ) from error
    return None


def environments(records: Iterable[RunRecord]) -> list[Environment]:
    """Return the different machines and versions that the runs were begun with."""
    found: list[Environment] = []
    for record in records:
        manifest = read_manifest(record.path) if record.path is not None else None
        if record.path is None or manifest is None or "env.json" not in manifest.files:
            continue
        content = check_mark(record.path, "env.json", manifest.files["env.json"])
        environment = Environment.model_validate_json(content)
        if environment not in found:
            found.append(environment)
    return found


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
