import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import onward
from onward.benchmarks import retrained
from onward.errors import OnwardError
from onward.evaluation.evaluate import evaluate
from onward.evaluation.sitting import Examinee
from onward.models.clip_choice import chosen_clip, named_clip
from onward.types import Benchmark


@pytest.fixture
def short() -> Benchmark:
    """The first period of the emoji edition alone."""
    whole = onward.load("tic", data="emoji")
    return replace(whole, cut=lambda table, protocol, seed: whole.cut(table, protocol, seed)[:1])


def test_the_numbers_of_a_run(short: Benchmark, tmp_path: Path) -> None:
    record = onward.run(retrained(short, {"max_steps": 3}), "finetune", out=tmp_path)
    [spec] = tmp_path.glob("tic/finetune/*/spec.json")
    chosen = chosen_clip(str(spec.parent))
    assert (chosen.name, "the run finetune, seed 0" in chosen.weights) == ("clip_small", True)
    found = evaluate(chosen.clip, short)
    [tests] = found.periods.values()
    outcomes = {(0, name): one for name, one in tests.items()}
    outcomes |= {(None, name): one for name, one in found.static.items()}
    assert len(record.scores) == len(outcomes) == 5
    for score in record.scores:
        mine = outcomes[score.tested_on, score.test]
        assert mine.samples == score.samples
        for name, value in score.scores.items():
            expected = np.nan if value is None else value
            assert mine.scores[name] == pytest.approx(expected, nan_ok=True)


def test_parts_and_classes(short: Benchmark) -> None:
    named = {"alive": ["people", "animals"], "still": ["flags"]}
    seen: list[str] = []
    found = evaluate(named_clip("clip_small"), short, named=named, watch=seen.append)
    [(period, tests)] = found.periods.items()
    zero_shot = tests["zero_shot"]
    assert zero_shot.classifies
    assert not tests["period"].classifies
    by_class = zero_shot.by_class
    assert [*by_class] == list(short.stream()[0].classes)
    alive = (by_class["people"] + by_class["animals"]) / 2
    assert zero_shot.by_part == {"alive": pytest.approx(alive), "still": by_class["flags"]}
    assert seen[:3] == [f"{period}, {name}" for name in ("period", "unseen", "zero_shot")]
    plain = found.as_json()
    assert plain["periods"][0]["tests"]["zero_shot"]["text_to_image1"] is None
    assert {*itertools.chain(*(test for test in plain["static"].values()))} >= {"recall1"}


def test_parts_of_nothing(short: Benchmark, tmp_path: Path) -> None:
    clip = named_clip("clip_small")
    with pytest.raises(OnwardError, match="has all of pug, people"):
        evaluate(clip, short, named={"alive": ["pug", "people"]})
    with pytest.raises(OnwardError, match="expected a folder of static tasks"):
        evaluate(clip, short, static=tmp_path / "nowhere")


def test_only_images_and_texts() -> None:
    with pytest.raises(OnwardError, match="such as tic, found one of one_label: clear"):
        evaluate(named_clip("clip_small"), onward.load("clear", data="emoji"))
    with pytest.raises(OnwardError, match="evaluated as it is"):
        Examinee(named_clip("clip_small")).learn(None, None)
