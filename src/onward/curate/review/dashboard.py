"""What the owner of a campaign sees: how far it is, how well people agree, who answers how."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from onward.curate.review.agreement import alpha_of_sets, alpha_of_single
from onward.curate.review.campaign import Campaign

_HOUR = 3_600_000_000
_MOST_DISPUTED = 24
_Z = 1.959964


@dataclass(frozen=True)
class Row:
    """An annotator: answers, how many of the known ones are right and of the repeats the same."""

    name: str
    revoked: bool
    answered: int
    standing: int
    seconds: float | None
    gold: "Share"
    same: "Share"


@dataclass(frozen=True)
class Share:
    """So many of so many, with Wilson's 95 % interval."""

    good: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper end; everything where there is nothing."""
        if not self.of:
            return 0.0, 1.0
        share, noise = self.good / self.of, _Z * _Z / self.of
        middle = (share + noise / 2) / (1 + noise)
        half = math.sqrt(share * (1 - share) * noise + noise * noise / 4) / (1 + noise)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Disputed:
    """An image on which no majority agrees: what it was found for, and the answers to it."""

    item: int
    id: str
    concept: str
    answers: Sequence[Sequence[str]]


def counts(campaign: Campaign) -> dict[str, Any]:
    """Return how far a campaign is."""
    db = campaign.db
    items, complete, votes, wanted, disputed = db.execute(
        "select count(*), total(votes = wanted), total(votes), total(wanted), total(disputed) "
        "from items where wanted"
    ).fetchone()
    (kept,) = db.execute("select count(*) from votes").fetchone()
    (sensitive,) = db.execute(
        "select count(distinct item) from standing where sensitive"
    ).fetchone()
    return {
        "items": items,
        "complete": int(complete),
        "votes": int(votes),
        "wanted": int(wanted),
        "kept": kept,
        "disputed": int(disputed),
        "sensitive": sensitive,
        "paused": campaign.setting("paused"),
    }


@dataclass(frozen=True)
class Overview:
    """All of it, at one moment."""

    counts: Mapping[str, Any]
    per_hour: float
    hours_left: float | None
    alpha_single: float
    alpha_sets: float
    people: Sequence[Row]
    disputed: Sequence[Disputed]

    def plain(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def overview(campaign: Campaign) -> Overview:
    """Look at everything, at one moment of the campaign."""
    campaign.db.execute("begin")
    try:
        found = counts(campaign)
        pace = _per_hour(campaign)
        left = found["wanted"] - found["votes"]
        return Overview(
            counts=found,
            per_hour=pace,
            hours_left=left / pace if pace else None,
            alpha_single=alpha_of_single(campaign),
            alpha_sets=alpha_of_sets(campaign),
            people=_people(campaign),
            disputed=_disputed(campaign),
        )
    finally:
        campaign.db.execute("rollback")


def _per_hour(campaign: Campaign) -> float:
    """Return the pace of the last hour, or since the first vote in it."""
    now = campaign.now()
    first, votes = campaign.db.execute(
        "select min(at), count(*) from votes where at > ?", (now - _HOUR,)
    ).fetchone()
    # The first minute says little: it is taken for whole.
    return 0.0 if not votes else votes * _HOUR / max(now - first, _HOUR / 60)


def _people(campaign: Campaign) -> list[Row]:
    db = campaign.db
    gold = _shares(
        campaign,
        # From the few images whose answer is known, in this order, to what was said about them.
        "select q.annotator, sum(v.labels = i.gold), count(*) from items i indexed by gold_items "
        "cross join questions q on q.item = i.item and q.kind in ('new', 'gold') "
        "cross join votes v on v.vote = q.vote where i.gold is not null group by q.annotator",
    )
    same = _shares(
        campaign,
        "select r.annotator, sum(v.labels = w.labels), count(*) from questions r "
        "join questions q on q.annotator = r.annotator and q.item = r.item and q.kind = 'new' "
        "join votes v on v.vote = q.vote join votes w on w.vote = r.vote "
        "where r.kind = 'repeat' group by r.annotator",
    )
    standing = dict(
        db.execute("select annotator, count(*) from standing group by annotator").fetchall()
    )
    none = Share(0, 0)
    return [
        Row(
            name,
            bool(revoked),
            answered,
            standing.get(number, 0),
            _median_seconds(campaign, number),
            gold.get(number, none),
            same.get(number, none),
        )
        for number, name, revoked, answered in db.execute(
            "select annotator, name, revoked is not null, answered from annotators "
            "order by answered desc, name"
        ).fetchall()
    ]


def _shares(campaign: Campaign, query: str) -> dict[int, Share]:
    return {who: Share(good, of) for who, good, of in campaign.db.execute(query).fetchall()}


def _median_seconds(campaign: Campaign, annotator: int) -> float | None:
    row = campaign.db.execute(
        "select seconds from votes where annotator = ?1 and seconds is not null order by seconds "
        "limit 1 offset (select count(*) / 2 from votes where annotator = ?1 "
        "and seconds is not null)",
        (annotator,),
    ).fetchone()
    return None if row is None else float(row[0])


def _disputed(campaign: Campaign) -> list[Disputed]:
    rows = campaign.db.execute(
        "select item, id, concept from items where disputed order by item limit ?",
        (_MOST_DISPUTED,),
    ).fetchall()
    return [
        Disputed(
            item,
            name,
            concept,
            [
                campaign.labels(code)
                for (code,) in campaign.db.execute(
                    "select labels from standing where item = ? order by annotator", (item,)
                )
            ],
        )
        for item, name, concept in rows
    ]
