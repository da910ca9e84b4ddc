from pathlib import Path

import numpy as np
import pytest

from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.protocols import MANY_LABELS, PROTOCOLS


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(6))
def test_every_seed_has_something_to_learn_and_to_test(protocol: str, seed: int) -> None:
    stream = tiny_benchmark(protocol).stream(seed)
    assert all(len(period.test) > 0 for period in stream)
    for period in stream[-1:] if protocol == "offline" else stream:
        assert len(period.shown) > 30
        assert len(period.train) > 0


@pytest.mark.parametrize("protocol", MANY_LABELS)
@pytest.mark.parametrize("seed", range(2))
def test_many_labels_come_from_coarse_to_fine(protocol: str, seed: int) -> None:
    stream = tiny_benchmark(protocol).stream(seed)
    assert [len(period.classes) for period in stream] == [2, 3, 5, 6]
    for period in stream[-1:] if protocol == "joint" else stream:
        assert min(len(period.train), len(period.test), len(period.validation)) > 3
        labels = period.train.labels
        assert (labels >= 0).any(1).all()
        if protocol == "incomplete":
            # One label each, and none that an earlier period had introduced.
            known = len(stream[period.index - 1].classes) if period.index else 0
            assert ((labels >= 0).sum(1) == 1).all()
            assert labels.max(1).min() >= known
        elif period.index:
            assert (labels >= 0).all(1).any()
    # The judge knows both labels from the start.
    assert (stream[0].test.labels >= 0).all()
    assert stream[0].test.labels.max() == 5


def test_a_sample_comes_again_under_a_finer_label() -> None:
    stream = tiny_benchmark("incomplete").stream(0)
    again = np.intersect1d(stream[0].train.rows, stream[1].train.rows)
    assert 0 < len(again) < len(stream[1].train)


def test_the_first_year_has_no_labels() -> None:
    table = tiny_benchmark().table
    first = table.values("year") == 2000
    assert all(label is None for label in table.values("label")[first])
    inputs = table.wide["input"][np.flatnonzero(first)]
    assert np.abs(inputs.mean(0)).max() < 0.1


def test_it_can_lie_on_disk(tmp_path: Path) -> None:
    benchmark = tiny_benchmark(folder=tmp_path)
    assert benchmark.files == (tmp_path,)
    points = np.load(tmp_path / "point.npy")
    assert np.array_equal(points, benchmark.raw.wide["point"][np.arange(len(points))])


def test_it_is_always_the_same() -> None:
    assert tiny_benchmark().raw.digest == tiny_benchmark("online").raw.digest


def test_an_unknown_protocol_is_told_the_nearest() -> None:
    with pytest.raises(OnwardError, match="Did you mean 'online'"):
        tiny_benchmark("onlin")
