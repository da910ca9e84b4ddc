from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import onward
from onward.benchmarks.recipes import CPU, PAPER
from onward.checks import check_stream
from onward.data.emoji_history import GROUPS, load_emoji
from onward.errors import OnwardError
from onward.metrics import clear
from onward.types import Stream


@pytest.fixture(scope="module")
def streams() -> dict[str, list[Stream]]:
    return {
        protocol: [
            onward.load("clear", data="emoji", protocol=protocol).stream(seed) for seed in range(5)
        ]
        for protocol in ("iid", "streaming", "online")
    }


def test_seven_labelled_periods_and_an_unlabelled_past(streams: dict[str, list[Stream]]) -> None:
    stream = streams["iid"][0]
    names = ["2017-05", "2017-12", "2020-01", "2020-10", "2022-03", "2023-05", "2025-09"]
    assert [period.name for period in stream] == names
    sizes = [len(period.train) + len(period.test) for period in stream]
    assert sizes == [1462, 1545, 1715, 1805, 1849, 1870, 1906]
    snapshot = load_emoji().values("snapshot")
    used = np.concatenate([np.r_[period.train.rows, period.test.rows] for period in stream])
    assert len(set(used.tolist())) == len(used) == (snapshot > 0).sum()
    assert (snapshot[used] > 0).all()
    assert all(period.classes == GROUPS and len(GROUPS) == 9 for period in stream)


def test_a_test_identity_is_in_no_training_view(streams: dict[str, list[Stream]]) -> None:
    identity = load_emoji().values("group")
    for seeds in streams.values():
        for stream in seeds:
            trained = {name for period in stream for name in identity[period.train.rows]}
            tests = [*(period.test for period in stream), *stream.static.values()]
            for samples in tests:
                assert not trained & set(identity[samples.rows])


def test_streaming_trains_and_tests_every_sample_over_five_seeds(
    streams: dict[str, list[Stream]],
) -> None:
    for index in range(7):
        tested = np.concatenate([stream[index].test.rows for stream in streams["streaming"]])
        whole = streams["streaming"][0][index]
        everything = np.r_[whole.train.rows, whole.test.rows]
        assert sorted(tested.tolist()) == sorted(everything.tolist())
        trained = np.concatenate([stream[index].train.rows for stream in streams["streaming"]])
        assert np.bincount(trained, minlength=1)[everything].tolist() == [4] * len(everything)


def test_iid_trains_on_about_seventy_percent(streams: dict[str, list[Stream]]) -> None:
    shares = [len(s[6].train) / 1906 for s in streams["iid"]]
    assert np.mean(shares) == pytest.approx(0.7, abs=0.02)


def test_twemoji_is_a_static_test_by_another_artist(streams: dict[str, list[Stream]]) -> None:
    rows = np.concatenate([s.static["twemoji"].rows for s in streams["streaming"]])
    assert (load_emoji().values("snapshot")[rows] == -1).all()
    assert sorted(rows.tolist()) == list(range(13419, 13419 + 1906))


def test_the_paper_recipe_is_the_papers() -> None:
    # CLEAR supplement, section 6: shallow models.
    assert (PAPER.lr, PAPER.momentum, PAPER.weight_decay) == (1.0, 0.9, 0.0)
    assert (PAPER.batch_size, PAPER.epochs) == (256, 100)
    assert [PAPER.lr_at(epoch, PAPER.epochs) for epoch in (0, 59, 60, 99)] == [1, 1, 0.1, 0.1]
    assert CPU.epochs == 30


