"""What annotators say, kept for good, and which of it counts.

A vote is a row that is never changed. It stands, which is to say that it counts, if its question
held one of the places that an image has, or if one is free; so no image has more votes than wanted.
A vote that finds no place, because its time was up and somebody else had been asked, is kept all
the same; it gets a place if one is given back. An answer to a gold question about an image of the
campaign is such a vote too. A later answer to the same question takes the place of the earlier one;
a repeat is another question, and never counts.
"""

from dataclasses import dataclass

from onward.curate.review.campaign import Campaign
from onward.errors import OnwardError

MOST_SECONDS = 3600.0


@dataclass(frozen=True)
class Answer:
    """What somebody says to a question.

    Parameters
    ----------
    key
        Chosen at random by who sends it: the same key is the same vote, however often it comes.
    question
        Its number.
    labels
        Concepts by their numbers, in order, as `Campaign.code` writes them.
    sensitive
        Whether the image has content that may hurt.
    seconds
        How long they looked.
    at
        When; now, by default.
    """

    key: str
    question: int
    labels: str
    sensitive: bool
    seconds: float | None
    at: int | None = None


class NotYoursError(OnwardError):
    """A question, or the key of a vote, is somebody else's."""


def keep(campaign: Campaign, annotator: int, answer: Answer) -> bool:
    """Keep a vote; return whether it is new. Inside `Campaign.writing`."""
    db = campaign.db
    before = db.execute(
        "select annotator, question from votes where key = ?", (answer.key,)
    ).fetchone()
    if before is not None:
        if before != (annotator, answer.question):
            raise NotYoursError("expected a new key for a new vote, found one that was used")
        return False
    asked = db.execute(
        "select item, held, vote from questions where question = ? and annotator = ?",
        (answer.question, annotator),
    ).fetchone()
    if asked is None:
        raise NotYoursError(f"expected a question that was asked, found {answer.question}")
    item, held, earlier = asked
    seconds = answer.seconds
    vote = db.execute(
        "insert into votes (key, question, annotator, labels, sensitive, seconds, at) "
        "values (?, ?, ?, ?, ?, ?, ?)",
        (
            answer.key,
            answer.question,
            annotator,
            answer.labels,
            answer.sensitive,
            None if seconds is None else min(max(seconds, 0.0), MOST_SECONDS),
            campaign.now() if answer.at is None else answer.at,
        ),
    ).lastrowid
    if held:
        release(campaign, answer.question)
    db.execute("update questions set vote = ? where question = ?", (vote, answer.question))
    if earlier is None:
        db.execute(
            "update annotators set answered = answered + 1 where annotator = ?", (annotator,)
        )
    _seat(campaign, item, annotator, answer.question)
    if held:
        # The place that was held may not be needed: the same person answered this before.
        _seat_waiting(campaign, item)
    return True


def release(campaign: Campaign, question: int) -> int | None:
    """Give back the place that was held for an answer; return the item, if there was one."""
    row = campaign.db.execute(
        "update items set held = held - 1 "
        "where item = (select item from questions where question = ? and held) returning item",
        (question,),
    ).fetchone()
    campaign.db.execute("update questions set held = 0 where question = ?", (question,))
    return None if row is None else int(row[0])


def release_expired(campaign: Campaign) -> None:
    """Give back the places of everybody who was asked too long ago."""
    expired = campaign.db.execute(
        "select question from questions where held and until < ?", (campaign.now(),)
    ).fetchall()
    for (question,) in expired:
        item = release(campaign, question)
        if item is not None:
            _seat_waiting(campaign, item)


def withdraw(campaign: Campaign, annotator: int) -> int:
    """Let no vote of an annotator stand, and hold no place for them; return how many stood."""
    db = campaign.db
    held = db.execute(
        "select question from questions where annotator = ? and held", (annotator,)
    ).fetchall()
    items = {release(campaign, question) for (question,) in held}
    stood = db.execute(
        "delete from standing where annotator = ? returning item", (annotator,)
    ).fetchall()
    db.executemany("update items set votes = votes - 1 where item = ?", stood)
    for item in items | {item for (item,) in stood}:
        if item is not None:
            _settle(campaign, item)
            _seat_waiting(campaign, item)
    return len(stood)


def _seat_waiting(campaign: Campaign, item: int) -> None:
    """Let those votes stand that found no place when they came."""
    waiting = campaign.db.execute(
        "select annotator, question from questions q "
        "where item = ? and vote is not null and kind != 'repeat' and not exists "
        "(select 1 from standing s where s.item = q.item and s.annotator = q.annotator) "
        "order by question",
        (item,),
    ).fetchall()
    for annotator, question in waiting:
        _seat(campaign, item, annotator, question)


def _seat(campaign: Campaign, item: int, annotator: int, question: int) -> None:
    """Let the latest answer to a question stand, if there is a place for it."""
    db = campaign.db
    stands = db.execute(
        "select question from standing where item = ? and annotator = ?", (item, annotator)
    ).fetchone()
    if stands is not None and stands[0] != question:
        return
    # A revoked annotator's votes are kept, and never stand; nor do repeats.
    if (
        stands is None
        and not db.execute(
            "update items set votes = votes + 1 where item = ?1 and votes + held < wanted "
            "and exists (select 1 from annotators where annotator = ?2 and revoked is null) "
            "and exists (select 1 from questions where question = ?3 and kind != 'repeat')",
            (item, annotator, question),
        ).rowcount
    ):
        return
    db.execute(
        "insert or replace into standing "
        "select ?1, ?2, labels, sensitive, question, vote from votes "
        "where vote = (select vote from questions where question = ?3)",
        (item, annotator, question),
    )
    _settle(campaign, item)


def _settle(campaign: Campaign, item: int) -> None:
    """Count how far the votes on an image agree, and whether all are in without a majority."""
    tally = campaign.db.execute(
        "select count(*), instr(labels, ',') = 0 from standing where item = ? group by labels",
        (item,),
    ).fetchall()
    most = max((k for k, _ in tally), default=0)
    campaign.db.execute(
        "update items set disputed = votes = wanted and votes >= 2 * ?, pairs = ?, single = ?, "
        "single_pairs = ? where item = ?",
        (
            most,
            sum(k * (k - 1) for k, _ in tally),
            sum(k for k, single in tally if single),
            sum(k * (k - 1) for k, single in tally if single),
            item,
        ),
    )
