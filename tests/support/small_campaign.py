"""A small campaign: what retrieval would have written, with an image for each candidate."""

import asyncio
import atexit
import contextlib
import io
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from onward.curate.concepts import Concept, Concepts, write_concepts
from onward.curate.records import CANDIDATES
from onward.curate.review.app import make_app
from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.exchange import import_file
from onward.curate.review.making import Rules, make_campaign
from onward.curate.review.people import annotator_of, invite
from onward.curate.stage import making

ADDRESS = "http://127.0.0.1:8000"
OWNER = "the-owners-token"
CONCEPTS = ("computer", "camera", "bus")


def import_votes(folder: Path, votes: pa.Table) -> dict[str, int]:
    """Add votes to a campaign by way of a file."""
    pq.write_table(votes, folder / "given.parquet")
    return import_file(folder, folder / "given.parquet")


def png(seed: int, size: int = 8) -> bytes:
    """Return an image of noise."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size, size, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "png")
    return out.getvalue()


def retrieved(
    folder: Path,
    items: int,
    concepts: Sequence[Concept] = tuple(map(Concept, CONCEPTS, [()] * 3)),
) -> tuple[Path, Path]:
    """Write candidates and their images; return where both are."""
    out, images = folder / "retrieved", folder / "images"
    images.mkdir(parents=True)
    with making(out, "retrieve", {"items": items}) as made:
        names = [concept.name for concept in concepts]
        rows = [
            {
                "bucket": at % 2,
                "concept": names[at % len(names)],
                "rank": at,
                "id": f"photo-{at}",
                "score": 1 - at / (items + 1),
            }
            for at in range(items)
        ]
        table = pa.Table.from_pylist(rows, schema=CANDIDATES)
        pq.write_table(table, out / "candidates.parquet")
        (out / "concepts.json").write_bytes(write_concepts(Concepts(tuple(concepts))))
        made.finish({"candidates": items})
    for at in range(items):
        (images / f"photo-{at}.png").write_bytes(png(at))
    return out, images


def campaign_folder(folder: Path, items: int = 6, gold: str | None = None, **rules: Any) -> Path:
    """Return a new campaign's folder. No gold and no repeats unless they are asked for."""
    defaults = {"gold_share": 0.0, "repeat_share": 0.0}
    like = _campaign(items, gold, Rules(**defaults | rules))
    return Path(shutil.copytree(like, folder / "campaign"))


@cache
def _campaign(items: int, gold: str | None, rules: Rules) -> Path:
    """Make a campaign once for all tests that begin with one like it."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    found, images = retrieved(folder, items)
    known = None
    if gold is not None:
        known = folder / "gold.csv"
        known.write_text(gold)
    return make_campaign(found, images, folder / "campaign", rules, gold=known).folder


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.time = 1_700_000_000_000_000

    def __call__(self) -> int:
        return self.time


def newcomer(campaign: Campaign, name: str) -> int:
    """Invite somebody; return their number."""
    found = annotator_of(campaign, invite(campaign, name))
    assert found is not None
    return found.number


class Browser:
    """What an annotator's browser does, against the real application."""

    def __init__(self, app: Any, token: str, role: str = "annotator") -> None:
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ADDRESS)
        self._path = f"/join/{token}" if role == "annotator" else f"/owner/join/{token}"
        self._page = "/" if role == "annotator" else "/owner"
        self.csrf = ""

    async def open(self) -> httpx.Response:
        joined = await self.client.get(self._path)
        if joined.status_code != 200:
            return joined
        page = await self.client.get(self._page)
        self.csrf = page.text.partition('name="csrf" content="')[2].partition('"')[0]
        return page

    async def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        sent = {"x-csrf-token": self.csrf, **headers}
        return await self.client.post(path, json=body if body is not None else {}, headers=sent)

    async def answer(self, key: str, question: int, labels: Sequence[int] = (0,)) -> httpx.Response:
        vote = {"key": key.rjust(16, "0"), "question": question, "labels": list(labels)}
        return await self.post("/api/answer", {**vote, "sensitive": False, "seconds": 1.5})


def invited(folder: Path, *names: str) -> list[str]:
    """Invite people; return their tokens."""
    with open_campaign(folder) as campaign, campaign.writing():
        return [invite(campaign, name) for name in names]


def read(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Ask the file itself."""
    with open_campaign(folder) as campaign:
        return campaign.db.execute(query).fetchall()


@contextlib.asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Any]:
    app = make_app(folder, ADDRESS, OWNER)
    async with app.app.router.lifespan_context(app.app):  # type: ignore[attr-defined]
        yield app


def with_app(folder: Path, story: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    async def told() -> None:
        async with served(folder) as app:
            await story(app)

    asyncio.run(told())
