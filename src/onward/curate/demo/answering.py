"""A real campaign, answered by annotators who are simulated: every rule of voting is the real one.

Each has a clock of their own. Whoever's is the earliest is asked next, by the functions that the
server calls for a page, and answers some seconds later. All that decides what comes next lies in
the campaign: after a kill it goes on as if nothing had happened.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from onward.curate.demo.annotators import Annotator, Picture, judged
from onward.curate.review.assign import questions_for
from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.dashboard import Overview, Row, overview
from onward.curate.review.people import revoke, somebody
from onward.curate.review.voting import Answer, keep

_BEGIN = int(datetime(2026, 1, 5, 9, tzinfo=UTC).timestamp() * 1_000_000)
_TOGETHER = 64
# Who is below this on the questions whose answer is known, beyond doubt, is shut out.
PASS_MARK = 0.75


@dataclass
class _Clock:
    """The time of the campaign, in microseconds: that of whoever is asked."""

    now: int = _BEGIN

    def __call__(self) -> int:
        return self.now


@dataclass(frozen=True)
class Given:
    """An answer of an annotator about an image, whether or not it counts."""

    annotator: str
    id: str
    labels: frozenset[str]


def answer_campaign(
    folder: Path,
    people: Sequence[Annotator],
    pictures: Mapping[str, Picture],
    *,
    seed: int = 0,
    progress: Callable[[int], None] = lambda votes: None,
) -> Overview:
    """Let annotators answer until every image has its votes; return what the owner sees then.

    When all images have been asked, the owner shuts out who is beyond doubt below `PASS_MARK` on
    the known answers; their images are asked again.

    Parameters
    ----------
    folder
        The campaign.
    people
        Who answers.
    pictures
        What the images show in truth, by id.
    seed
        Decides what is answered.
    progress
        Called with how many more votes stand.
    """
    clock = _Clock()
    with open_campaign(folder, clock=clock) as campaign:
        with campaign.writing():
            numbers = {somebody(campaign, one.name): one for one in people}
        _answer_all(campaign, clock, numbers, pictures, seed, progress)
        while poor := [row.name for row in overview(campaign).people if _too_poor(row)]:
            with campaign.writing():
                for name in poor:
                    revoke(campaign, name)
            _answer_all(campaign, clock, numbers, pictures, seed, progress)
        return overview(campaign)


def given_answers(folder: Path) -> list[Given]:
    """Return everybody's first answer to each image, also of those who were shut out."""
    with open_campaign(folder) as campaign:
        rows = campaign.db.execute(
            "select a.name, i.id, v.labels from questions q join annotators a using (annotator) "
            "join items i using (item) join votes v on v.vote = q.vote where q.kind != 'repeat' "
            "order by q.question"
        ).fetchall()
        return [Given(name, one, frozenset(campaign.labels(code))) for name, one, code in rows]


def _too_poor(row: Row) -> bool:
    return not row.revoked and row.gold.interval[1] < PASS_MARK


def _answer_all(
    campaign: Campaign,
    clock: _Clock,
    people: Mapping[int, Annotator],
    pictures: Mapping[str, Picture],
    seed: int,
    progress: Callable[[int], None],
) -> None:
    """Ask the earliest of all annotators, again and again, until nobody can be asked."""
    last = dict(
        campaign.db.execute("select annotator, max(at) from votes group by annotator").fetchall()
    )
    out = {
        number
        for (number,) in campaign.db.execute(
            "select annotator from annotators where revoked is not null"
        )
    }
    line = [(last.get(number, _BEGIN), number) for number in people if number not in out]
    heapq.heapify(line)
    stood = 0
    while line:
        with campaign.writing():
            for _ in range(_TOGETHER):
                if not line:
                    break
                at, number = heapq.heappop(line)
                clock.now = max(clock.now, at)
                asked = questions_for(campaign, number)
                if asked:
                    then = _answer(campaign, number, people[number], asked[0], pictures, seed)
                    heapq.heappush(line, (then, number))
        (standing,) = campaign.db.execute("select count(*) from standing").fetchone()
        progress(standing - stood)
        stood = standing


def _answer(
    campaign: Campaign,
    number: int,
    who: Annotator,
    question: int,
    pictures: Mapping[str, Picture],
    seed: int,
) -> int:
    """Answer a question; return when."""
    name, kind = campaign.db.execute(
        "select i.id, q.kind from questions q join items i using (item) where question = ?",
        (question,),
    ).fetchone()
    concepts = [one.name for one in campaign.concepts.found]
    times = int(kind == "repeat")
    labels, sensitive, seconds = judged(pictures[name], who, concepts, times=times, seed=seed)
    at = campaign.now() + round(seconds * 1_000_000)
    key = f"simulated-{question:012}"
    keep(campaign, number, Answer(key, question, campaign.code(labels), sensitive, seconds, at))
    return at
