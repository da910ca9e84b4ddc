"""Single numbers as people read them, and as JSON takes them."""

import math

import numpy as np

MISSING = "\N{EN DASH}"


def percent(value: float) -> str:
    """Return a score in percent.

    Examples
    --------
    >>> percent(0.685), percent(float("nan"))
    ('68.5', '–')
    """
    return MISSING if math.isnan(value) else f"{100 * value:.1f}"


def points(value: float) -> str:
    """Return a difference of scores in points, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.001)
    ('+1.2', '−0.1')
    """
    return f"{100 * value:+.1f}".replace("-", "\N{MINUS SIGN}")


def several(number: int, word: str) -> str:
    """Count things.

    Examples
    --------
    >>> several(1, "seed"), several(3, "more seed")
    ('1 seed', '3 more seeds')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def finite(value: float | None) -> float | None:
    """Return a number that JSON has; None for NaN and infinity."""
    return None if value is None or not math.isfinite(value) else float(value)


def evenly(count: int, most: int) -> list[int]:
    """Return the first of so many places, the last one and some between, at most so many.

    Examples
    --------
    >>> evenly(9, 4)
    [0, 3, 5, 8]
    """
    places = np.linspace(0, count - 1, min(most, count)).round().astype(int)
    return [int(place) for place in np.unique(places)]
