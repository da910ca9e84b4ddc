"""TiC-CLIP's emoji edition: what is shown, what is asked, and what nothing gives away."""

import json
from pathlib import Path

import numpy as np
import pytest
from tic_miniature import encoded, made, pairs, tar

import onward
from onward.benchmarks import retrained
from onward.benchmarks.tic_emoji import UNSEEN
from onward.checks import check_method, check_stream, tiny_pairs
from onward.data.bags import ZERO_SHOT
from onward.data.dated_pairs import emoji_pairs
from onward.data.emoji_history import GROUPS
from onward.data.tic_make import make_tic_shards
from onward.errors import OnwardError
from onward.results.stream_card import write_stream_card
from onward.types import PERIOD, Samples, Stream


@pytest.fixture(scope="module")
def stream() -> Stream:
    return onward.load("tic", data="emoji").stream(0)


def split(stream: Stream, test: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Where the images and where the texts of a test stand."""
    shown = stream.table.wide["input"][test.rows]
    return np.flatnonzero(shown["has_image"]), np.flatnonzero(shown["has_text"])


def test_pools_have_the_same_size_in_every_period(stream: Stream) -> None:
    assert len(stream) == 8
    for period in stream:
        assert {name: len(test) for name, test in period.tests.items()} == {
            PERIOD: 500,
            UNSEEN: 500,
            ZERO_SHOT: 250 + len(GROUPS),
        }
        assert len(period.validation) == 300


def test_right_answers_are_right_and_places_tell_nothing(stream: Stream) -> None:
    codes, kinds = stream.table.values("code"), stream.table.values("kind")
    for period in stream:
        for test in (period.test, period.more[UNSEEN], period.validation):
            images, texts = split(stream, test)
            assert len(images) == len(texts)
            assert not np.intersect1d(images, texts).size
            named = codes[test.rows]
            found = named[texts][test.labels[images, 0]]
            assert found.tolist() == named[images].tolist()
            assert named[images][test.labels[texts, 0]].tolist() == named[texts].tolist()
            # As many would stand alike by chance as one of 250.
            assert np.count_nonzero(test.labels[images, 0] == np.arange(len(images))) < 8
        assert set(kinds[period.test.rows]) == {"rendering", "caption"}


def test_no_text_stands_twice_among_candidates(stream: Stream) -> None:
    texts = stream.table.values("text")
    for period in stream:
        for test in (period.test, period.more[UNSEEN]):
            _, read = split(stream, test)
            assert len(set(texts[test.rows[read]])) == len(read)


def test_renderings_are_never_learned_and_unseen_emoji_neither(stream: Stream) -> None:
    kinds, groups = stream.table.values("kind"), stream.table.values("group")
    learned = np.concatenate([period.train.rows for period in stream])
    assert set(kinds[learned]) == {"pair"}
    known = set(groups[learned])
    for period in stream:
        images, _ = split(stream, period.more[UNSEEN])
        assert known.isdisjoint(groups[period.more[UNSEEN].rows[images]])
        images, _ = split(stream, period.test)
        assert set(groups[period.test.rows[images]]) <= known
    shown = stream.table.wide["input"]
    pool = stream[0].test.rows[:250]
    rendered = shown[pool]["image"]
    drawn = {image.tobytes() for image in shown[learned]["image"]}
    assert not any(image.tobytes() in drawn for image in rendered)


def test_what_is_judged_by_while_learning_is_no_test(stream: Stream) -> None:
    for period in stream:
        images, _ = split(stream, period.validation)
        assert not np.isin(period.validation.rows[images], period.test.rows).any()


def test_classes_are_asked_for_by_prompts(stream: Stream) -> None:
    test = stream[3].more[ZERO_SHOT]
    labels = stream.table.values("label")
    images, prompts = split(stream, test)
    assert [labels[row] for row in test.rows[prompts]] == list(GROUPS)
    assert (test.labels[prompts] == -1).all()
    asked = [GROUPS[number] for number in test.labels[images, 0]]
    assert asked == labels[test.rows[images]].tolist()


def test_seeds_hold_other_emoji_out(stream: Stream) -> None:
    other = onward.load("tic").stream(1)
    assert set(other[0].more[UNSEEN].rows) != set(stream[0].more[UNSEEN].rows)


@pytest.mark.slow
def test_the_stream_passes_its_checks() -> None:
    report = check_stream(onward.load("tic"))
    assert {skipped.check for skipped in report.skipped} == {
        "every_sample_has_its_period",
        "groups_stay_on_one_side",
        "folds_hold_out_each_sample_once",
        "the_future_protocol_never_tests_the_past",
    }


def test_parts_have_no_dates_and_the_same_compute_in_all() -> None:
    whole, parts = (onward.load("tic", splits=count) for count in (1, 4))
    rows = [np.concatenate([p.train.rows for p in b.stream(0)]) for b in (whole, parts)]
    assert sorted(rows[0].tolist()) == sorted(rows[1].tolist())
    assert not parts.stream(0).dated
    assert whole.protocol.limits["macs"] == 4 * parts.protocol.limits["macs"]
    assert whole.options == {"splits": 1}
    with pytest.raises(OnwardError, match="1 or more splits"):
        onward.load("tic", splits=0)


def test_the_basic_filter_learns_from_longer_captions_alone() -> None:
    plain, basic = onward.load("tic").stream(0), onward.load("tic", filtered="basic").stream(0)
    texts = plain.table.values("text")
    assert len(basic[0].train) < len(plain[0].train)
    assert all(len(text.split()) > 2 and len(text) > 5 for text in texts[basic[0].train.rows])
    assert basic[0].test.rows.tolist() == plain[0].test.rows.tolist()
    with pytest.raises(OnwardError, match="basic"):
        onward.load("tic", filtered="english")


@pytest.mark.slow
def test_an_older_clip_keeps_more_of_what_it_knows() -> None:
    plain, best = onward.load("tic").stream(0), onward.load("tic", filtered="bestpool").stream(0)
    shares = [len(b.train) / len(a.train) for a, b in zip(plain, best, strict=True)]
    assert shares[0] == pytest.approx(0.5, abs=0.01)
    assert max(shares[2:]) < shares[0]
    assert check_stream(onward.load("tic", filtered="bestpool")).ok


def test_wrong_words_are_answered() -> None:
    with pytest.raises(OnwardError, match="budget"):
        onward.load("tic", protocol="iid")
    with pytest.raises(OnwardError, match="clip_small"):
        onward.load("tic", model="resnet18")
    with pytest.raises(OnwardError, match="yfcc"):
        onward.load("tic", scale="yffc")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["patching", "cumulative_exp"])
def test_neither_patching_nor_replay_sees_ahead(name: str) -> None:
    only = ("keeps_only_what_it_holds", "sees_only_the_past")
    assert len(check_method(name, tiny_pairs(), only=only).passed) == len(only)


@pytest.mark.parametrize("name", ["patching", "lwf"])
def test_pairs_are_judged_and_taught_without_classes(name: str) -> None:
    # Two parts dealt at random come with no samples for validation, and epochs remember a teacher.
    training = {"max_steps": 3, "batch_size": 16, "augment": "none", "epochs": 2}
    quick = retrained(onward.load("tic", splits=3), training)
    assert np.isfinite(onward.run(quick, name).matrix()).all()


def test_a_run_without_some_samples_is_another_run_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = made(tmp_path / "shards", "datacomp")
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    right = onward.load("tic", data=str(root))
    assert (right.card.numbers["gaps"], right.card.numbers["notes"]) == ([], [])
    mute = {"jpg": encoded(), "txt": b"\n"}
    tar(root / "yearly" / "train" / "2017" / "00000009.tar", {**pairs("a"), "b": mute})
    (root / "yearly" / "train" / "2017" / "meta.json").unlink()
    found = onward.load("tic", data=str(root), missing="skip")
    (gap,) = found.card.numbers["gaps"]
    assert gap.startswith("1 sample left out, no caption: b of ")
    quick = retrained(found, {"max_steps": 1, "batch_size": 4})
    spec = onward.run(quick, "finetune").spec
    assert spec.data == f"{root} without 1 sample"
    assert spec.data_digest == found.raw.digest != right.raw.digest


def test_a_folder_of_shards_is_a_stream_too(tmp_path: Path) -> None:
    every = emoji_pairs()
    make_tic_shards(tmp_path / "shards", every, "datacomp", seed=0, samples=6)
    benchmark = onward.load("tic", data=str(tmp_path / "shards"), validation=0.2)
    report = check_stream(benchmark)
    assert "preparation_sees_only_the_past" in {each.check for each in report.passed}
    quick = retrained(benchmark, {"max_steps": 2, "batch_size": 4})
    record = onward.run(quick, "patching")
    assert record.period_tests == [PERIOD, ZERO_SHOT]
    by_class, classes = record.class_matrix()
    assert by_class.shape == (len(quick.stream(0)), len(quick.stream(0)), len(classes))
    assert np.isfinite(by_class).any()
    assert np.isfinite(record.matrix()).all()
    with pytest.raises(OnwardError, match="option of the emoji edition"):
        onward.load("tic", data=str(tmp_path / "shards"), splits=2)
    with pytest.raises(OnwardError, match="expected data of TiC-CLIP"):
        onward.load("tic", data=str(tmp_path / "yearly"))


def test_the_card_counts_all_pairs_of_a_period_whatever_the_seed(tmp_path: Path) -> None:
    benchmark = onward.load("tic", data="emoji")
    cards = [
        write_stream_card(tmp_path, f"seed {seed}", benchmark, benchmark.stream(seed))
        for seed in (0, 1)
    ]
    first, second = (json.loads((card / "card.json").read_text())["periods"] for card in cards)
    assert first == second
    assert sum(period["samples"] for period in first) == benchmark.card.numbers["pair_rows"]
    assert all(sum(period["classes"].values()) == period["samples"] for period in first)
