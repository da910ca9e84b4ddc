"""Student's t with a whole number of degrees of freedom, exactly."""

import math

import numpy as np


def student_quantile(level: float, freedom: int) -> float:
    """Return what Student's t exceeds, on either side, as often as the level says.

    ``t`` with ``P(|T| > t) = level``.

    Examples
    --------
    >>> round(student_quantile(0.05, 4), 4)
    2.7764
    """
    low, high = 0.0, 1.0
    while student_beyond(high, freedom) > level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_beyond(middle, freedom) > level else (low, middle)
    return high


def student_beyond(t: float, freedom: int) -> float:
    """Return how often Student's t is farther from zero: ``P(|T| > t)``.

    Why: Holm's rule asks for p-values far below the level, where those of a normal distribution,
    stretched to agree with Student's at the level, are too small.

    Examples
    --------
    >>> round(student_beyond(2.7764, 4), 4)
    0.05

    References
    ----------
    Abramowitz and Stegun. "Handbook of Mathematical Functions." 1964, 26.7.3 and 26.7.4.
    """
    angle, odd = math.atan2(t, math.sqrt(freedom)), freedom % 2
    steps = np.arange(1, freedom // 2, dtype=np.float64)
    factors = (2 * steps - 1 + odd) / (2 * steps + odd) * math.cos(angle) ** 2
    series = math.sin(angle) * (1 + float(np.cumprod(factors).sum()))
    if odd:
        tail = math.cos(angle) * series if freedom > 1 else 0.0
        return max(1 - 2 / math.pi * (angle + tail), 0.0)
    return max(1 - series, 0.0)
