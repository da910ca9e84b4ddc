"""IIRC's metrics against the values of its released tests, and against sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from onward.metrics.iirc import exact_match, jaccard, pw_jaccard

TARGET = [[1, 0, 0, 0], [1, 0, 1, 0]]
# Predicted, then the mean Jaccard index, the precision-weighted one, and the exact matches.
RELEASED = [
    ([[0, 1, 0, 0], [0, 1, 0, 0]], 0, 0, 0),
    ([[1, 0, 0, 0], [0, 0, 1, 0]], 0.75, 0.75, 0.5),
    ([[1, 1, 1, 1], [1, 1, 1, 1]], 0.375, 0.15625, 0),
    ([[1, 1, 0, 0], [0, 1, 1, 1]], 0.375, 0.16667, 0),
    ([[0, 0, 0, 0], [0, 0, 0, 0]], 0, 0, 0),
]


@pytest.mark.parametrize(("predicted", "overlap", "weighted", "exact"), RELEASED)
def test_the_values_of_the_released_tests(
    predicted: list[list[int]], overlap: float, weighted: float, exact: float
) -> None:
    said, true = np.array(predicted, bool), np.array(TARGET, bool)
    assert np.mean(jaccard(said, true)) == pytest.approx(overlap, abs=1e-5)
    assert np.mean(pw_jaccard(said, true)) == pytest.approx(weighted, abs=1e-5)
    assert np.mean(exact_match(said, true)) == exact


@given(st.data(), st.integers(1, 130))
def test_counting_words_is_counting_sets(data: st.DataObject, classes: int) -> None:
    shape = arrays.arrays(bool, (3, classes))
    predicted, target = data.draw(shape), data.draw(shape)
    for number in range(3):
        said, true = (set(np.flatnonzero(row[number])) for row in (predicted, target))
        both = len(said & true)
        expected = both / len(said | true) if said | true else 0.0
        assert jaccard(predicted, target)[number] == pytest.approx(expected)
        precision = both / len(said) if said else 0.0
        assert pw_jaccard(predicted, target)[number] == pytest.approx(expected * precision)
        assert exact_match(predicted, target)[number] == (said == true)


def test_what_is_not_two_boolean_arrays_of_one_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="compare scores with a threshold first"):
        jaccard([[0.2, 0.9]], [[True, False]])
    with pytest.raises(ValueError, match="one shape"):
        pw_jaccard([[True, False]], [[True], [False]])
