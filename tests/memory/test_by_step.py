"""Shares of earlier steps: the published sizes, nested, uniform."""

import json
from pathlib import Path

import numpy as np
import pytest

from onward.errors import OnwardError
from onward.memory import ByStep
from onward.memory.by_step import Rule, shares, sizes

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tic_replay_sizes.json").read_text())


@pytest.mark.parametrize("rule", ["exp", "equal"])
@pytest.mark.parametrize("data", GOLDEN)
def test_sizes_are_those_of_the_benchmark(data: str, rule: Rule) -> None:
    kept: list[int] = []
    for new, expected in zip(GOLDEN[data]["new"], GOLDEN[data][rule], strict=True):
        found = sizes(rule, new, kept)
        assert found == expected
        kept = [*found, new]


@pytest.mark.parametrize("rule", ["exp", "equal"])
@pytest.mark.parametrize("earlier", range(1, 7))
def test_old_samples_are_about_as_many_as_new_ones(rule: Rule, earlier: int) -> None:
    assert 1000 - earlier <= sum(shares(rule, 1000, earlier)) <= 1000
    assert shares(rule, 1000, 0) == []


def test_what_is_let_go_does_not_come_back() -> None:
    memory, before = ByStep("exp", seed=3), set[int]()
    for step, new in enumerate((100, 40, 400, 30)):
        memory.make_room(new)
        kept = set(memory.rows.tolist())
        assert kept <= before
        memory.admit(np.arange(1000 * step, 1000 * step + new), np.zeros(new, np.int64))
        before = set(memory.rows.tolist())
    assert np.bincount(memory.rows // 1000).tolist() == [7, 7, 15, 30]


def test_every_sample_has_the_same_chance() -> None:
    counts = np.zeros(20)
    for seed in range(2000):
        memory = ByStep("equal", seed=seed)
        memory.admit(np.arange(20))
        memory.make_room(5)
        counts[memory.rows] += 1
    # A binomial share of 1/4 over 2,000 seeds deviates by 1 %.
    assert np.abs(counts / 2000 - 0.25).max() < 0.04


def test_it_goes_on_where_it_was() -> None:
    one, other = ByStep("exp", seed=1), ByStep("exp", seed=9)
    one.admit(np.arange(30))
    other.restore(one.state())
    for memory in (one, other):
        memory.make_room(10)
    assert np.array_equal(one.rows, other.rows)


def test_another_rule_is_refused() -> None:
    with pytest.raises(OnwardError, match="exp or equal"):
        ByStep("half")  # type: ignore[arg-type]
