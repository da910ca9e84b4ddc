"""Can a classifier tell two periods apart? If it can, on samples that it has not seen, they differ.

References
----------
Lopez-Paz and Oquab. "Revisiting Classifier Two-Sample Tests." ICLR 2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onward.metrics.drift import Groups, finite_mean, two_embeddings
from onward.metrics.inputs import Floats
from onward.metrics.student import student_beyond, student_quantile

_PENALTIES = np.logspace(-3, 3, 13)
LEAST_GROUPS = 2
"""How many groups a period has at least: one to learn from and one to be tested on."""


@dataclass(frozen=True, eq=False)
class Told:
    """How well two periods are told apart.

    Parameters
    ----------
    accuracy
        The mean of the shares of either period that are recognised: one half is chance.
    low, high
        Its interval.
    auc
        How often a sample of the later period looks later than one of the earlier.
    p
        Two-sided p-value of an accuracy of one half; the interval holds one half where it is above
        the level, and nowhere else.
    scores_a, scores_b
        How late each sample looks, to a classifier that has seen nothing of its group. Below zero
        is earlier, above is later.
    groups
        How many different groups there are.
    """

    accuracy: float
    low: float
    high: float
    auc: float
    p: float
    scores_a: Floats
    scores_b: Floats
    groups: int


def told_apart(
    a: ArrayLike,
    b: ArrayLike,
    groups_a: Groups | None = None,
    groups_b: Groups | None = None,
    *,
    level: float = 0.05,
    seed: int = 0,
) -> Told:
    r"""Let a linear classifier tell two samples apart, on groups that it has not seen.

    .. math:: \frac{1}{2} (\text{share of a recognised} + \text{share of b recognised})

    Groups are cut into two halves. A ridge regression on either half, its penalty chosen by leaving
    out one sample of that half at a time, scores the other. Under no drift the two halves err alike
    (each is learned from what tests the other), so that together they are worth no more than one:
    the interval is Wilson's for half of the effective number of samples, which is what the spread
    over groups leaves of them, and never more than there are. A period of a few groups, such as
    drives, is known no better than so many groups are: Student's quantile for the fewer of them.

    Why: a distance says how far, this says how surely, and its scores say which samples. A sample
    of a group that was learned from, such as the same emoji in the other period, would give the
    period away, or hide it.

    Parameters
    ----------
    a, b
        Embeddings (samples, width) of the earlier and of the later period.
    groups_a, groups_b
        The group of each sample; by default each is one of its own.
    level
        What the interval misses.
    seed
        Of the halves.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(200, 5)), rng.normal(size=(200, 5))
    >>> found = told_apart(a, b + [2, 0, 0, 0, 0])  # two deviations apart: 84 % at best
    >>> round(found.accuracy, 2), found.low > 0.5, found.p < 0.001
    (0.83, True, True)
    >>> found = told_apart(a, b)
    >>> found.low < 0.5 < found.high, found.p > 0.05
    (True, True)

    References
    ----------
    Lopez-Paz and Oquab 2017. Korn and Graubard. "Confidence Intervals for Proportions with Small
    Expected Number of Positive Counts Estimated from Survey Data." Survey Methodology 24, 1998 (the
    effective number of samples). Wilson. JASA 22, 1927.
    """
    if not 0 < level < 1:
        raise ValueError(f"expected a level between 0 and 1, got {level}")
    sides = two_embeddings(a, b)
    values = np.concatenate(sides).astype(np.float64, copy=False)
    finite_mean(values)
    count_a, count_b = map(len, sides)
    later = np.repeat([False, True], [count_a, count_b])
    names: list[Any] = [
        *(range(count_a) if groups_a is None else groups_a),
        *(range(count_a, count_a + count_b) if groups_b is None else groups_b),
    ]
    if len(names) != len(values):
        raise ValueError(f"expected a group for each of {len(values)} samples, got {len(names)}")
    _, group = np.unique(np.array(names), return_inverse=True)
    half = _halves(group, later, seed)
    scores = np.empty(len(values))
    for side in (False, True):
        scores[half == side] = _learned(values[half != side], later[half != side])(
            values[half == side]
        )
    right = (scores > 0) == later
    share_a, share_b = float(right[~later].mean()), float(right[later].mean())
    accuracy = (share_a + share_b) / 2
    deviation = np.where(later, (right - share_b) / count_b, (right - share_a) / count_a) / 2
    by_group = np.bincount(group, deviation)
    groups = len(by_group)
    variance = groups / max(groups - 1, 1) * float(np.square(by_group).sum())
    most = 4 * count_a * count_b / (count_a + count_b)
    effective = min(accuracy * (1 - accuracy) / variance, most) if variance > 0 else most
    fewest = min(len(np.unique(group[later == side])) for side in (False, True))
    # Both halves count as one, and few groups know their own spread badly.
    low, high, p = _wilson(accuracy, effective / 2, fewest - 1, level)
    auc = float(np.mean([_auc(scores[half == side], later[half == side]) for side in (0, 1)]))
    return Told(accuracy, low, high, auc, p, scores[~later], scores[later], groups)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values of several tests, adjusted so that one false alarm in all of them is rare.

    ``p'_(k) = max_{j <= k} min(1, (m - j + 1) p_(j))`` over the m p-values in ascending order.

    Why: eleven pairs of periods, each tested at 5 %, give a false alarm four times in ten.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]

    References
    ----------
    Holm. "A Simple Sequentially Rejective Multiple Test Procedure." Scandinavian Journal of
    Statistics 6, 1979.
    """
    found, highest = [1.0] * len(p_values), 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        highest = max(highest, min((len(p_values) - rank) * p_values[at], 1.0))
        found[at] = highest
    return found


