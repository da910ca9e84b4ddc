from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clear_miniature import BUCKETS, CLASSES, write_new, write_old

import onward
from onward.benchmarks.recipes import CPU
from onward.checks import CheckFailed, check_stream
from onward.data.split import held_out, shuffled_out
from onward.errors import OnwardError
from onward.protocols import PROTOCOLS
from onward.types import Benchmark, Released, Samples, Stream, Undivided

LAYOUTS = ("old", "old_without_splits", "new", "image_only")
ROWS = 258


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("clear")
    return {
        "old": write_old(root / "old"),
        "old_without_splits": write_old(root / "old_without_splits", splits=0, metadata=False),
        "new": write_new(root / "new"),
        "image_only": write_new(root / "image_only", image_only=True),
    }


def load(
    downloads: dict[str, Path], layout: str, protocol: str = "iid", **options: Any
) -> Benchmark:
    if layout == "image_only":
        options = {"features": "image", "size": 16, **options}
    return onward.load("clear", data=str(downloads[layout]), protocol=protocol, **options)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_passes_the_checks(
    downloads: dict[str, Path], layout: str, protocol: str
) -> None:
    assert check_stream(load(downloads, layout, protocol)).ok


@pytest.mark.parametrize("layout", LAYOUTS)
def test_periods_are_disjoint_and_their_union_is_the_dataset(
    downloads: dict[str, Path], layout: str
) -> None:
    for protocol in PROTOCOLS:
        benchmark = load(downloads, layout, protocol)
        stream = benchmark.stream(3)
        assert [period.name for period in stream] == [f"bucket {number}" for number in BUCKETS]
        assert all(period.classes == tuple(CLASSES) for period in stream)
        parts = [set(p.train.rows.tolist()) | set(p.test.rows.tolist()) for p in stream]
        assert sum(map(len, parts)) == len(set.union(*parts)) == len(benchmark.raw) == ROWS
        bucket = benchmark.raw.values("bucket")
        if protocol == "offline":  # the last bucket brings the training samples of all
            parts = [set(period.test.rows.tolist()) for period in stream]
        for number, rows in zip(BUCKETS, parts, strict=True):
            assert set(bucket[list(rows)].tolist()) == {number}


def test_seed_s_uses_released_split_s_mod_5(downloads: dict[str, Path]) -> None:
    benchmark = load(downloads, "old")
    assert benchmark.protocol.split == Released(5)
    for seed in (0, 4, 7):
        test = np.flatnonzero(benchmark.raw.values(f"test_{seed % 5}"))
        found = np.concatenate([period.test.rows for period in benchmark.stream(seed)])
        assert sorted(found.tolist()) == test.tolist()


def test_without_split_files_the_released_rule_is_drawn(downloads: dict[str, Path]) -> None:
    benchmark = load(downloads, "old_without_splits")
    assert benchmark.protocol.split == Released(None)
    for period in benchmark.stream(11):
        rows = np.sort(np.concatenate([period.train.rows, period.test.rows]))
        assert period.test.rows.tolist() == rows[shuffled_out(len(rows), 0.3, 11)].tolist()


def test_streaming_learns_all_of_a_bucket_and_tests_only_later_ones(
    downloads: dict[str, Path],
) -> None:
    for layout in ("old", "new"):
        benchmark = load(downloads, layout, "streaming")
        assert benchmark.protocol.split == Undivided()
        for period in benchmark.stream(0):
            assert set(period.train.rows.tolist()) == set(period.test.rows.tolist())
        filled = ~np.isnan(onward.run(benchmark, "finetune").matrix())
        assert filled.tolist() == np.triu(np.ones((11, 11), bool), 1).tolist()


@pytest.mark.parametrize("layout", ["old", "old_without_splits", "new"])
def test_a_run_from_end_to_end(downloads: dict[str, Path], layout: str, tmp_path: Path) -> None:
    record = onward.run(load(downloads, layout), "finetune", out=tmp_path)
    matrix = record.matrix()
    assert matrix.shape == (11, 11)
    # Four classes, told by the colours of a handful of pictures: more than a guess is enough.
    assert np.mean(np.diagonal(matrix)) > 0.35
    assert record.spec.data == f"{layout}:moco_b0"
    cards = list(tmp_path.glob("clear/stream/*/card.json"))
    assert len(cards) == 1


class Brightness:
    """A learner of one's own that takes images."""

    def learn(self, view: Any, budget: Any) -> None:
        bright = view.inputs().mean((1, 2, 3))
        self.means = [
            bright[view.labels == k].mean() if (view.labels == k).any() else np.inf
            for k in range(len(view.classes))
        ]

    def predict(self, view: Any) -> Any:
        bright = view.inputs().mean((1, 2, 3))
        return np.abs(bright[:, None] - np.array(self.means)).argmin(1)


