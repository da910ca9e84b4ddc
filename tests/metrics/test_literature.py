"""The older literature's metrics on one hand-worked matrix, and what every metric must keep."""

import importlib
import math
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import onward.metrics
from onward.metrics import METRICS, clear, literature

WORKED = [[0.80, 0.10, 0.10], [0.90, 0.80, 0.10], [0.70, 0.85, 0.75]]
FORGETS = [[0.80, 0.10, 0.10], [0.70, 0.80, 0.10], [0.60, 0.80, 0.75]]


def call(name: str, R: object) -> float:
    metric = METRICS[name]
    if metric.needs_baseline:
        return metric.function(R, [0.05] * len(R))  # type: ignore[arg-type]
    return metric.function(R)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gem_average_accuracy", 2.30 / 3),
        ("gem_backward_transfer", -0.025),
        ("chaudhry_forgetting", 0.075),
        ("diaz_rodriguez_accuracy", 0.80),
        ("diaz_rodriguez_backward_transfer", 0.05 / 3),
        ("diaz_rodriguez_remembering", 1.0),
        ("diaz_rodriguez_positive_backward_transfer", 0.05 / 3),
        ("diaz_rodriguez_forward_transfer", 0.10),
    ],
)
def test_worked_matrix(name: str, expected: float) -> None:
    assert getattr(literature, name)(WORKED) == pytest.approx(expected)


def test_gem_forward_transfer_subtracts_each_periods_own_baseline() -> None:
    R = [[0.80, 0.10, 0.30], [0.90, 0.80, 0.20], [0.70, 0.85, 0.75]]
    got = literature.gem_forward_transfer(R, [float("nan"), 0.10, 0.05])
    assert got == pytest.approx((0.00 + 0.15) / 2)
    assert math.isnan(literature.gem_forward_transfer(R, [0.1, 0.1, float("nan")]))


def test_gem_forward_transfer_wants_a_baseline_for_every_period() -> None:
    with pytest.raises(ValueError, match=r"each of the 3 periods, got 2; test the untrained"):
        literature.gem_forward_transfer(WORKED, [0.1, 0.1])


def test_backward_transfer_splits_into_remembering_and_a_positive_part() -> None:
    assert literature.diaz_rodriguez_backward_transfer(FORGETS) == pytest.approx(-0.10)
    assert literature.diaz_rodriguez_remembering(FORGETS) == pytest.approx(0.90)
    assert literature.diaz_rodriguez_positive_backward_transfer(FORGETS) == 0


def test_remembering_refuses_percentages() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1 .* got 60 to 80; divide percentages"):
        literature.diaz_rodriguez_remembering(100 * np.array(FORGETS))


def test_the_three_forgettings_of_other_libraries_are_not_this_one() -> None:
    R = np.array(WORKED)
    with_final = (R.max(axis=0) - R[-1])[:-1].mean()
    since_learned = (np.diagonal(R) - R[-1])[:-1].mean()
    assert with_final == pytest.approx(0.100)
    assert since_learned == pytest.approx(0.025) == -literature.gem_backward_transfer(R)
    assert literature.chaudhry_forgetting(R) == pytest.approx(0.075)


def test_chaudhry_forgetting_is_negative_when_the_final_model_is_best() -> None:
    assert literature.chaudhry_forgetting([[0.5, 0.0], [0.7, 0.9]]) == pytest.approx(-0.2)


def test_chaudhry_forgetting_looks_only_at_models_that_have_learned_the_period() -> None:
    R = [[0.5, 0.9, 0.0], [0.5, 0.6, 0.0], [0.5, 0.4, 0.8]]
    assert literature.chaudhry_forgetting(R) == pytest.approx((0.0 + 0.2) / 2)


def test_without_tests_ahead_only_the_metrics_that_look_ahead_are_empty() -> None:
    R = np.array(WORKED)
    R[np.triu_indices(3, 1)] = np.nan
    ahead = {
        "clear.next_domain",
        "clear.forward_transfer",
        "clear.challenge_score",
        "literature.gem_forward_transfer",
        "literature.diaz_rodriguez_forward_transfer",
        "distance.decay_rate",
    }
    assert {name for name in METRICS if math.isnan(call(name, R))} == ahead


