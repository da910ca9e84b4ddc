"""Which image an annotator is asked about next.

Images are asked in one order, the earliest open one first: so they are finished one after the
other, and agreement is known early. A place among an image's votes is held for whoever is asked,
for some minutes; nobody else gets it in that time.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onward.curate.review.campaign import Campaign
from onward.curate.review.voting import release_expired

AHEAD = 3
"""How many questions an annotator has at once: one is seen, the others are being loaded."""
HELD_FOR = 10 * 60 * 1_000_000
_REPEAT_AFTER = 10


@dataclass(frozen=True)
class Given:
    """A question that was answered, with the latest answer: for its author's eyes only."""

    question: int
    labels: Sequence[int]
    sensitive: bool


def questions_for(campaign: Campaign, annotator: int) -> list[int]:
    """Return the open questions of an annotator, with new ones where there are too few.

    Inside `Campaign.writing`. There are none while the campaign is paused.
    """
    release_expired(campaign)
    if campaign.setting("paused"):
        return []
    db, now = campaign.db, campaign.now()
    found = [
        row[0]
        for row in db.execute(
            "select question from questions where annotator = ? and vote is null and until >= ? "
            "order by question",
            (annotator, now),
        )
    ]
    # Who is still at it keeps the places of what is being loaded.
    db.executemany(
        "update questions set until = ? where question = ? and until < ?",
        ((now + HELD_FOR, question, now + HELD_FOR // 2) for question in found),
    )
    while len(found) < AHEAD:
        question = _ask(campaign, annotator)
        if question is None:
            break
        found.append(question)
    return found


def item_of(campaign: Campaign, annotator: int, question: int) -> int | None:
    """Return the item of a question that this annotator was asked."""
    row = campaign.db.execute(
        "select item from questions where question = ? and annotator = ?", (question, annotator)
    ).fetchone()
    return None if row is None else int(row[0])


def answered_before(campaign: Campaign, annotator: int, question: int | None) -> Given | None:
    """Return what this annotator answered last before a question, to be corrected.

    Questions are ordered by when they were asked, which is the order they are shown in.
    """
    row = campaign.db.execute(
        "select question, labels, sensitive from votes where vote = (select vote from questions "
        "where annotator = ? and vote is not null and kind != 'import' and question < ? "
        "order by question desc limit 1)",
        (annotator, question if question is not None else 1 << 62),
    ).fetchone()
    if row is None:
        return None
    return Given(row[0], [int(at) for at in row[1].split(",") if at], bool(row[2]))


def _ask(campaign: Campaign, annotator: int) -> int | None:
    """Ask one more question; none if no image is open for this annotator."""
    new = _open_item(campaign, annotator)
    if new is None:
        return None
    db = campaign.db
    (number,) = db.execute(
        "update annotators set asked = asked + 1 where annotator = ? returning asked", (annotator,)
    ).fetchone()
    chance = random.Random(f"{campaign.setting('seed')}:{annotator}:{number}")
    drawn, gold = chance.random(), campaign.setting("gold_share")
    kind, item = "new", None
    if drawn < gold:
        kind, item = "gold", _gold(campaign, annotator, chance)
    elif drawn < gold + campaign.setting("repeat_share"):
        kind, item = "repeat", _seen(campaign, annotator, chance)
    if item is None:
        kind, item = "new", new
        db.execute("update items set held = held + 1 where item = ?", (item,))
        db.execute("update annotators set cursor = ? where annotator = ?", (item, annotator))
    now = campaign.now()
    return db.execute(
        "insert into questions (annotator, item, kind, asked, until, held) "
        "values (?, ?, ?, ?, ?, ?)",
        (annotator, item, kind, now, now + HELD_FOR, kind == "new"),
    ).lastrowid


# Somebody who was asked, and whose time was up, may be asked again.
_ASKED = (
    "exists (select 1 from questions q where q.annotator = :annotator and q.item = items.item "
    "and (q.vote is not null or q.until >= :now))"
)


def _open_item(campaign: Campaign, annotator: int) -> int | None:
    db = campaign.db
    (cursor,) = db.execute(
        "select cursor from annotators where annotator = ?", (annotator,)
    ).fetchone()
    # Behind the cursor there is something only where a place was given back.
    for after in (cursor, 0) if cursor else (0,):
        row = db.execute(
            "select item from items where votes + held < wanted and item > :after "
            f"and not {_ASKED} order by item limit 1",
            {"after": after, "annotator": annotator, "now": campaign.now()},
        ).fetchone()
        if row is not None:
            return int(row[0])
    return None


def _gold(campaign: Campaign, annotator: int, chance: random.Random) -> int | None:
    """Return an image with a known answer that they have not seen."""
    return _from_somewhere(
        campaign,
        f"select item from items where gold is not null and item >= :at and not {_ASKED} "
        "order by item limit 1",
        "select min(item), max(item) from items where gold is not null",
        {"annotator": annotator, "now": campaign.now()},
        chance,
    )


def _seen(campaign: Campaign, annotator: int, chance: random.Random) -> int | None:
    """Return an image that they judged some time ago, and once."""
    db = campaign.db
    latest = db.execute(
        "select question from questions where annotator = ? and vote is not null "
        "order by question desc limit 1 offset ?",
        (annotator, _REPEAT_AFTER),
    ).fetchone()
    if latest is None:
        return None
    return _from_somewhere(
        campaign,
        "select item from questions q where annotator = :annotator and question >= :at "
        "and question <= :latest and kind = 'new' and vote is not null "
        "and not exists (select 1 from questions r where r.annotator = :annotator "
        "and r.item = q.item and r.question != q.question) order by question limit 1",
        "select min(question), :latest from questions where annotator = :annotator",
        {"annotator": annotator, "latest": latest[0]},
        chance,
    )


def _from_somewhere(
    campaign: Campaign, query: str, ends: str, given: dict[str, Any], chance: random.Random
) -> int | None:
    """Return the first that a query finds from a random place on, or from the beginning."""
    first, last = campaign.db.execute(ends, given).fetchone()
    if first is None:
        return None
    for at in (chance.randint(first, last), first):
        row = campaign.db.execute(query, {**given, "at": at}).fetchone()
        if row is not None:
            return int(row[0])
    return None
