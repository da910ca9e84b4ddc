"""Spearman's correlation against scipy, and what few classes can show."""

import numpy as np
import pytest
import scipy.stats

from onward.metrics.rank_correlation import rank_correlation, spearman


@pytest.mark.parametrize("seed", range(5))
def test_as_scipy_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 30), rng.normal(size=30).round(1)
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-9)


def test_a_class_counts_once() -> None:
    # Three classes, each of which was seen thirty times: three things, whatever the points say.
    rng = np.random.default_rng(0)
    units = np.repeat(["a", "b", "c"], 30)
    level = np.repeat([0.0, 1.0, 2.0], 30)
    x, y = level + 0.1 * rng.normal(size=90), level + 0.1 * rng.normal(size=90)
    found = rank_correlation(x, y, units)
    assert found.value > 0.8
    assert found.p > 0.1
    assert (found.units, found.points) == (3, 90)


def test_nothing_to_rank() -> None:
    assert np.isnan(spearman([1, 1, 1], [1, 2, 3]))
    assert np.isnan(rank_correlation([1, 2], [1, 2], "ab").p)
