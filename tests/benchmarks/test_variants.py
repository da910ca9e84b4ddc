from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import onward
from onward.benchmarks import Source
from onward.checks import check_method, check_stream, tiny_benchmark
from onward.errors import LookAheadError, OnwardError
from onward.results.check import check_folder
from onward.types import Budget, Protocol, Undivided, View


def test_classes_arrive_in_the_order_of_the_seed_and_no_sample_comes_before_its_class() -> None:
    benchmark = onward.load("clear", protocol="iid", new_classes=True)
    whole = onward.load("clear", protocol="iid").stream(3)
    stream = benchmark.stream(3)
    names = benchmark.table.values("label")
    for period, before in zip(stream, whole, strict=True):
        for side, full in ((period.train, before.train), (period.test, before.test)):
            known = np.isin(names[full.rows], period.classes)
            np.testing.assert_array_equal(side.rows, full.rows[known])
            assert [period.classes[label] for label in side.labels] == list(names[side.rows])
    orders = {benchmark.stream(seed)[-1].classes for seed in range(4)}
    assert len(orders) > 1
    assert check_stream(benchmark).ok


def test_growing_classes_are_learned_and_named_in_the_spec() -> None:
    record = onward.run(onward.load("clear", protocol="iid", new_classes=True), "finetune")
    assert record.spec.benchmark_options == {"new_classes": True}
    assert np.nanmean(record.matrix()) > 0.3


def test_a_stream_whose_classes_arrive_passes_its_checks() -> None:
    assert check_stream(onward.load("clear", new_classes=True)).ok


def test_few_classes_over_many_periods_still_begin_with_two() -> None:
    stream = onward.load("clear", new_classes=True).stream(0)
    assert len(stream[0].classes) == 2
    assert len(stream[-1].classes) == 9


class Log(NamedTuple):
    """What was shown, outside of the learner, which a run copies."""

    sizes: list[tuple[int, int]]
    days: list[int]


LOG = Log([], [])


@pytest.fixture
def log() -> Log:
    LOG.sizes.clear()
    LOG.days.clear()
    return LOG


class Looks:
    """Writes down what it is shown."""

    def learn(self, view: View, budget: Budget) -> None:
        hidden = view.unlabelled
        LOG.sizes.append((len(view), len(hidden)))
        LOG.days.append(len(np.unique(view.column("time").astype("datetime64[D]"))))
        assert len(hidden.inputs()) == len(hidden)
        if len(hidden):
            with pytest.raises(LookAheadError, match="without labels"):
                _ = hidden.labels
            guessed = view.of(hidden.rows, np.zeros(len(hidden), np.int64))
            assert len(guessed.labels) == len(hidden)
            budget.hold(hidden.rows[:1])

    def predict(self, view: View) -> np.ndarray:
        with pytest.raises(LookAheadError):
            _ = view.unlabelled
        return np.zeros(len(view), np.int64)


def test_a_quarter_of_the_groups_shows_labels_and_the_others_come_without(log: Log) -> None:
    benchmark = onward.load("clear", protocol="semi_supervised")
    onward.run(benchmark, Looks)
    shown, hidden = np.array(log.sizes).sum(0)
    assert 0.2 < shown / (shown + hidden) < 0.3
    full, part = onward.load("clear").stream(0), benchmark.stream(0)
    for whole, period in zip(full, part, strict=True):
        np.testing.assert_array_equal(np.sort(whole.train.rows), np.sort(period.shown))
    groups = benchmark.table.values("group")
    with_label = np.concatenate([period.train.rows for period in part])
    without = np.concatenate([period.unlabelled for period in part])
    assert not set(groups[with_label]) & set(groups[without])


def test_a_day_at_a_time_shows_each_day_once(log: Log) -> None:
    benchmark = tiny_benchmark("online")
    daily = replace(benchmark, protocol=replace(benchmark.protocol, batch="day"))
    onward.run(daily, Looks)
    days = daily.table.values("time").astype("datetime64[D]")
    expected = sum(len(np.unique(days[p.train.rows])) for p in daily.stream(0))
    assert set(log.days) == {1}
    assert len(log.sizes) == expected