def _halves(group: NDArray[Any], later: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """Return which half each sample is in: groups of either period alone, and of both, alike."""
    in_a, in_b = (np.bincount(group, later == side) > 0 for side in (False, True))
    rng, second = np.random.default_rng(seed), np.zeros(len(in_a), np.bool_)
    dealt = 0
    for kind in (in_a & in_b, in_a & ~in_b, in_b & ~in_a):
        some = rng.permutation(np.flatnonzero(kind))
        # An odd one out goes to the half that is behind.
        second[some[(dealt + 1) % 2 :: 2]] = True
        dealt += len(some)
    for name, there in (("a", in_a), ("b", in_b)):
        least = min(int((second & there).sum()), int((~second & there).sum()))
        if least < LEAST_GROUPS // 2:
            raise ValueError(
                f"expected at least {LEAST_GROUPS} groups in {name}, so that some can be held out, "
                f"got {int(there.sum())}"
            )
    return np.asarray(second[group])


def _learned(values: Floats, later: NDArray[np.bool_]) -> Any:
    """Return a function that scores samples, learned from these."""
    count = np.bincount(later, minlength=2)
    # Either period has the same say, however many samples it brings.
    weight = np.sqrt(0.5 / count[later.astype(int)])
    mean = np.square(weight) @ values
    spread = np.sqrt(np.square(weight) @ np.square(values - mean))
    scale = np.where(spread > 1e-9 * max(float(spread.max()), 1e-300), spread, np.inf)
    rows, target = weight[:, None] * ((values - mean) / scale), weight * np.where(later, 1.0, -1.0)
    if len(rows) <= rows.shape[1]:
        power, left = np.linalg.eigh(rows @ rows.T)
        keep = power > 1e-10 * max(float(power[-1]), 1e-300)
        power, left = power[keep], left[:, keep]
        right = rows.T @ left / np.sqrt(power)
    else:
        power, right = np.linalg.eigh(rows.T @ rows)
        keep = power > 1e-10 * max(float(power[-1]), 1e-300)
        power, right = power[keep], right[:, keep]
        left = rows @ right / np.sqrt(power)
    along = left.T @ target
    best, chosen = np.inf, 1.0
    for penalty in _PENALTIES * float(power.mean() if len(power) else 1.0):
        kept = power / (power + penalty)
        # What a sample's own target adds to its own fit, the mean included.
        own = np.square(left) @ kept + np.square(weight)
        error = np.square((target - left @ (kept * along)) / np.maximum(1 - own, 1e-9)).sum()
        if error < best:
            best, chosen = float(error), float(penalty)
    slope = right @ (np.sqrt(power) / (power + chosen) * along)
    return lambda more: ((more - mean) / scale) @ slope


def _auc(scores: Floats, later: NDArray[np.bool_]) -> float:
    """Return how often a later sample scores above an earlier one; ties count as half."""
    early = np.sort(scores[~later])
    below = np.searchsorted(early, scores[later], "left")
    upto = np.searchsorted(early, scores[later], "right")
    return float((below + upto).mean() / 2 / len(early))


def _wilson(share: float, count: float, freedom: int, level: float) -> tuple[float, float, float]:
    z = student_quantile(level, freedom)
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    reach = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    seen = abs(share - 0.5) / np.sqrt(0.25 / count)
    return float(middle - reach), float(middle + reach), student_beyond(float(seen), freedom)
