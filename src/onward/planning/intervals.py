"""Intervals over seeds; none is invented where there are too few."""

import math

from numpy.typing import ArrayLike

from onward.metrics.interval import sign_flip_interval

Interval = tuple[float, float] | None


def interval(values: ArrayLike) -> Interval:
    """Return the 95 % interval of a mean over seeds; None where there are too few seeds for one.

    Examples
    --------
    >>> interval([1, 2, 3, 4, 5, 6])
    (1.0, 6.0)
    >>> interval([1.0]) is None
    True
    """
    low, high = sign_flip_interval(values)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
