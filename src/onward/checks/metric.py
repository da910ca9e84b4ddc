"""Checks of a metric: a pure function from a score matrix to a number."""

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from onward.checks.report import Report, Skipped, expected, run_checks
from onward.metrics import METRICS, Metric


@dataclass(frozen=True)
class _Subject:
    function: Callable[..., Any]
    needs_baseline: bool
    bounds: tuple[float, float] | None

    def __call__(self, matrix: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self.needs_baseline:
                return self.function(matrix)
            return self.function(matrix, np.full(len(matrix), 0.25))

    def number(self, matrix: Any, advice: str = "Take any square matrix of scores") -> float:
        """Return what the metric makes of a matrix, which must be a number."""
        try:
            return float(self(matrix))
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
            kind = f"{type(matrix).__name__} {np.array(matrix).tolist()}"
            raise expected(f"a number for {kind}", repr(error), advice) from error


def check_metric(
    function: Callable[..., Any] | Metric | str,
    *,
    needs_baseline: bool = False,
    bounds: tuple[float, float] | None = None,
    only: Collection[str] | None = None,
    raise_on_failure: bool = True,
) -> Report:
    """Check that a metric is a pure function of a score matrix.

    Parameters
    ----------
    function
        Takes a score matrix and returns a number; or a catalogued metric, or its name.
    needs_baseline
        Whether it takes the scores of an untrained model as a second argument.
    bounds
        The smallest and the largest value it can take if all scores lie between 0 and 1; by
        default what a catalogued metric says.
    only
        Names of the checks to make; by default all of them.
    raise_on_failure
        Whether to raise `CheckFailed`; otherwise the report says what failed.

    Examples
    --------
    >>> from onward.metrics import clear
    >>> check_metric(clear.in_domain, bounds=(0, 1)).ok
    True
    """
    if isinstance(function, str):
        function = METRICS.find(function)
    if isinstance(function, Metric):
        name = function.name
        subject = _Subject(function.function, function.needs_baseline, bounds or function.bounds)
    else:
        name = getattr(function, "__qualname__", type(function).__name__)
        subject = _Subject(function, needs_baseline, bounds)
    return run_checks("metric", name, subject, CHECKS, only=only, raise_on_failure=raise_on_failure)


def leaves_its_input_alone(metric: _Subject) -> None:
    """Its matrix is left as it was."""
    for matrix in (_scores(), np.full((3, 3), np.nan)):
        given = matrix.copy()
        metric.number(given)
        if given.tobytes() != matrix.tobytes():
            where = np.argwhere(~((given == matrix) | (np.isnan(given) & np.isnan(matrix))))
            raise expected(
                "the matrix as it was",
                f"another value in cell {tuple(where[0].tolist())}" if len(where) else "other bits",
                "Work on a copy: np.array(R, float)",
            )


def gives_the_same_twice(metric: _Subject) -> None:
    """One matrix gives one number, however often it is asked for."""
    values = [metric.number(_scores()) for _ in range(3)]
    if len({value.hex() for value in values}) > 1:
        raise expected("one value", f"{values}", "Keep no state and draw nothing at random")


def takes_lists(metric: _Subject) -> None:
    """Nested lists give the same number as an array."""
    array = metric.number(_scores())
    value = metric.number(_scores().tolist(), "Begin with np.array(R, float)")
    if value.hex() != array.hex():
        raise expected(f"{array} as for an array", f"{value}", "Begin with np.array(R, float)")


def returns_a_float(metric: _Subject) -> None:
    """One plain float comes out of a square matrix."""
    value = metric(_scores())
    if not isinstance(value, float):
        raise expected("a float", f"{type(value).__name__} {value!r}", "Return float(value)")


def empty_cells_give_nan(metric: _Subject) -> None:
    """NaN comes out, and never a number, if every cell is empty."""
    value = metric.number(np.full((4, 4), np.nan))
    if not np.isnan(value):
        raise expected(
            "NaN for a matrix of empty cells",
            f"{value}",
            "An empty cell is no score, and 0 is one: let NaN pass through",
        )


def constant_scores_give_a_number(metric: _Subject) -> None:
    """Finite scores give a finite number, also if all of them are equal."""
    for score in (0.0, 0.5, 1.0):
        value = metric.number(np.full((4, 4), score))
        if not np.isfinite(value):
            raise expected(
                f"a finite number where every score is {score}",
                f"{value}",
                "Guard the division, or the logarithm, that fails there",
            )


def refuses_what_is_not_square(metric: _Subject) -> None:
    """ValueError is raised for what is not a square matrix."""
    for shape in ((2, 3), (3, 2), (2, 2, 2)):
        try:
            value = metric(np.full(shape, 0.5))
        except ValueError:
            continue
        except (IndexError, TypeError) as error:
            raise expected(
                f"ValueError for shape {shape}", repr(error), "Check the shape before indexing"
            ) from error
        raise expected(
            f"ValueError for shape {shape}", f"{value!r}", "Check the shape before computing"
        )


def integers_count_as_floats(metric: _Subject) -> None:
    """Integers give the same number as floats."""
    whole = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    values = [metric.number(whole.astype(kind)) for kind in (np.int64, np.float32, np.float64)]
    if len({value.hex() for value in values}) > 1:
        raise expected(
            "one value for int64, float32 and float64", f"{values}", "Begin with np.array(R, float)"
        )


def stays_in_bounds(metric: _Subject) -> str:
    """Scores between 0 and 1 give a number within the stated bounds."""
    if metric.bounds is None:
        raise Skipped("no bounds were stated")
    low, high = metric.bounds
    rng = np.random.default_rng(0)
    extremes = [np.triu(np.ones((4, 4))), np.tril(np.ones((4, 4))), np.eye(4), np.ones((4, 4))]
    for matrix in (*extremes, *(1 - m for m in extremes), *rng.random((20, 4, 4))):
        value = metric.number(matrix)
        # A mean of equal numbers may miss them by rounding.
        if not low - 1e-12 <= value <= high + 1e-12:
            raise expected(
                f"a value from {low} to {high}", f"{value}", "Mend the formula or state its bounds"
            )
    return f"from {low} to {high}"


CHECKS: tuple[Callable[[_Subject], str | None], ...] = (
    leaves_its_input_alone,
    gives_the_same_twice,
    takes_lists,
    returns_a_float,
    empty_cells_give_nan,
    constant_scores_give_a_number,
    refuses_what_is_not_square,
    integers_count_as_floats,
    stays_in_bounds,
)


def _scores() -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(
        [[0.8, 0.1, 0.3, 0.2], [0.9, 0.8, 0.1, 0.4], [0.7, 0.85, 0.75, 0.3], [0.6, 0.8, 0.7, 0.9]]
    )