def test_images_are_for_learners_that_take_them(downloads: dict[str, Path], tmp_path: Path) -> None:
    record = onward.run(load(downloads, "image_only"), Brightness, out=tmp_path)
    assert record.matrix().shape == (11, 11)
    assert record.spec.data == "image_only:image-16"
    with pytest.raises(OnwardError, match="linear and mlp cannot read images"):
        onward.run(load(downloads, "image_only"), "finetune")
    with pytest.raises(OnwardError, match=r"found images only. The methods of the catalogue train"):
        onward.load("clear", data=str(downloads["image_only"]))


def test_features_are_raw(downloads: dict[str, Path]) -> None:
    benchmark = load(downloads, "old")
    assert benchmark.table.wide["input"] is benchmark.raw.wide["features"]


def test_supervised_imagenet_features_have_their_own_rate(downloads: dict[str, Path]) -> None:
    for name in ("cpu", "paper"):
        rates = [
            benchmark.recipes[benchmark.recipe].lr
            for benchmark in (
                load(downloads, "old", recipe=name, features=features)
                for features in ("moco_b0", "imagenet")
            )
        ]
        assert rates == [1.0, 0.1]
    assert CPU.lr == 1.0


def test_what_was_missing_is_in_the_spec_and_on_the_card(tmp_path: Path) -> None:
    root = write_old(tmp_path / "old")
    (root / "labeled_images/10/travel").rename(tmp_path / "travel")
    with pytest.raises(OnwardError, match="missing are 6"):
        onward.load("clear", data=str(root))
    benchmark = onward.load("clear", data=str(root), missing="skip")
    assert benchmark.card.numbers["missing_images"] == 6
    manifest = benchmark.card.numbers["missing_manifest"]
    assert f"without 6 images (manifest {manifest})" in benchmark.data
    record = onward.run(benchmark, "nap", out=tmp_path / "results")
    assert record.spec.data == benchmark.data
    card = next(tmp_path.glob("results/clear/stream/*/card.json")).read_text()
    assert manifest in card
    assert len(benchmark.raw) == ROWS - 6


def test_a_tested_class_that_is_never_learned_is_refused(tmp_path: Path) -> None:
    root = write_new(tmp_path, image_only=True)
    for folder in root.glob("train_image_only/labeled_images/*/flags"):
        folder.rename(tmp_path / f"flags-{folder.parent.name}")
    with pytest.raises(OnwardError, match=r"every tested class to be learned .* found flags"):
        onward.load("clear", data=str(root), protocol="iid", features="image")
    streaming = onward.load("clear", data=str(root), protocol="streaming", features="image")
    assert len(streaming.stream()) == len(BUCKETS)


def test_periods_have_the_dates_of_their_photos_or_the_published_ones(
    downloads: dict[str, Path], tmp_path: Path
) -> None:
    assert str(load(downloads, "old").stream()[1].start) == "2007-11-26"
    # Nobody knows when the eleventh bucket was: the year of its number is no real date.
    assert [p.start.year for p in load(downloads, "image_only").stream()] == list(BUCKETS)
    root = write_new(tmp_path, image_only=True)
    for folder in root.glob("*/labeled_images/11"):
        folder.rename(folder.with_name("spare"))
    stream = onward.load("clear", data=str(root), protocol="iid", features="image").stream()
    assert (str(stream[0].start), str(stream[9].end)) == ("2007-04-09", "2014-04-28")


def test_a_period_whose_sides_are_neither_apart_nor_the_same_is_caught(
    downloads: dict[str, Path],
) -> None:
    whole = load(downloads, "new", "streaming")

    def cut(*arguments: Any) -> Stream:
        stream = whole.cut(*arguments)
        last = stream[-1]
        less = Samples(last.test.rows[1:], last.test.labels[1:])
        return replace(stream, periods=(*stream.periods[:-1], replace(last, test=less)))

    with pytest.raises(CheckFailed, match="24 learned, 23 tested, 1 on one side"):
        check_stream(replace(whole, cut=cut), only=("periods_share_no_sample",))
    everything = replace(whole.protocol, tests="all")
    with pytest.raises(CheckFailed, match="without a split to test the future only"):
        check_stream(replace(whole, protocol=everything), only=("periods_share_no_sample",))


def test_options_of_the_official_data_are_not_the_emoji_editions() -> None:
    with pytest.raises(OnwardError, match="expected no features moco_b0 for the emoji edition"):
        onward.load("clear", data="emoji", features="moco_b0")
    with pytest.raises(OnwardError, match=r"unknown data of clear 'emojy'. Did you mean 'emoji'"):
        onward.load("clear", data="emojy")
    with pytest.raises(OnwardError, match="found no folder /nowhere/clear10"):
        onward.load("clear", data="/nowhere/clear10")


def test_a_released_split_is_not_dealt_by_groups() -> None:
    with pytest.raises(OnwardError, match="expected a split that deals groups"):
        held_out(np.array(["a", "b"]), Released(5), 0)
