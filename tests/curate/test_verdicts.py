"""What becomes of a candidate: the published rules, written out vote by vote."""

from typing import Any

import numpy as np
import pytest
from curated import CONCEPTS, said

from onward.curate import verdicts
from onward.curate.verdicts import Judging, decide
from onward.curate.votes import ballots

# Bus is 1, camera is 2, the background 0.
ANSWERS = {
    "bus, twice": (1, [["bus"], ["bus"], []], False, ""),
    "bus, thrice": (1, [["bus"], ["bus"], ["bus"]], False, ""),
    "bus, and something else": (1, [["bus"], ["bus", "camera"], []], False, "no agreement"),
    "two of two votes": (1, [["bus"], ["bus"]], False, "too few votes"),
    "camera in truth": (1, [["camera"], ["camera"], ["bus"]], False, "another concept"),
    "nothing": (1, [[], [], ["bus"]], False, "none of the concepts"),
    "both": (1, [["bus", "camera"], ["camera", "bus"], ["bus"]], False, "several concepts"),
    "background": (0, [[], ["bus"], []], False, ""),
    "background with a bus": (0, [["bus"], ["bus"], []], False, "another concept"),
    "one warning": (1, [["bus"], ["bus"], ["bus"]], True, "sensitive"),
    "nobody": (1, [], False, "no votes"),
}


PUBLISHED = Judging(sensitive="published")


def _decided(**options: Any) -> verdicts.Verdicts:
    rows = [
        (name, f"worker {number}", labels, warned and number == 0)
        for name, (_, given, warned, _) in ANSWERS.items()
        for number, labels in enumerate(given)
    ]
    own = np.array([one[0] for one in ANSWERS.values()])
    return decide(ballots(said(*rows), list(ANSWERS), CONCEPTS), own, 2, Judging(**options))


def test_majority_as_published_and_the_stricter_rule_for_what_is_sensitive() -> None:
    found = _decided()
    assert dict(zip(ANSWERS, found.reason.tolist(), strict=True)) == {
        name: one[3] for name, one in ANSWERS.items()
    }
    assert found.label.tolist() == [1, 1, -1, -1, -1, -1, -1, 0, -1, -1, -1]
    assert found.certainty[:2] == pytest.approx([2 / 3, 1])


def test_the_published_rule_wants_more_than_two_warnings() -> None:
    reasons = dict(zip(ANSWERS, _decided(sensitive="published").reason.tolist(), strict=True))
    assert reasons["one warning"] == ""
    three = said(*(("one", f"worker {n}", ["bus"], True) for n in range(3)))
    two = said(*(("one", f"worker {n}", ["bus"], n > 0) for n in range(3)))
    for votes, reason in ((three, "sensitive"), (two, "")):
        found = decide(ballots(votes, ["one"], CONCEPTS), np.array([1]), 2, PUBLISHED)
        assert found.reason.tolist() == [reason]


def test_relabelled_images_are_what_they_show() -> None:
    found = _decided(relabel=True)
    label = dict(zip(ANSWERS, found.label.tolist(), strict=True))
    assert label["camera in truth"] == 2
    assert label["background with a bus"] == 1
    assert label["nothing"] == -1


def test_more_than_half_of_any_number_of_votes() -> None:
    four = [("one", f"worker {n}", ["bus"] if n < 2 else [], False) for n in range(4)]
    for votes, reason in ((four, "no agreement"), ([*four, ("one", "e", ["bus"], False)], "")):
        found = decide(ballots(said(*votes), ["one"], CONCEPTS), np.array([1]), 2, Judging())
        assert found.reason.tolist() == [reason]


def test_dawid_skene_weighs_annotators() -> None:
    pytest.importorskip("crowdkit")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 120)
    names = ([], ["bus"], ["camera"])
    rows = []
    for place, true in enumerate(truth.tolist()):
        # Two who guess against one who knows.
        rows.append((f"{place}", "expert", names[true], False))
        rows += [
            (f"{place}", guesser, names[rng.choice([true, *range(3)])], False)
            for guesser in ("g1", "g2", "g3")
        ]
    found = ballots(said(*rows), [str(n) for n in range(120)], CONCEPTS)
    plain = decide(found, truth, 2, Judging())
    weighed = decide(found, truth, 2, Judging(rule="dawid-skene", certainty=0.9))
    assert (weighed.reason == "").sum() > (plain.reason == "").sum()
    assert weighed.certainty[weighed.reason == ""].min() >= 0.9
    assert set(weighed.reason.tolist()) <= {
        "",
        "uncertain",
        "another concept",
        "none of the concepts",
    }


def test_dawid_skene_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(verdicts.OnwardError, match=r"onward\[crowd\]"):
        _decided(rule="dawid-skene")
