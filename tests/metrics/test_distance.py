"""Score by distance in time: against hand-worked cells, numpy's line fit, and empty cells."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.metrics import clear
from onward.metrics.distance import by_time_distance, decay_rate, per_class_decay_rate

GOLDEN = Path(__file__).parents[1] / "golden"
WORKED = [[0.80, 0.10, 0.10], [0.90, 0.80, 0.20], [0.70, 0.85, 0.75]]
NAN = float("nan")


def test_worked_matrix_by_distance() -> None:
    got = by_time_distance(WORKED)
    assert got.distance.tolist() == [-2, -1, 0, 1, 2]
    np.testing.assert_allclose(got.mean, [0.70, 0.875, 2.35 / 3, 0.15, 0.10])


@pytest.mark.filterwarnings("error")
def test_empty_cells_are_skipped_and_empty_distances_are_nan() -> None:
    R = [[NAN, 0.4, 0.2], [NAN, NAN, NAN], [NAN, NAN, NAN]]
    np.testing.assert_array_equal(by_time_distance(R).mean, [NAN, NAN, NAN, 0.4, 0.2])


@given(n=st.integers(2, 7), seed=st.integers(0, 2**32 - 1))
def test_distances_zero_and_one_are_in_domain_and_next_domain(n: int, seed: int) -> None:
    R = np.random.default_rng(seed).random((n, n))
    distance, mean = by_time_distance(R)
    assert len(distance) == 2 * n - 1
    by_distance = dict(zip(distance.tolist(), mean.tolist(), strict=True))
    assert by_distance[0] == pytest.approx(clear.in_domain(R))
    assert by_distance[1] == pytest.approx(clear.next_domain(R))


@given(
    n=st.integers(2, 8),
    rate=st.floats(-2, 2),
    streaming=st.booleans(),
    noise_below=st.integers(0, 2**32 - 1),
)
def test_a_straight_decline_gives_its_own_rate_under_both_protocols(
    n: int, rate: float, noise_below: int, *, streaming: bool
) -> None:
    i, j = np.indices((n, n))
    R = 90 - rate * (j - i)
    R[i > j] = np.random.default_rng(noise_below).random((i > j).sum())
    if streaming:
        R[i >= j] = NAN
        if n == 2:
            assert math.isnan(decay_rate(R))
            return
    assert decay_rate(R) == pytest.approx(rate, abs=1e-9)


@given(n=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_every_cell_weighs_the_same(n: int, seed: int) -> None:
    R = np.random.default_rng(seed).random((n, n))
    i, j = np.triu_indices(n)
    slope = np.polyfit(j - i, R[i, j], 1)[0]
    assert decay_rate(R) == pytest.approx(-slope, abs=1e-9)


def test_a_cell_counts_once_however_many_share_its_distance() -> None:
    # Weighing the three distances instead of the six cells would give 0.5.
    R = [[1.0, 1.0, 0.0], [NAN, 1.0, 1.0], [NAN, NAN, 1.0]]
    # Distances 0,0,0,1,1,2 have mean 2/3; sum of squares 10/3; cross sum with score -4/3.
    assert decay_rate(R) == pytest.approx((4 / 3) / (10 / 3))


def test_figure_6_of_clear_loses_three_quarters_of_a_point_per_period() -> None:
    table = np.loadtxt(GOLDEN / "clear_figure6_matrix.csv", delimiter=",", skiprows=1)
    # The value is the textbook slope formula over the 55 cells, in exact fractions.
    assert decay_rate(table[:, 1:]) == pytest.approx(0.7586, abs=5e-5)


@pytest.mark.filterwarnings("error")
def test_one_distance_has_no_rate() -> None:
    assert math.isnan(decay_rate([[0.5]]))
    assert math.isnan(decay_rate([[0.9, NAN], [0.9, 0.8]]))
    assert math.isnan(decay_rate([[NAN, NAN], [NAN, NAN]]))


def test_per_class_rates_are_the_rates_of_the_classes_alone() -> None:
    cube = np.random.default_rng(0).random((4, 4, 3))
    cube[:, 2, 1] = NAN  # class 1 has no sample in period 2
    cube[:, :, 2] = NAN  # class 2 is never seen
    rates = per_class_decay_rate(cube)
    assert rates.shape == (3,)
    assert rates[0] == decay_rate(cube[:, :, 0])
    assert rates[1] == decay_rate(cube[:, :, 1])
    assert not math.isnan(rates[1])
    assert math.isnan(rates[2])


def test_inputs_are_left_alone() -> None:
    R = np.array(WORKED)
    cube = np.stack([R, R], axis=2)
    by_time_distance(R)
    decay_rate(R)
    per_class_decay_rate(cube)
    np.testing.assert_array_equal(R, WORKED)
    np.testing.assert_array_equal(cube[:, :, 1], WORKED)


def test_per_class_scores_must_have_three_axes() -> None:
    with pytest.raises(ValueError, match=r"shape \(T, T, C\), got shape \(3, 3\); pass learned"):
        per_class_decay_rate(WORKED)
    with pytest.raises(ValueError, match=r"got shape \(3, 2, 4\)"):
        per_class_decay_rate(np.zeros((3, 2, 4)))
    with pytest.raises(ValueError, match=r"expected a square score matrix"):
        by_time_distance([[1.0, 2.0]])
