"""The interval and the test never contradict each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.metrics.interval import sign_flip_interval
from onward.metrics.paired import sign_flip_test


def test_worked_by_hand() -> None:
    # Seven differences: 128 patterns, k = 3. The three smallest subset means are those of {0},
    # {0, 1} and {0, 2} or {1}: 0, 0.5, 1.
    assert sign_flip_interval([0, 1, 2, 3, 4, 5, 6]) == (1.0, 5.0)


@given(st.lists(st.integers(-30, 30), min_size=6, max_size=9))
def test_it_is_the_test_inverted(differences: list[int]) -> None:
    low, high = sign_flip_interval(differences)
    d = np.array(differences, float)
    assert low <= d.mean() <= high
    for inside in np.linspace(low, high, 7)[1:-1]:
        assert sign_flip_test(d - inside) > 0.05
    if low < high:
        assert sign_flip_test(d - (low - 0.01)) <= 0.05
        assert sign_flip_test(d - (high + 0.01)) <= 0.05


def test_few_seeds_have_no_interval() -> None:
    assert sign_flip_interval([1.0, 1.1, 1.2, 1.3, 1.4]) == (-np.inf, np.inf)


def test_many_seeds_draw_subsets_the_same_every_time() -> None:
    d = np.random.default_rng(0).normal(1, 1, 30)
    low, high = sign_flip_interval(d)
    assert (low, high) == sign_flip_interval(d)
    assert 0 < low < d.mean() < high < 2


def test_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="without gaps"):
        sign_flip_interval([1.0, float("nan")])
