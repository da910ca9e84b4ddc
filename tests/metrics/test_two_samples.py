"""The classifier test: rare false alarms, groups kept apart, what it is sure about."""

import numpy as np
import pytest
from numpy.typing import NDArray

from onward.metrics.drift import frechet_distance
from onward.metrics.two_samples import _PENALTIES, _learned, holm, told_apart


def test_false_alarms_are_rare_and_the_interval_agrees() -> None:
    rng, alarms = np.random.default_rng(0), 0
    for trial in range(100):
        a, b = rng.normal(size=(2, 40, 6))
        found = told_apart(a, b, seed=trial)
        assert (found.p <= 0.05) == (not found.low <= 0.5 <= found.high)
        alarms += found.p <= 0.05
    assert alarms <= 10


def test_false_alarms_are_rare_where_samples_of_a_group_are_alike() -> None:
    rng, alarms = np.random.default_rng(1), 0
    for trial in range(100):
        centres = rng.normal(size=(24, 6))
        values = np.repeat(centres, 10, axis=0) + 0.1 * rng.normal(size=(240, 6))
        groups = np.repeat(np.arange(24), 10)
        found = told_apart(values[:120], values[120:], groups[:120], groups[120:], seed=trial)
        alarms += found.p <= 0.05
    assert alarms <= 10


def test_uneven_periods_are_told_apart_no_better_for_it() -> None:
    rng = np.random.default_rng(2)
    found = told_apart(rng.normal(size=(400, 4)), rng.normal(size=(30, 4)))
    assert found.low < 0.5 < found.high
    moved = told_apart(rng.normal(size=(400, 4)), rng.normal(size=(60, 4)) + 1.5)
    assert moved.low > 0.6
    assert 0.8 < moved.auc <= 1


def test_more_numbers_than_samples_and_numbers_that_never_change() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 60, 200))
    b[:, 0] += 4
    a[:, 1] = b[:, 1] = 7
    found = told_apart(a, b)
    assert found.p < 0.05
    assert np.isfinite(found.scores_a).all()


def test_what_is_the_same_thing_in_both_gives_nothing_away() -> None:
    rng = np.random.default_rng(4)
    things = rng.normal(size=(150, 5))
    found = told_apart(things, things, range(150), range(150))
    assert found.accuracy == pytest.approx(0.5)
    assert found.p > 0.9


def test_periods_far_apart_are_told_apart_in_every_half() -> None:
    a, b = np.random.default_rng(5).normal(size=(2, 41, 3))
    found = told_apart(a, b[:21] + 9)
    assert (found.accuracy, found.auc) == (1, 1)


def test_scores_say_who_is_typical() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 200, 3))
    b[:100, 0] += 5
    found = told_apart(a, b)
    assert set(np.argsort(-found.scores_b)[:50].tolist()) <= set(range(100))


def test_too_few_groups_are_refused() -> None:
    values = np.random.default_rng(6).normal(size=(40, 3))
    with pytest.raises(ValueError, match=r"at least 2 groups in b, .* got 1"):
        told_apart(values[:20], values[20:], range(20), [100] * 20)


def test_groups_of_both_periods_are_dealt_to_the_halves_once() -> None:
    values, groups = np.random.default_rng(6).normal(size=(2, 20, 3)), [0, 1] * 10
    for seed in range(8):
        # With two groups, a half that was dealt to twice would leave the other without any.
        assert told_apart(*values, groups, groups, seed=seed).p > 0.05


def test_what_cannot_be_compared_is_refused() -> None:
    a, b = np.random.default_rng(6).normal(size=(2, 40, 3))
    broken = a.copy()
    broken[:2, 0] = np.inf, -np.inf
    with pytest.raises(ValueError, match="expected embeddings of one width"):
        told_apart(a, b[:, :2])
    for other in (broken, np.where(np.isinf(broken), np.nan, broken)):
        with pytest.raises(ValueError, match="expected finite embeddings"):
            told_apart(other, b)
        with pytest.raises(ValueError, match="expected finite embeddings"):
            frechet_distance(other, b)
    with pytest.raises(ValueError, match="a group for each of 80 samples, got 43"):
        told_apart(a, b, range(3), range(40))
    with pytest.raises(ValueError, match="a level between 0 and 1, got nan"):
        told_apart(a, b, level=float("nan"))


def test_two_groups_prove_little_and_six_prove_it() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 120, 3))
    b[:, 0] += 9
    few = told_apart(a, b, np.arange(120) // 20, 10 + np.arange(120) // 60)
    more = told_apart(a, b, np.arange(120) // 20, 10 + np.arange(120) // 20)
    assert few.accuracy == more.accuracy == 1
    assert 0.01 < few.p < 0.1
    assert more.p < 0.001


def test_few_groups_raise_no_false_alarm_far_below_the_level_either() -> None:
    rng, alarms = np.random.default_rng(8), 0
    groups = np.repeat(np.arange(6), 30)
    for trial in range(200):
        values = np.repeat(rng.normal(size=(6, 3)), 30, axis=0) + 0.1 * rng.normal(size=(180, 3))
        found = told_apart(values[:90], values[90:], groups[:90], groups[90:], seed=trial)
        alarms += found.p <= 0.005
    assert alarms <= 4


@pytest.mark.parametrize("width", [3, 40])
def test_the_penalty_is_that_of_the_least_error_on_samples_left_out(width: int) -> None:
    rng = np.random.default_rng(width)
    later = np.repeat([False, True], [8, 13])
    values = rng.normal(size=(21, width)) + 0.7 * later[:, None]
    weight = 0.5 / np.where(later, 13, 8)
    centre = weight @ values
    inputs = (values - centre) / np.sqrt(weight @ np.square(values - centre))
    inputs, target = np.column_stack([np.ones(21), inputs]), np.where(later, 1.0, -1.0)

    def fitted(rows: NDArray[np.intp], penalty: float) -> NDArray[np.float64]:
        weighted = inputs[rows].T * weight[rows]
        ridge = penalty * np.diag([0.0, *np.ones(width)])
        return np.linalg.solve(weighted @ inputs[rows] + ridge, weighted @ target[rows])

    def error(penalty: float) -> float:
        others = [np.delete(np.arange(21), one) for one in range(21)]
        said = [inputs[one] @ fitted(rest, penalty) for one, rest in enumerate(others)]
        return float(weight @ np.square(target - said))

    moments = np.linalg.eigvalsh((inputs[:, 1:].T * weight) @ inputs[:, 1:])
    scale = moments[moments > 1e-10 * moments[-1]].mean()
    best = min(_PENALTIES * scale, key=error)
    expected = inputs @ fitted(np.arange(21), best)
    np.testing.assert_allclose(_learned(values, later)(values), expected, atol=1e-9)


def test_holm_against_its_definition() -> None:
    assert holm([0.02, 0.01, 0.04, 0.03]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
