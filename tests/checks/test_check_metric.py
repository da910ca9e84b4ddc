from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onward.checks import CheckFailed, check_metric
from onward.errors import OnwardError

_CALLS: list[float] = []


def honest(R: Any) -> float:
    matrix = np.array(R, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("not square")
    return float(np.diagonal(matrix).mean())


def changes_its_input(R: Any) -> float:
    value = honest(R)
    if isinstance(R, np.ndarray):
        R[0, -1] = 0
    return value


def fills_with_zeros_in_place(R: Any) -> float:
    if isinstance(R, np.ndarray) and R.dtype.kind == "f":
        np.nan_to_num(R, copy=False)
    return honest(R)


def remembers(R: Any) -> float:
    value = honest(R)
    _CALLS.append(value)
    return value + len(_CALLS)


def needs_an_array(R: Any) -> float:
    if R.ndim != 2 or R.shape[0] != R.shape[1]:
        raise ValueError("not square")
    return honest(R)


def returns_an_array(R: Any) -> Any:
    return np.array([honest(R)])[0:1].reshape(())


def zero_for_nothing(R: Any) -> float:
    value = honest(R)
    return 0.0 if np.isnan(value) else value


def raises_for_nothing(R: Any) -> float:
    value = honest(R)
    if np.isnan(value):
        raise ValueError("nothing there")
    return value


def divides_by_the_spread(R: Any) -> float:
    matrix = np.array(R, float)
    return honest(R) / float(matrix.max() - matrix.min() + (matrix.max() > 2))


def takes_anything(R: Any) -> float:
    return float(np.mean(np.array(R, float)))


def indexes_blindly(R: Any) -> float:
    matrix = np.array(R, float)
    return float(np.mean([matrix[i][i] for i in range(max(matrix.shape))]))


def counts_in_its_own_type(R: Any) -> float:
    matrix = np.asarray(R)
    return honest(matrix // 2 * 2) if matrix.dtype.kind == "i" else honest(matrix)


def doubled(R: Any) -> float:
    return 2 * honest(R)


BROKEN: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (changes_its_input, "leaves_its_input_alone"),
    (fills_with_zeros_in_place, "leaves_its_input_alone"),
    (remembers, "gives_the_same_twice"),
    (needs_an_array, "takes_lists"),
    (returns_an_array, "returns_a_float"),
    (zero_for_nothing, "empty_cells_give_nan"),
    (raises_for_nothing, "empty_cells_give_nan"),
    (divides_by_the_spread, "constant_scores_give_a_number"),
    (takes_anything, "refuses_what_is_not_square"),
    (indexes_blindly, "refuses_what_is_not_square"),
    (counts_in_its_own_type, "integers_count_as_floats"),
    (doubled, "stays_in_bounds"),
)


def test_an_honest_metric_passes() -> None:
    assert len(check_metric(honest, bounds=(0, 1)).passed) == 9


@pytest.mark.parametrize(("metric", "check"), BROKEN)
def test_a_broken_metric_fails_the_right_check(metric: Callable[[Any], Any], check: str) -> None:
    report = check_metric(metric, bounds=(0, 1), raise_on_failure=False)
    assert check in [finding.check for finding in report.failed]
    with pytest.raises(CheckFailed, match=f"{metric.__name__} fails"):
        check_metric(metric, bounds=(0, 1))


def test_a_metric_that_states_no_bounds_is_not_held_to_any() -> None:
    assert [finding.check for finding in check_metric(honest).skipped] == ["stays_in_bounds"]


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(OnwardError, match=r"Did you mean 'clear\.in_domain'"):
        check_metric("clear.in_doman")