@pytest.mark.parametrize("grain", [1, "1"])
def test_a_grain_of_one_shows_single_samples(grain: int | str, log: Log) -> None:
    benchmark = onward.load("clear", protocol="online", grain=grain)
    onward.run(replace(benchmark, cut=lambda *how: onward.load("clear").cut(*how)[:1]), Looks)
    assert {shown for shown, _ in log.sizes} == {1}


def test_grains_and_shares_that_make_no_sense_are_refused() -> None:
    with pytest.raises(OnwardError, match="with the protocol online only"):
        onward.load("clear", protocol="iid", grain=3)
    for grain in ("week", 0):
        with pytest.raises(OnwardError, match="'day' or 1 or more"):
            onward.load("clear", protocol="online", grain=grain)
    with pytest.raises(OnwardError, match="online there is no such moment"):
        Protocol("both", "", "all", Undivided(), batch=3, labelled=0.5)
    with pytest.raises(OnwardError, match="labelled share"):
        Protocol("none", "", "all", Undivided(), labelled=0)


def test_a_source_carries_options_and_numbers_of_the_recipe() -> None:
    source = Source("clear", options={"new_classes": True}, training={"lr": 0.25})
    made = source.load()
    assert made.recipes["cpu"].lr == 0.25
    assert made.recipes["paper"].lr == 1.0
    assert made.options == {"new_classes": True}
    with pytest.raises(OnwardError, match="which is called lr"):
        Source("clear", training={"learning_rate": 1}).load()
    with pytest.raises(OnwardError, match="Did you mean 'features'"):
        Source("clear", options={"featurs": "x"}).load()


def test_offline_brings_everything_with_the_last_period_and_tests_each_once() -> None:
    benchmark, iid = (onward.load("clear", protocol=name) for name in ("offline", "iid"))
    stream, usual = benchmark.stream(2), iid.stream(2)
    everything = np.concatenate([period.train.rows for period in usual])
    assert [len(period.train) for period in stream] == [0] * 6 + [len(everything)]
    np.testing.assert_array_equal(stream[-1].train.rows, everything)
    for mine, theirs in zip(stream, usual, strict=True):
        np.testing.assert_array_equal(mine.test.rows, theirs.test.rows)
    record = onward.run(benchmark, "finetune", seed=2)
    filled = ~np.isnan(record.matrix())
    assert filled[-1].all()
    assert not filled[:-1].any()
    assert np.isnan(record.static("twemoji")).tolist() == [True] * 6 + [False]
    assert record.matrix()[-1].mean() > 0.6


@pytest.mark.parametrize("method", ["er", "scratch"])
def test_any_method_runs_offline_resumes_and_is_checked(method: str, tmp_path: Path) -> None:
    only = ("seeded_runs_are_identical", "resumed_runs_equal_uninterrupted_ones")
    assert check_method(method, tiny_benchmark("offline"), only=only).ok
    record = onward.run(tiny_benchmark("offline"), method, out=tmp_path)
    assert record.path is not None
    assert list(check_folder(record.path)) == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("epochs", 0, "epochs as a whole number"),
        ("batch_size", 2.5, "batch_size as a whole number"),
        ("lr", "fast", "lr as a number"),
        ("lr", -1, "lr as a number"),
        ("milestones", [2], "fractions from 0 to 1"),
        ("model", "mlp", "as an option of its own"),
    ],
)
def test_numbers_of_a_recipe_that_make_no_sense_are_refused(
    name: str, value: object, words: str
) -> None:
    with pytest.raises(OnwardError, match=words):
        Source("clear", training={name: value}).load()


def test_decay_at_may_be_a_list_or_a_number() -> None:
    for given in ([0.5, 0.75], 0.5):
        made = Source("clear", training={"milestones": given}).load()
        assert made.recipes["cpu"].milestones == (
            (0.5, 0.75) if isinstance(given, list) else (0.5,)
        )
