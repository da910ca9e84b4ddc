import pytest
import scipy.stats

from onward.metrics.student import student_beyond, student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 30, 1999])
def test_students_quantile_and_tail(freedom: int) -> None:
    for level in (0.05, 0.004):
        expected = scipy.stats.t.ppf(1 - level / 2, freedom)
        assert student_quantile(level, freedom) == pytest.approx(expected, rel=1e-6)
    for t in (0.0, 0.7, 2.5, 40.0):
        expected = 2 * scipy.stats.t.sf(t, freedom)
        assert student_beyond(t, freedom) == pytest.approx(expected, rel=1e-6, abs=1e-13)
