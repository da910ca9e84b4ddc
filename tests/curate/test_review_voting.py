"""Which image is asked, and which votes count."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_campaign import Clock, campaign_folder, newcomer, png, retrieved

from onward.curate.review.assign import AHEAD, HELD_FOR, answered_before, questions_for
from onward.curate.review.campaign import Campaign, open_campaign
from onward.curate.review.making import Rules, make_campaign
from onward.curate.review.people import revoke
from onward.curate.review.voting import Answer, NotYoursError, keep


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def campaign(tmp_path: Path, clock: Clock) -> Iterator[Campaign]:
    with open_campaign(campaign_folder(tmp_path, votes=2), clock=clock) as found, found.writing():
        yield found


_keys = iter(range(10**9))


def vote(campaign: Campaign, annotator: int, question: int, labels: str = "0") -> bool:
    key = f"key-{next(_keys):016}"
    return keep(campaign, annotator, Answer(key, question, labels, sensitive=False, seconds=1.0))


def item(campaign: Campaign, question: int) -> int:
    row = campaign.db.execute("select item from questions where question = ?", (question,))
    return int(row.fetchone()[0])


def counted(campaign: Campaign) -> list[int]:
    return [row[0] for row in campaign.db.execute("select votes from items order by item")]


def test_an_annotator_sees_each_image_once_and_the_campaign_ends(campaign: Campaign) -> None:
    ann = newcomer(campaign, "Ann")
    seen = []
    while questions := questions_for(campaign, ann):
        seen.append(item(campaign, questions[0]))
        vote(campaign, ann, questions[0])
    assert seen == [1, 2, 3, 4, 5, 6]
    assert counted(campaign) == [1] * 6
    ben = newcomer(campaign, "Ben")
    while questions := questions_for(campaign, ben):
        vote(campaign, ben, questions[0])
    assert counted(campaign) == [2] * 6
    assert questions_for(campaign, newcomer(campaign, "Cem")) == []


def test_questions_are_the_same_until_they_are_answered(campaign: Campaign) -> None:
    ann = newcomer(campaign, "Ann")
    first = questions_for(campaign, ann)
    assert len(first) == AHEAD
    assert questions_for(campaign, ann) == first
    vote(campaign, ann, first[1])
    after = questions_for(campaign, ann)
    assert after[:2] == [first[0], first[2]]
    assert len(after) == AHEAD


def test_places_are_held_and_given_back(campaign: Campaign, clock: Clock) -> None:
    people = [newcomer(campaign, name) for name in ("Ann", "Ben", "Cem", "Dee")]
    asked = [[item(campaign, one) for one in questions_for(campaign, who)] for who in people]
    assert asked == [[1, 2, 3], [1, 2, 3], [4, 5, 6], [4, 5, 6]]
    late = newcomer(campaign, "Eve")
    assert questions_for(campaign, late) == []
    clock.time += HELD_FOR + 1
    assert [item(campaign, one) for one in questions_for(campaign, late)] == [1, 2, 3]


def test_who_is_still_there_keeps_their_places(campaign: Campaign, clock: Clock) -> None:
    ann, ben = newcomer(campaign, "Ann"), newcomer(campaign, "Ben")
    mine = questions_for(campaign, ann)
    for _ in range(5):
        clock.time += HELD_FOR * 2 // 3
        assert questions_for(campaign, ann) == mine
    questions_for(campaign, ben)
    assert campaign.db.execute("select held from items order by item").fetchall()[:3] == [(2,)] * 3


def test_a_late_vote_counts_only_while_there_is_a_place(campaign: Campaign, clock: Clock) -> None:
    people = [newcomer(campaign, name) for name in ("Ann", "Ben", "Cem")]
    asked = [questions_for(campaign, who) for who in people[:2]]
    clock.time += HELD_FOR + 1
    # Both were away. Cem is asked about the first image, and one place is left.
    third = questions_for(campaign, people[2])
    assert item(campaign, third[0]) == item(campaign, asked[0][0]) == item(campaign, asked[1][0])
    assert vote(campaign, people[0], asked[0][0])
    assert vote(campaign, people[1], asked[1][0])  # kept ...
    assert vote(campaign, people[2], third[0])
    assert counted(campaign)[0] == 2  # ... and not counted: the other place was Cem's
    standing = campaign.db.execute("select annotator from standing order by annotator").fetchall()
    assert standing == [(people[0],), (people[2],)]
    assert campaign.db.execute("select count(*) from votes").fetchone() == (3,)


def test_a_place_held_for_somebody_who_answered_before_goes_to_who_waits(
    campaign: Campaign, clock: Clock
) -> None:
    ann, ben = newcomer(campaign, "Ann"), newcomer(campaign, "Ben")
    late, waiting = questions_for(campaign, ann)[0], questions_for(campaign, ben)[0]
    clock.time += HELD_FOR + 1
    *others, again = questions_for(campaign, ann)
    while item(campaign, again) != item(campaign, late):
        vote(campaign, ann, others[0])
        *others, again = questions_for(campaign, ann)
    vote(campaign, ann, late)
    vote(campaign, ben, waiting)
    assert counted(campaign)[0] == 1
    vote(campaign, ann, again)
    assert counted(campaign)[0] == 2


def test_a_correction_takes_the_place_of_the_vote(campaign: Campaign) -> None:
    ann = newcomer(campaign, "Ann")
    (question, *_) = questions_for(campaign, ann)
    vote(campaign, ann, question, "0")
    vote(campaign, ann, question, "1,2")
    assert campaign.db.execute("select labels from standing").fetchall() == [("1,2",)]
    assert counted(campaign)[0] == 1
    assert campaign.db.execute("select labels from votes").fetchall() == [("0",), ("1,2",)]
    assert campaign.db.execute("select answered from annotators").fetchone() == (1,)


def test_a_key_is_one_vote(campaign: Campaign) -> None:
    ann, ben = newcomer(campaign, "Ann"), newcomer(campaign, "Ben")
    first, second, _ = questions_for(campaign, ann)
    answer = Answer("k" * 16, first, "0", sensitive=False, seconds=1.0)
    assert keep(campaign, ann, answer)
    assert not keep(campaign, ann, answer)
    assert campaign.db.execute("select count(*) from votes").fetchone() == (1,)
    with pytest.raises(NotYoursError, match="used"):
        keep(campaign, ann, Answer("k" * 16, second, "0", sensitive=False, seconds=1.0))
    with pytest.raises(NotYoursError, match="asked"):
        vote(campaign, ben, second)


def test_what_is_committed_survives_a_power_cut(campaign: Campaign) -> None:
    # No test can pull the plug; these two are what SQLite asks for.
    settings = [campaign.db.execute(f"pragma {name}").fetchone()[0] for name in _DURABLE]
    assert settings == list(_DURABLE.values())


_DURABLE = {"journal_mode": "wal", "synchronous": 2}


def test_votes_are_neither_changed_nor_removed(campaign: Campaign) -> None:
    ann = newcomer(campaign, "Ann")
    vote(campaign, ann, questions_for(campaign, ann)[0])
    for sentence in ("update votes set labels = ''", "delete from votes"):
        with pytest.raises(sqlite3.IntegrityError, match="votes are not"):
            campaign.db.execute(sentence)


def test_a_revoked_annotators_images_are_asked_again(campaign: Campaign) -> None:
    ann, ben, cem = (newcomer(campaign, name) for name in ("Ann", "Ben", "Cem"))
    for who in (ann, ben):
        while questions := questions_for(campaign, who):
            vote(campaign, who, questions[0])
    assert questions_for(campaign, cem) == []
    assert revoke(campaign, "Ann") == 6
    assert counted(campaign) == [1] * 6
    late = campaign.db.execute("select question from questions where annotator = ?", (ann,))
    vote(campaign, ann, late.fetchone()[0])  # on its way when the door was shut
    assert counted(campaign) == [1] * 6
    while questions := questions_for(campaign, cem):
        vote(campaign, cem, questions[0])
    assert counted(campaign) == [2] * 6
    assert revoke(campaign, "Ann") == 0


def test_revoking_gives_back_what_was_held(campaign: Campaign) -> None:
    ann = newcomer(campaign, "Ann")
    questions_for(campaign, ann)
    revoke(campaign, "Ann")
    assert campaign.db.execute("select sum(held) from items").fetchone() == (0,)


def test_nothing_is_asked_while_paused_and_answers_are_kept(campaign: Campaign) -> None:
    ann = newcomer(campaign, "Ann")
    mine = questions_for(campaign, ann)
    campaign.set("paused", value=True)
    assert questions_for(campaign, ann) == []
    assert vote(campaign, ann, mine[0])
    campaign.set("paused", value=False)
    assert questions_for(campaign, ann)[:2] == mine[1:]


def test_what_was_answered_before(campaign: Campaign) -> None:
    ann, ben = newcomer(campaign, "Ann"), newcomer(campaign, "Ben")
    assert answered_before(campaign, ann, None) is None
    first, second, third = questions_for(campaign, ann)
    vote(campaign, ann, first, "0,2")
    vote(campaign, ann, second, "")
    found = answered_before(campaign, ann, third)
    assert found is not None
    assert (found.question, list(found.labels)) == (second, [])
    found = answered_before(campaign, ann, second)
    assert found is not None
    assert (found.question, list(found.labels)) == (first, [0, 2])
    assert answered_before(campaign, ann, first) is None
    assert answered_before(campaign, ben, third) is None


def test_disputes_are_noted_when_all_votes_are_in(tmp_path: Path) -> None:
    with open_campaign(campaign_folder(tmp_path, items=2)) as campaign, campaign.writing():
        for name, labels in (("Ann", "0"), ("Ben", "1"), ("Cem", "2")):
            who = newcomer(campaign, name)
            first, second = questions_for(campaign, who)
            vote(campaign, who, first, labels)
            vote(campaign, who, second, "0" if name != "Cem" else "1")
            disputed = campaign.db.execute("select disputed from items order by item").fetchall()
        assert disputed == [(1,), (0,)]
        vote(campaign, who, first, "0")  # Cem thinks again
        assert campaign.db.execute("select sum(disputed) from items").fetchone() == (0,)


def test_gold_and_repeats_are_mixed_in(tmp_path: Path) -> None:
    gold = "id,labels\n" + "".join(f"photo-{at},computer|bus\n" for at in range(0, 100, 10))
    rules = {"votes": 1, "gold_share": 0.1, "repeat_share": 0.2, "seed": 3}
    with (
        open_campaign(campaign_folder(tmp_path, items=100, gold=gold, **rules)) as campaign,
        campaign.writing(),
    ):
        ann = newcomer(campaign, "Ann")
        while questions := questions_for(campaign, ann):
            vote(campaign, ann, questions[0], "0,2")
        kinds = dict(
            campaign.db.execute("select kind, count(*) from questions group by kind").fetchall()
        )
        assert 3 <= kinds["gold"] <= 10
        assert 8 <= kinds["repeat"] <= 40
        assert counted(campaign) == [1] * 100  # neither counts twice, nor is one left out
        twice = (
            "select item from questions where kind != 'repeat' group by item having count(*) > 1"
        )
        assert campaign.db.execute(twice).fetchall() == []
        gaps = campaign.db.execute(
            "select r.question - q.question from questions r join questions q using (item) "
            "where r.kind = 'repeat' and q.kind = 'new'"
        ).fetchall()
        assert min(gap for (gap,) in gaps) >= 10


def test_images_that_are_gold_only_never_count(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 20)
    (images / "known.png").write_bytes(png(99))
    (tmp_path / "gold.csv").write_text("id,labels\nknown,BACKGROUND\n")
    rules = Rules(votes=1, gold_share=0.5, repeat_share=0)
    folder = make_campaign(found, images, tmp_path / "c", rules, gold=tmp_path / "gold.csv").folder
    with open_campaign(folder) as campaign, campaign.writing():
        ann = newcomer(campaign, "Ann")
        while questions := questions_for(campaign, ann):
            vote(campaign, ann, questions[0])
        asked = campaign.db.execute(
            "select id, votes, gold from items join questions q using (item) where q.kind = 'gold'"
        ).fetchall()
        assert asked == [("known", 0, "")]
        assert campaign.db.execute("select count(*) from standing").fetchone() == (20,)


@pytest.mark.parametrize("seed", range(8))
def test_never_more_votes_than_wanted_whatever_happens(tmp_path: Path, seed: int) -> None:
    chance, clock = random.Random(seed), Clock()
    gold = "id,labels\nphoto-0,bus\nphoto-1,\n"
    rules = {"votes": 3, "gold_share": 0.2, "repeat_share": 0.2}
    folder = campaign_folder(tmp_path, items=15, gold=gold, **rules)
    with open_campaign(folder, clock=clock) as campaign, campaign.writing():
        names = [f"p{at}" for at in range(9)]
        people = {name: newcomer(campaign, name) for name in names}
        asked: dict[str, list[int]] = {name: [] for name in names}
        for _ in range(600):
            name = chance.choice(names)
            asked[name] += questions_for(campaign, people[name])
            if asked[name] and chance.random() < 0.7:
                vote(campaign, people[name], chance.choice(asked[name]), str(chance.randint(0, 2)))
            if chance.random() < 0.05:
                clock.time += HELD_FOR // 2
            if chance.random() < 0.004 and len(names) > 5:
                revoke(campaign, names.pop())
            for votes, held, stands in campaign.db.execute(
                "select votes, held, (select count(*) from standing s where s.item = items.item) "
                "from items where wanted"
            ):
                assert votes == stands
                assert votes + held <= 3
        for _ in range(3):  # what is held ends, and everybody who is left goes on to the end
            clock.time += HELD_FOR + 1
            for name in names:
                while questions := questions_for(campaign, people[name]):
                    vote(campaign, people[name], questions[0])
        assert counted(campaign) == [3] * 15