def test_deep_recipes_are_the_papers() -> None:
    # CLEAR supplement, section 6: MLP and ResNet-18.
    mlp = onward.load("clear", model="mlp").recipes["paper"]
    assert mlp == replace(PAPER, model="mlp", lr=0.1)
    deep = onward.load("clear", model="resnet18", recipe="paper").recipes["paper"]
    assert (deep.lr, deep.momentum, deep.weight_decay) == (0.01, 0.9, 1e-5)
    assert (deep.batch_size, deep.epochs, deep.augment) == (64, 70, "random_crop_flip")
    rates = [deep.lr_at(epoch, 70) for epoch in (0, 29, 30, 59, 60, 69)]
    assert rates == pytest.approx([1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4])
    online = onward.load("clear", model="resnet18", protocol="online")
    assert online.recipes["paper"].model == "resnet18"
    assert (online.recipes["paper"].epochs, online.recipes["paper"].batch_size) == (1, 10)


def test_resnet_is_given_images_on_white() -> None:
    benchmark = onward.load("clear", model="resnet18")
    rows = np.array([0, 700, 14000])
    drawn = benchmark.raw.wide["image"][rows].astype(float)
    found = benchmark.table.wide["input"][rows]
    assert found.shape == (3, 32, 32, 3)
    assert found.dtype == np.uint8
    alpha = drawn[..., 3:] / 255
    np.testing.assert_allclose(found, drawn[..., :3] * alpha + 255 * (1 - alpha), atol=0.51)


@pytest.mark.slow
def test_images_are_prepared_without_looking_ahead() -> None:
    assert check_stream(onward.load("clear", model="resnet18")).ok


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "resnet_18"}, "Did you mean 'resnet18'"),
        ({"model": "resnet18", "features": "moco_b0"}, "reads images, found 'moco_b0'"),
        ({"features": "moco_b0"}, "no features moco_b0 for the emoji edition"),
        ({"model": "resnet18", "size": 64}, "no size for the emoji edition"),
    ],
)
def test_a_model_and_data_that_do_not_fit_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load("clear", **options)


def test_a_linear_layer_on_images_says_what_to_choose() -> None:
    with pytest.raises(OnwardError, match="or the model resnet18"):
        onward.run(onward.load("clear", features="image"), "finetune")


@pytest.mark.slow
@pytest.mark.parametrize(("model", "least"), [("mlp", 0.6), ("resnet18", 0.45)])
def test_deep_models_learn(model: str, least: float) -> None:
    record = onward.run(onward.load("clear", model=model), "finetune")
    assert clear.next_domain(record.matrix()) > least


def test_streaming_fills_the_upper_triangle_only() -> None:
    benchmark = onward.load("clear", data="emoji", protocol="streaming")
    record = onward.run(benchmark, "finetune", seed=0)
    filled = ~np.isnan(record.matrix())
    np.testing.assert_array_equal(filled, np.triu(np.ones((7, 7), bool), k=1))
    assert clear.next_domain(record.matrix()) > 0.6
    assert np.isnan(clear.in_domain(record.matrix()))
    assert not np.isnan(record.static("twemoji")).any()


def test_drift_is_there_and_updating_helps() -> None:
    benchmark = onward.load("clear", data="emoji", protocol="iid")
    scratch, nap = (onward.run(benchmark, name, seed=0).matrix() for name in ("scratch", "nap"))
    assert clear.in_domain(scratch) > clear.next_domain(scratch) > clear.forward_transfer(scratch)
    assert clear.in_domain(scratch) - clear.in_domain(nap) > 0.03
    np.testing.assert_array_equal(nap[0], nap[6])


def test_online_runs_in_one_pass() -> None:
    benchmark = onward.load("clear", data="emoji", protocol="online")
    record = onward.run(benchmark, "er", seed=0)
    trained = sum(len(period.train) for period in benchmark.stream(0))
    assert record.cost is not None
    assert record.cost.stored_samples == 1000
    assert record.cost.samples == trained + 10 * (record.cost.iterations - 1)
    assert clear.in_domain(record.matrix()) > 0.5


def test_an_unknown_score_is_refused() -> None:
    record = onward.run(onward.load("clear", protocol="streaming"), "nap")
    with pytest.raises(OnwardError, match="Did you mean 'accuracy'"):
        record.matrix("acuracy")