def test_streaming_leaves_only_the_metrics_of_the_upper_triangle() -> None:
    R = np.array(WORKED)
    R[np.tril_indices(3)] = np.nan
    defined = {
        "clear.next_domain",
        "clear.forward_transfer",
        "literature.gem_forward_transfer",
        "literature.diaz_rodriguez_forward_transfer",
        "distance.decay_rate",
    }
    assert {name for name in METRICS if not math.isnan(call(name, R))} == defined


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", METRICS)
def test_one_period_needs_no_special_care(name: str) -> None:
    defined = {
        "clear.in_domain",
        "clear.accuracy",
        "literature.gem_average_accuracy",
        "literature.diaz_rodriguez_accuracy",
    }
    value = call(name, [[0.5]])
    assert value == 0.5 if name in defined else math.isnan(value)


@pytest.mark.parametrize("name", METRICS)
@given(
    R=st.integers(1, 6).flatmap(
        lambda n: arrays(np.float64, (n, n), elements=st.floats(0, 1) | st.just(float("nan")))
    )
)
def test_metrics_leave_their_input_alone(name: str, R: np.ndarray) -> None:
    before = R.copy()
    first = call(name, R)
    np.testing.assert_array_equal(R, before)
    assert type(first) is float
    np.testing.assert_equal(call(name, R.tolist()), first)


@given(n=st.integers(2, 8), constant=st.floats(0, 1))
def test_a_constant_matrix_has_constant_means_and_no_differences(n: int, constant: float) -> None:
    R = np.full((n, n), constant)
    differences = {
        "literature.gem_backward_transfer",
        "literature.chaudhry_forgetting",
        "literature.diaz_rodriguez_backward_transfer",
        "literature.diaz_rodriguez_positive_backward_transfer",
        "distance.decay_rate",
    }
    expected = dict.fromkeys(METRICS, constant)
    expected |= dict.fromkeys(differences, 0.0)
    expected["literature.diaz_rodriguez_remembering"] = 1.0
    expected["literature.gem_forward_transfer"] = constant - 0.05
    for name, value in expected.items():
        assert call(name, R) == pytest.approx(value, abs=1e-12), name


@given(n=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_against_the_formulas_written_as_loops(n: int, seed: int) -> None:
    R = np.random.default_rng(seed).random((n, n))
    last = n - 1
    gem = sum(R[last, i] - R[i, i] for i in range(last)) / last
    pairs = [R[i, j] - R[j, j] for i in range(n) for j in range(i)]
    chaudhry = sum(max(R[k, j] for k in range(j, last)) - R[last, j] for j in range(last)) / last
    assert literature.gem_backward_transfer(R) == pytest.approx(gem)
    assert literature.diaz_rodriguez_backward_transfer(R) == pytest.approx(sum(pairs) / len(pairs))
    assert literature.chaudhry_forgetting(R) == pytest.approx(chaudhry)
    assert literature.diaz_rodriguez_accuracy(R) == clear.accuracy(R)
    assert literature.diaz_rodriguez_forward_transfer(R) == clear.forward_transfer(R)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([[1.0, 2.0]], r"expected a square .* got shape \(1, 2\); pass one row per learned_upto"),
        ([1.0, 2.0], r"expected a square .* got shape \(2,\)"),
        (np.zeros((0, 0)), r"at least one period, got shape \(0, 0\)"),
        ([[1.0], [1.0, 2.0]], r"got rows of different lengths; fill the missing cells with NaN"),
        ([[1.0, None], [1.0, 2.0]], r"got dtype object; .* write NaN \(not None\)"),
        ([["a", "b"], ["c", "d"]], r"expected a square score matrix of real numbers, got dtype <U"),
        ([[1.0, float("inf")], [1.0, 1.0]], r"without infinities, got inf; write NaN"),
    ],
)
def test_errors_say_what_was_expected_and_found_and_what_to_do(
    name: str, bad: object, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        call(name, bad)


def test_the_catalogue_holds_every_function_from_matrix_to_number() -> None:
    curves = {"distance.by_time_distance", "distance.per_class_decay_rate"}
    public = {
        f"{module}.{name}"
        for module in ("clear", "literature", "distance")
        for name, value in vars(importlib.import_module(f"onward.metrics.{module}")).items()
        if isinstance(value, types.FunctionType)
        and value.__module__ == f"onward.metrics.{module}"
        and not name.startswith("_")
    }
    assert set(METRICS) == public - curves


@pytest.mark.parametrize("name", METRICS)
def test_a_catalogue_name_is_where_the_function_lives(name: str) -> None:
    metric = METRICS[name]
    module, function = name.split(".")
    assert metric.name == name
    assert getattr(getattr(onward.metrics, module), function) is metric.function
    assert metric.source
    assert metric.summary


def test_lower_is_better_only_for_losses() -> None:
    lower = {name for name, metric in METRICS.items() if not metric.higher_is_better}
    assert lower == {"literature.chaudhry_forgetting", "distance.decay_rate"}
