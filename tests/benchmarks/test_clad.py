"""CLAD's streams: what is shown when, what is tested, and the rules that refuse."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from small_street import small_street
from soda_miniature import box, frame, write_soda
from stopped import StopError, stop_after

import onward
from onward.benchmarks import Source
from onward.benchmarks.clad_data import street_folder
from onward.budget import REPORTED
from onward.checks import check_stream
from onward.data.clad_crops import Frames, square_around
from onward.data.clad_sets import DAYS_AND_NIGHTS
from onward.errors import BudgetSpentError, LookAheadError, OnwardError
from onward.metrics.clad import amca, area_below_curve
from onward.report.summary import summarise
from onward.results.check import check_folder
from onward.tuning import tune
from onward.types import Array, Benchmark, Budget, View


@pytest.fixture(scope="module")
def objects() -> Benchmark:
    return onward.load("clad-c", data=small_street())


@pytest.fixture(scope="module")
def frames() -> Benchmark:
    return onward.load("clad-d", data=small_street())


def test_both_streams_are_sound(objects: Benchmark, frames: Benchmark) -> None:
    check_stream(objects)
    check_stream(frames)


def test_six_days_and_nights_in_order_of_time(objects: Benchmark) -> None:
    stream = objects.stream()
    assert [period.name for period in stream][:3] == ["11-11 day", "11-11 night", "11-17 day"]
    times = stream.table.values("time")
    for period, (day, _) in zip(stream, DAYS_AND_NIGHTS, strict=True):
        here = times[period.train.rows]
        assert (np.diff(here) >= np.timedelta64(0, "s")).all()
        assert (here.astype("datetime64[D]") == np.datetime64(day)).all()
        assert not len(period.test)


def test_ten_objects_at_a_time_and_one_test_after_each_part(objects: Benchmark) -> None:
    seen: list[int] = []

    class Watching:
        def learn(self, view: View, budget: Budget) -> None:
            seen.append(len(view))

        def predict(self, view: View) -> Array:
            return np.zeros(len(view), np.int64)

    record = onward.run(objects, Watching(), allow_unmetered=True)
    stream = objects.stream()
    assert max(seen) <= 10
    assert sum(seen) == sum(len(period.train) for period in stream)
    tested = [(s.learned_upto, s.tested_on, s.test, s.samples) for s in record.scores]
    assert tested == [(n, None, "test", len(stream.static["test"])) for n in range(6)]


def test_amca_is_the_formula_on_the_stored_decisions(objects: Benchmark, tmp_path: Path) -> None:
    record = onward.run(objects, "finetune", out=tmp_path)
    by_class, classes = record.static_by_class("test")
    assert by_class.shape == (6, len(classes))
    (summary,) = summarise([record])
    assert summary.metrics["amca"].mean == pytest.approx(amca(by_class))
    assert record.path is not None
    assert check_folder(record.path) == []


def test_a_curve_is_tested_on_the_way_and_survives_a_stop(tmp_path: Path) -> None:
    made = onward.load("clad-c", data=small_street(), curve=40)
    whole = onward.run(made, "finetune", out=tmp_path / "whole")
    seen, scores = whole.curve("test", "class_mean_accuracy")
    total = sum(len(period.train) for period in made.stream())
    assert seen[-1] == total
    assert (seen[:-1] // 40).tolist() == list(range(1, total // 40 + 1))
    (summary,) = summarise([whole])
    found = summary.metrics["area_below_curve"].mean
    assert found == pytest.approx(area_below_curve(scores, seen))

    with pytest.raises(StopError):
        onward.run(
            made, "finetune", out=tmp_path / "cut", watch=stop_after(2), checkpoint_seconds=0
        )
    resumed = onward.run(made, "finetune", out=tmp_path / "cut")
    assert (resumed.points, resumed.scores) == (whole.points, whole.scores)


def test_joint_learns_all_of_it_and_is_tested_once() -> None:
    made = onward.load("clad-c", data=small_street(), protocol="joint")
    record = onward.run(made, "finetune")
    assert {score.learned_upto for score in record.scores} == {5}
    (summary,) = summarise([record])
    assert summary.metrics["amca"].known


class Rule:
    """A learner that breaks one rule, in its first call."""

    metered = REPORTED

    def __init__(self, broken: str) -> None:
        self.broken = broken

    def learn(self, view: View, budget: Budget) -> None:
        if self.broken == "reads twice":
            view.inputs()
            view.inputs()
        if self.broken == "reads ahead":
            view.of(view.rows + len(view), view.labels)
        if self.broken == "stores too many":
            budget.hold(np.resize(view.rows, 1001))
        if self.broken == "too large":
            budget.declare(parameters=26_834_884)
        if self.broken == "batch too large":
            budget.spend(iterations=1, new_in_batch=11)

    def predict(self, view: View) -> Array:
        return np.zeros(len(view), np.int64)


@pytest.mark.parametrize(
    ("broken", "error", "message"),
    [
        ("reads twice", BudgetSpentError, "protocol's rule allows passes = 1 .*found 2"),
        ("reads ahead", LookAheadError, "shown now or were held before, found 9 others"),
        ("stores too many", BudgetSpentError, r"stored_samples = 1000 \(.*found 1001"),
        ("too large", BudgetSpentError, r"parameters = 26834883 \(.*found 26834884"),
        ("batch too large", BudgetSpentError, r"new_in_batch = 10 \(new samples.*found 11"),
    ],
)
def test_each_rule_refuses_and_is_named(
    objects: Benchmark, broken: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        onward.run(objects, Rule(broken))


def test_the_gradient_learner_keeps_to_the_rules(objects: Benchmark) -> None:
    recipe = replace(objects.recipes["cpu"], memory_size=1001)
    large = replace(objects, recipes={"cpu": recipe})
    record = onward.run(large, "er")
    assert record.cost is not None
    assert record.cost.stored_samples <= 1000


def test_domains_one_after_the_other(frames: Benchmark) -> None:
    stream = frames.stream()
    assert [period.name for period in stream] == ["city", "highway", "night", "rain"]
    labels = stream[0].train.labels
    real = labels[..., 0] >= 0
    assert real.any(1).all()
    height, width, _ = frames.table.wide["input"].shape[1:]
    corners = labels[real][:, 1:5]
    assert (corners[:, :2] < corners[:, 2:]).all()
    assert (corners >= 0).all()
    assert (corners[:, [0, 2]] <= width).all()
    assert (corners[:, [1, 3]] <= height).all()


def test_boxes_are_scaled_with_their_frames(frames: Benchmark) -> None:
    small = onward.load("clad-d", data=small_street(), size=54)
    assert small.table.wide["input"].shape[1:] == (54, 96, 3)
    whole, half = (made.stream()[0].train.labels for made in (frames, small))
    np.testing.assert_allclose(half[..., 1:5], whole[..., 1:5] / 2)


def test_frames_that_do_not_fit_stay_on_disk(frames: Benchmark) -> None:
    column = frames.raw.wide["image"]
    folder = Path(small_street()) / "SSLAD-2D" / "labeled"
    names = sorted(str(path.relative_to(folder)) for path in folder.glob("train/*.jpg"))[:3]
    lazy = Frames(folder, names, (108, 192))
    assert lazy.shape == (3, *column.shape[1:])
    with Image.open(folder / names[2]) as image:
        assert np.array_equal(lazy[np.array([2])][0], np.asarray(image.convert("RGB")))
    noised = lazy.with_noise(np.array([1]), np.random.default_rng(0))[np.arange(3)]
    changed = (noised != lazy[np.arange(3)]).any((1, 2, 3))
    assert changed.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("box_in", "square"),
    [
        ((100, 200, 40, 20), (95, 185, 145, 235)),
        ((0, 1060, 18, 18), (0, 1051, 28, 1079)),
        ((0, 0, 3000, 3000), (841, 1, 1919, 1079)),
    ],
)
def test_squares_stay_in_the_frame(box_in: tuple[int, ...], square: tuple[int, ...]) -> None:
    assert square_around(box_in, (1920, 1080)) == square


def test_a_crop_is_the_pixels_of_its_frame(tmp_path: Path) -> None:
    """An object of 40 x 40 with five pixels around it: 50 x 50, reduced to 25."""
    day = "Shanghai Citystreet Daytime Clear"
    root = write_soda(
        tmp_path,
        val=[frame("20191111 101500", day, box(3, (100, 100, 40, 40)))],
        test=[frame("20191201 101500", day, box(3))],
    )
    noise = np.random.default_rng(0).integers(0, 255, (1080, 1920, 3), np.uint8)
    for path in root.rglob("*.jpg"):
        Image.fromarray(noise).save(path, "PNG")
    made = onward.load("clad-c", data=str(root), size=25)
    crop = Image.fromarray(noise[95:145, 95:145]).resize((25, 25), Image.Resampling.BICUBIC)
    assert np.array_equal(made.table.wide["input"][np.array([0])][0], np.asarray(crop))


def test_street_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path))
    folder = street_folder(1)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert street_folder(1) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("clad-c", {"data": "nowhere"}, "expected 'street', or a folder that holds SODA10M"),
        ("clad-c", {"protocol": "iid"}, "unknown protocol of clad-c 'iid'"),
        ("clad-c", {"recipe": "gpu"}, "unknown recipe of clad-c 'gpu'"),
        ("clad-d", {"judge": "train"}, "unknown judge of clad-d 'train'"),
        ("clad-d", {"weights": "none.pth"}, "expected a file with weights"),
        ("clad-c", {"protocol": "joint", "curve": 10}, "expected a curve of tests"),
    ],
)
def test_what_is_not_there_is_named(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load(name, **{"data": small_street(), **options})


def test_the_hour_is_nobody_s_business(objects: Benchmark) -> None:
    class Asks:
        def learn(self, view: View, budget: Budget) -> None:
            view.column("time")

        def predict(self, view: View) -> Array:
            return np.zeros(len(view), np.int64)

    with pytest.raises(LookAheadError, match="column 'time' is not shown"):
        onward.run(objects, Asks(), allow_unmetered=True)


def test_a_curve_ends_where_the_drive_ends() -> None:
    made = onward.load("clad-c", data=small_street(), curve=10**6)
    seen, _ = onward.run(made, "finetune").curve("test")
    assert seen.tolist() == [sum(len(period.train) for period in made.stream())]


def test_a_drive_without_objects_is_named(tmp_path: Path) -> None:
    day = "Shanghai Citystreet Daytime Clear"
    root = write_soda(tmp_path, test=[frame("20191201 101500", day, box(3))])
    with pytest.raises(OnwardError, match="expected objects in the train part"):
        onward.load("clad-c", data=str(root))


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("clad-c", "small_rcnn", "names the class of a sample, found small_rcnn"),
        ("clad-d", "resnet18", "finds boxes, found resnet18"),
    ],
)
def test_models_of_the_other_kind_are_refused(name: str, model: str, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load(name, data=small_street(), model=model)


def test_hyperparameters_are_chosen_on_the_first_days(tmp_path: Path) -> None:
    source = Source("clad-c", small_street())
    found = tune(source, "finetune", {"lr": [0.01, 0.1]}, tmp_path, periods=4)
    scores = [candidate.score for candidate in found.candidates]
    assert all(score is not None and 0 <= score <= 1 for score in scores)
    stream = onward.load("clad-c", data=small_street(), tuning_periods=4).stream()
    trained = np.concatenate([period.train.rows for period in stream])
    held = stream.static["test"].rows
    assert len(held)
    assert not np.isin(held, trained).any()
    whole = onward.load("clad-c", data=small_street()).stream()
    later = np.concatenate([period.train.rows for period in whole[4:]])
    assert not np.isin(later, np.concatenate([trained, held])).any()
