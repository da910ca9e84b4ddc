"""Simulated annotators in a real campaign: exact votes, one shut out, and a stop in between."""

from pathlib import Path

import pytest
from small_campaign import retrieved

from onward.curate.demo.annotators import Annotator, Picture, crew, judged
from onward.curate.demo.answering import answer_campaign, given_answers
from onward.curate.review.dashboard import Overview
from onward.curate.review.exchange import read_votes
from onward.curate.review.making import Rules, make_campaign

NAMES = ("computer", "camera", "bus")
ITEMS = 60
PEOPLE = [*crew(4, 0, misses=0.02, lured=0.02), Annotator("zoe", careless=0.9, seconds=1.0)]
PICTURES = {
    f"photo-{at}": Picture(f"photo-{at}", NAMES[at % 3], frozenset({NAMES[at % 3]}))
    for at in range(ITEMS)
}


def _campaign(folder: Path) -> Path:
    found, images = retrieved(folder, ITEMS)
    gold = folder / "gold.csv"
    lines = [f"photo-{at},{NAMES[at % 3]}" for at in range(30)]
    gold.write_text("\n".join(["id,labels", *lines]) + "\n")
    rules = Rules(gold_share=0.3, repeat_share=0.1)
    return make_campaign(found, images, folder / "campaign", rules, gold=gold).folder


def _right(seen: Overview, name: str) -> float:
    row = next(row for row in seen.people if row.name == name)
    return row.gold.good / row.gold.of


def test_a_campaign_is_answered_to_its_end(tmp_path: Path) -> None:
    folder = _campaign(tmp_path)
    told: list[int] = []
    seen = answer_campaign(folder, PEOPLE, PICTURES, progress=told.append)
    assert seen.counts["complete"] == ITEMS
    assert seen.counts["votes"] == 3 * ITEMS
    # Who does not look is found out by the known answers, and counts no more.
    assert [row.name for row in seen.people if row.revoked] == ["zoe"]
    assert _right(seen, "zoe") < 0.6 < 0.85 < _right(seen, "annotator 01")
    votes = read_votes(folder)
    assert "zoe" not in votes.column("annotator").to_pylist()
    assert "zoe" in {one.annotator for one in given_answers(folder)}
    assert sum(told) >= 3 * ITEMS
    # There is nothing left to ask.
    again = answer_campaign(folder, PEOPLE, PICTURES)
    assert again.counts == seen.counts
    assert read_votes(folder).equals(votes)


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("after", [1, 2, 3])
def test_it_goes_on_where_it_was_stopped(tmp_path: Path, after: int) -> None:
    whole = _campaign(tmp_path / "whole")
    answer_campaign(whole, PEOPLE, PICTURES)
    folder, calls = _campaign(tmp_path / "stopped"), []

    def stop(votes: int) -> None:
        calls.append(votes)
        if len(calls) == after:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        answer_campaign(folder, PEOPLE, PICTURES, progress=stop)
    assert read_votes(folder).num_rows < 3 * ITEMS
    answer_campaign(folder, PEOPLE, PICTURES)
    assert read_votes(folder).equals(read_votes(whole))


def test_answers_depend_on_nothing_that_was_asked_before() -> None:
    who, some = PEOPLE[-1], list(PICTURES.values())
    ahead = [judged(one, who, NAMES) for one in some]
    assert ahead == [judged(one, who, NAMES) for one in reversed(some)][::-1]
    assert ahead != [judged(one, who, NAMES, times=1) for one in some]
    assert ahead != [judged(one, who, NAMES, seed=1) for one in some]
