"""A new campaign: items from candidates, options from concepts, gold from a file."""

import contextlib
import csv
import io
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onward.binary_files import read_parquet
from onward.curate.concepts import CONCEPTS, Concepts, read_concepts, write_concepts
from onward.curate.images import Place, find_images
from onward.curate.review.campaign import (
    FILE,
    Campaign,
    code_of,
    connect,
    on_disk,
    open_campaign,
)
from onward.curate.stage import STAGE, Stage, making, open_stage
from onward.curate.votes import labels_in
from onward.curate.written import csv_of
from onward.data.read_files import read_text
from onward.errors import OnwardError, first_few
from onward.files import file_digest, write_atomic

MISSING = "missing.csv"


@dataclass(frozen=True)
class Rules:
    """How images are asked about.

    Parameters
    ----------
    votes
        How many annotators say what they see in each image.
    gold_share
        How many of an annotator's questions have an answer that is known.
    repeat_share
        How many are about an image that the same annotator has judged before.
    seed
        Decides the order of images, and which questions are gold or repeats.
    """

    votes: int = 3
    gold_share: float = 0.05
    repeat_share: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise OnwardError(f"expected one vote per image at least, found {self.votes}")
        shares = (self.gold_share, self.repeat_share)
        if not all(0 <= share <= 0.5 for share in shares):
            raise OnwardError(
                "expected shares of gold questions and repeats between 0 and 0.5, found "
                f"{self.gold_share} and {self.repeat_share}"
            )


def campaign_for(
    retrieved: Path | None,
    images: Path | None,
    out: Path,
    given: Mapping[str, Any],
    gold: Path | None = None,
) -> None:
    """Make a campaign if there is none, or see that it is the one that is described.

    Parameters
    ----------
    retrieved, images, out, gold
        As `make_campaign` has them. What is None is as it was when the campaign was made. A folder
        of images that was moved is looked for where `images` says.
    given
        The `Rules`; None is as it was, or the default.
    """
    there = (out / STAGE).is_file()
    before = open_stage(out, "review").options if there else {}
    named = {name: before.get(name) if one is None else one for name, one in given.items()}
    rules = Rules(**{name: one for name, one in named.items() if one is not None})
    if not there:
        if retrieved is None or images is None:
            raise OnwardError(
                f"expected what to make a campaign of, as there is none in {out}: onward curate "
                "review RETRIEVED --images DIR --out CAMPAIGN"
            )
        make_campaign(retrieved, images, out, rules, gold=gold)
        return
    asked = dict(asdict(rules))
    if retrieved is not None:
        asked["retrieved"] = open_stage(retrieved, "retrieve").digest
    if gold is not None:
        asked["gold"] = file_digest(_there(gold))
    other = next((name for name, one in asked.items() if one != before[name]), None)
    if other is not None:
        what = {"retrieved": "candidates", "gold": "gold questions"}.get(other, other)
        raise OnwardError(
            f"expected the {what.replace('_', ' ')} that {out} was made with, found another. A "
            "campaign keeps its rules: choose another --out for another campaign"
        )
    if images is not None:
        with open_campaign(out) as campaign:
            _move(campaign, images)


def _move(campaign: Campaign, images: Path) -> None:
    where = str(images.absolute())
    if where == campaign.setting("images"):
        return
    (first,) = campaign.db.execute("select path from items limit 1").fetchone()
    if not (images / first).is_file():
        raise OnwardError(f"expected the images of the campaign in {images}, found no {first}")
    with campaign.writing():
        campaign.set("images", where)


