from pathlib import Path

import numpy as np
import pytest

from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.protocols import PROTOCOLS


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(6))
def test_every_seed_has_something_to_learn_and_to_test(protocol: str, seed: int) -> None:
    stream = tiny_benchmark(protocol).stream(seed)
    assert all(len(period.test) > 0 for period in stream)
    for period in stream[-1:] if protocol == "offline" else stream:
        assert len(period.shown) > 30
        assert len(period.train) > 0


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
