"""Decay in time, by hand: distances, classes, and what cancels out."""

from collections.abc import Callable

import numpy as np
import pytest

from onward.report.decay import class_decay, curve, exchange, staleness
from onward.report.summary import summarise

NAN = float("nan")
FIRST, SECOND = [[0.8, 0.6], [0.4, 0.7]], [[0.9, 0.5], [0.6, 0.8]]


def test_scores_by_distance_are_averaged_over_seeds(make: Callable) -> None:
    line = curve(summarise([make(FIRST), make(SECOND, seed=1)])[0])
    assert line.distances.tolist() == [-1, 0, 1]
    np.testing.assert_allclose(line.mean, [0.5, 0.8, 0.55])
    np.testing.assert_allclose(line.deviation, np.array([0.2, 0.1, 0.1]) / np.sqrt(2))


def test_distances_that_are_not_tested_are_not_there(make: Callable) -> None:
    R = [[NAN, 0.6, 0.5], [NAN, NAN, 0.7], [NAN, NAN, NAN]]
    line = curve(summarise([make(R, protocol="streaming")])[0])
    assert line.distances.tolist() == [1, 2]
    np.testing.assert_allclose(line.mean, [0.65, 0.5])
    assert np.isnan(line.deviation).all()


def test_weak_models_and_hard_periods_cancel_out_of_an_exchange() -> None:
    rng = np.random.default_rng(0)
    i, j = np.indices((5, 5))
    R = rng.random((5, 1)) + rng.random((1, 5)) - 0.02 * abs(i - j)
    np.testing.assert_allclose(exchange(R), -0.02 * abs(i - j), atol=1e-12)


def test_classes_are_ranked_by_what_they_lose_per_period(make: Callable) -> None:
    i, j = np.indices((3, 3))
    steady, falling = np.full((3, 3), 0.5), 0.9 - 0.2 * abs(i - j)
    # The weak first model would look like decay of a class that does not move.
    weak = np.where(i == 0, 0.2, 0.8)
    cube = np.stack([steady, weak, falling], axis=2)
    records = [
        make(falling, seed=seed, cubes=cube, classes=("steady", "weak", "falling"))
        for seed in (0, 1)
    ]
    rates = class_decay(summarise(records)[0])
    assert next(iter(rates)) == "falling"
    assert rates["falling"].values == pytest.approx((0.2, 0.2))
    assert rates["weak"].mean == pytest.approx(0.0, abs=1e-12)


def test_classes_need_predictions_and_tests_of_the_past(make: Callable) -> None:
    assert class_decay(summarise([make(FIRST)])[0]) == {}
    future = np.array([[NAN, 0.5], [NAN, NAN]])
    record = make(future, protocol="streaming", cubes=future[:, :, None], classes=("one",))
    assert class_decay(summarise([record])[0]) == {}


def test_staleness_by_hand(make: Callable) -> None:
    found = staleness(summarise([make(FIRST)])[0])
    assert found is not None
    assert found.home.mean == pytest.approx(0.75)
    assert found.abroad.mean == pytest.approx(0.5)
    assert found.loss.mean == pytest.approx(0.25)
    assert found.behind.mean == pytest.approx(0.1)


def test_there_is_no_staleness_without_the_past_or_without_time(make: Callable) -> None:
    streaming = make([[NAN, 0.6], [NAN, NAN]], protocol="streaming")
    assert staleness(summarise([streaming])[0]) is None
    assert staleness(summarise([make([[0.5]])])[0]) is None