def make_campaign(
    retrieved: Path,
    images: Path,
    out: Path,
    rules: Rules,
    *,
    gold: Path | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> Stage:
    """Make a campaign of all candidates whose images are there, or return the one that is.

    Parameters
    ----------
    retrieved
        What ``onward curate retrieve`` wrote.
    images
        A folder of images or of tar shards. Candidates without an image are listed in
        ``missing.csv`` and counted.
    out
        The folder of the campaign.
    rules
        How images are asked about.
    gold
        A CSV with ``id`` and ``labels`` of images whose answer is known; names are separated by
        ``|``, and none of them, or the background's, says that there is none of the concepts.
    on_wait
        Called if another process is making it, before waiting for that one.
    """
    stage = open_stage(retrieved, "retrieve")
    concepts = read_concepts(retrieved / CONCEPTS)
    known = None if gold is None else file_digest(_there(gold))
    options = {"retrieved": stage.digest, "gold": known, **asdict(rules)}
    # What is wrong with the input is said before anything is begun with it.
    found = None if (out / STAGE).is_file() else _Input.read(retrieved, images, concepts, gold)
    with making(out, "review", options, on_wait=on_wait) as made:
        if made.finished is None and found is not None:
            for path in out.glob(f"{FILE}*"):
                path.unlink()
            write_atomic(out / CONCEPTS, write_concepts(concepts))
            if found.missing:
                write_atomic(out / MISSING, csv_of([("id",), *((name,) for name in found.missing)]))
            with on_disk(out):
                _fill(Campaign(out, connect(out / FILE, make=True), concepts), found, rules)
            counts = {"concepts": len(concepts.found), "votes_per_image": rules.votes}
            made.finish({**found.counts, **counts})
    return open_stage(out, "review")


@dataclass(frozen=True)
class _Input:
    """What a campaign is made of: candidates, the codes of gold, and where their images lie."""

    folder: Path
    candidates: Mapping[str, tuple[int, str]]
    gold: Mapping[str, str]
    places: Mapping[str, Place]
    twice: int

    @property
    def missing(self) -> list[str]:
        return sorted(name for name in self.candidates if name not in self.places)

    @property
    def counts(self) -> dict[str, int]:
        missing = len(self.missing)
        return {
            "items": len(self.candidates) - missing,
            "missing_images": missing,
            "twice": self.twice,
            "gold": len(self.gold),
        }

    @staticmethod
    def read(retrieved: Path, images: Path, concepts: Concepts, gold: Path | None) -> "_Input":
        table = read_parquet(
            retrieved / "candidates.parquet", ["id", "bucket", "concept"], fix="Retrieve again"
        )
        candidates: dict[str, tuple[int, str]] = {}
        columns = (column.to_pylist() for column in table.columns)
        for name, bucket, concept in zip(*columns, strict=True):
            candidates.setdefault(name, (bucket, concept))
        known = {} if gold is None else _read_gold(concepts, gold)
        places = find_images(images, {*candidates, *known})
        twice = table.num_rows - len(candidates)
        found = _Input(images, candidates, known, places, twice)
        if len(found.missing) == len(candidates):
            raise OnwardError(
                f"expected images of the {len(candidates):,} candidates in {images}, found none "
                "of them. Images are found by the names of their files, or the ids in their shards"
            )
        lost = [name for name in known if name not in places]
        if lost:
            raise OnwardError(
                f"expected an image in {images} for each id of {gold}, found none for "
                f"{first_few(lost)}"
            )
        return found


def _there(path: Path) -> Path:
    if not path.is_file():
        raise OnwardError(f"expected a CSV of gold questions, found no file at {path}")
    return path


def _fill(campaign: Campaign, found: _Input, rules: Rules) -> None:
    names = sorted(found.places)
    random.Random(rules.seed).shuffle(names)
    rows = []
    for number, name in enumerate(names, 1):
        place = found.places[name]
        path = place.path.relative_to(found.folder).as_posix()
        wanted = rules.votes if name in found.candidates else 0
        why = found.candidates.get(name, (None, None))
        where = (path, place.kind, place.offset, place.size)
        rows.append((number, name, *why, *where, wanted, found.gold.get(name)))
    settings = {**asdict(rules), "images": str(found.folder.absolute()), "paused": False}
    with contextlib.closing(campaign.db) as db:
        with campaign.writing():
            for name, value in settings.items():
                campaign.set(name, value)
            db.executemany(
                "insert into items (item, id, bucket, concept, path, kind, offset, size, wanted, "
                "gold) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
        db.execute("analyze")
        db.execute("pragma wal_checkpoint(truncate)")


def _read_gold(concepts: Concepts, path: Path) -> dict[str, str]:
    reader = csv.DictReader(io.StringIO(read_text(path, "gold questions in", "Save it as UTF-8")))
    if not {"id", "labels"} <= set(reader.fieldnames or ()):
        raise OnwardError(
            f"expected the columns id and labels in {path}, found {reader.fieldnames}"
        )
    known: dict[str, str] = {}
    for row in reader:
        name = (row["id"] or "").strip()
        if not name or name in known:
            found = f"{name!r} twice" if name else "an empty one"
            raise OnwardError(f"expected each id once in {path}, found {found}")
        known[name] = code_of(concepts, labels_in(row["labels"]))
    return known
