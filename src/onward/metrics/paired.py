"""Comparing two methods over seeds, without claiming more than the seeds can show.

Two methods run with the same seeds give one difference per seed. If the methods were equally
good, each difference could as well have had the other sign, so all 2^n sign patterns would have
been equally likely. The share of patterns whose mean is at least as far from zero as the observed
one is the p-value. Nothing is assumed about the shape of the differences, and the answer is exact
for the handful of seeds that experiments have.

The price of exactness is visible: n seeds cannot give a p below 2 / 2^n. Five seeds that all agree
reach 0.0625, so at the usual level of 0.05 five seeds can never tell, and `compare` says so.

References
----------
Fisher. "The Design of Experiments." 1935, section 21 (the randomisation test for paired data).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onward.metrics.inputs import Floats, score_vector

EXACT_UP_TO = 20
"""Most seeds for which every sign pattern is counted (2^20 patterns; 8 MB at the peak)."""

_DRAWS = 999_999
_CHUNK = 32_768  # Bounds the memory of a draw at 32,768 * n signs.
_SEED = 0

# Patterns this close to the observed one, relative to the sum of all |differences|, count as
# ties. Differences of scores near 100 carry rounding errors around 1e-14 of the score, and without
# slack those would decide whether a mirrored pattern counts.
_TIE = 1e-9


def sign_flip_test(differences: ArrayLike) -> float:
    """Two-sided p-value of the sign-flip test that the mean difference is zero.

    ``#{s in {-1, +1}^n : |sum_i s_i d_i| >= |sum_i d_i|} / 2^n``

    Exact up to 20 differences. Above that, 999,999 patterns are drawn with the fixed seed 0 and
    the observed one is counted along, ``p = (1 + hits) / 1,000,000``: a valid p-value, the same
    on every call, with a standard error of at most 0.0005. Differences of zero are allowed; they
    carry no sign and so leave p as it would be without them.

    Parameters
    ----------
    differences
        One number per seed: score of one method minus score of the other.

    Examples
    --------
    >>> sign_flip_test([1, 2, 3, 4, 5, 6])  # all up or all down: 2 patterns of 64
    0.03125
    >>> sign_flip_test([1, 2, 3, 4, 5, -6])
    0.4375

    References
    ----------
    Fisher 1935, section 21.
    """
    d = _complete(score_vector(differences, "differences"), "differences")
    size = np.sort(np.abs(d))
    largest = size[-1]
    if largest == 0:
        return 1.0
    # Dividing first keeps sums of huge scores finite. Sizes instead of signed values, sorted, make
    # the result independent of which method came first and of the order of the seeds.
    size = size / largest
    threshold = abs((d / largest).sum()) - _TIE * size.sum()
    if len(size) <= EXACT_UP_TO:
        return _share_of_all_patterns(size, threshold)
    return _share_of_drawn_patterns(size, threshold)


@dataclass(frozen=True)
class Verdict:
    """What the seeds say about method a against method b.

    Attributes
    ----------
    answer
        Whether a is "better" or "worse" than b, or the seeds "cannot tell".
    difference
        Mean of a - b, in the unit of the scores. Negative is good when lower is better.
    p
        Two-sided p-value of `sign_flip_test`; NaN where `same_rows`.
    level
        The p-value needed to answer.
    n
        Number of seeds.
    wins
        Seeds at which a is better.
    losses
        Seeds at which b is better; the rest are ties.
    needed
        Smallest number of seeds that could ever reach the level, when n is fewer; otherwise None.
    same_rows
        Whether all seeds train and test on the same rows, so that no number of them can tell.
    """

    answer: Literal["better", "worse", "cannot tell"]
    difference: float
    p: float
    level: float
    n: int
    wins: int
    losses: int
    needed: int | None
    same_rows: bool = False

    def sentence(self) -> str:
        """Return the verdict and its grounds in one line, as `str` does."""
        votes = f"ahead in {self.wins} of {self.n} seeds, behind in {self.losses}"
        if self.same_rows:
            return f"{self.answer} ({votes}; all seeds train and test on the same rows)"
        if self.needed is None:
            return (
                f"{self.answer} (mean difference {self.difference:+.3g}, {votes}, p = {self.p:.3g})"
            )
        link = "and"
        if max(self.wins, self.losses) == self.n:
            votes, link = f"{self.n} of {self.n} seeds agree", "but"
        seeds = "1 seed" if self.n == 1 else f"{self.n} seeds"
        return (
            f"{self.answer} ({votes}, {link} {seeds} can at best give "
            f"p = {_best_p(self.n):.3g}; {self.needed} needed)"
        )

    def __str__(self) -> str:
        """Return the sentence."""
        return self.sentence()


def compare(
    a: ArrayLike,
    b: ArrayLike,
    *,
    level: float = 0.05,
    higher_is_better: bool = True,
    same_rows: bool = False,
) -> Verdict:
    """Say whether method a is better than method b, from scores paired by seed.

    ``d_k = a_k - b_k``, tested with `sign_flip_test`; "cannot tell" when ``p > level``.

    Parameters
    ----------
    a, b
        One score per seed, both in the same order of seeds.
    level
        Largest p-value at which to answer, between 0 and 1.
    higher_is_better
        False for costs such as a loss or `chaudhry_forgetting`.
    same_rows
        Whether all seeds train and test on the same rows. Their differences then vary by the
        randomness of training alone: a method that happens to suit these rows is ahead with every
        seed. The answer is "cannot tell".

    Examples
    --------
    >>> print(compare([91.2, 91.0, 91.4, 91.1, 91.3], [90.1, 90.3, 90.2, 90.0, 90.4]))
    cannot tell (5 of 5 seeds agree, but 5 seeds can at best give p = 0.0625; 6 needed)
    >>> print(compare([91.2, 91.0, 91.4, 91.1, 91.3, 91.5], [90.1, 90.3, 90.2, 90.0, 90.4, 90.6]))
    better (mean difference +0.983, ahead in 6 of 6 seeds, behind in 0, p = 0.0312)

    References
    ----------
    Fisher 1935, section 21.
    """
    if not 0 < level < 1:
        raise ValueError(f"expected a level between 0 and 1, got {level}; pass for example 0.05")
    scores_a = _complete(score_vector(a, "scores of a"), "scores of a")
    scores_b = _complete(score_vector(b, "scores of b"), "scores of b")
    if len(scores_a) != len(scores_b):
        raise ValueError(
            f"expected as many scores of a as of b, got {len(scores_a)} and {len(scores_b)}; "
            "keep only the seeds that both methods have run, in the same order"
        )
    differences = scores_a - scores_b
    gains = differences if higher_is_better else -differences
    n = len(gains)
    p = math.nan if same_rows else sign_flip_test(differences)
    needed = None if same_rows else _seeds_needed(level)
    answer: Literal["better", "worse", "cannot tell"] = "cannot tell"
    if p <= level:
        answer = "better" if gains.sum() > 0 else "worse"
    return Verdict(
        answer=answer,
        difference=float(differences.mean()),
        p=p,
        level=level,
        n=n,
        wins=int((gains > 0).sum()),
        losses=int((gains < 0).sum()),
        needed=needed if needed is not None and n < needed else None,
        same_rows=same_rows,
    )


def seeds_to_decide(
    differences: ArrayLike, *, level: float = 0.05, power: float = 0.8
) -> int | None:
    """Estimate how many seeds would decide, if differences go on as they have begun.

    ``n = ((z(1 - level / 2) + z(power)) s / m)^2``, for a mean m and a deviation s of the
    differences, and never fewer than could decide at all. A plan for the next runs, no result:
    few seeds know their own deviation badly.

    Parameters
    ----------
    differences
        One number per seed, two or more.
    level
        The p-value that is to be reached.
    power
        How probably.

    Returns
    -------
        None where nothing can be said: a single seed, or no difference at all.

    Examples
    --------
    >>> seeds_to_decide([1.0, 3.0, 2.0])  # far from zero: as few as can decide
    6
    >>> seeds_to_decide([1.0, -1.0, 1.0])  # a mean of 1/3 among deviations of 1.15
    95
    """
    d = _complete(score_vector(differences, "differences"), "differences")
    if len(d) < 2 or abs(d.mean()) <= _TIE * np.abs(d).max():
        return None
    z = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)
    wanted = (z * float(d.std(ddof=1)) / float(d.mean())) ** 2
    return max(math.ceil(wanted), _seeds_needed(level))


def _complete(values: Floats, what: str) -> Floats:
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(
            f"expected {what} without gaps, got NaN at position {missing[0]}; leave that seed "
            "out for both methods, or finish its run"
        )
    return values


def _share_of_all_patterns(size: Floats, threshold: float) -> float:
    # A pattern and its mirror have the same |sum|, so the first sign can stay fixed.
    sums = size[:1]
    for value in size[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return float((np.abs(sums) >= threshold).mean())


def _share_of_drawn_patterns(size: Floats, threshold: float) -> float:
    rng = np.random.default_rng(_SEED)
    hits = 0
    for start in range(0, _DRAWS, _CHUNK):
        shape = (min(_CHUNK, _DRAWS - start), len(size))
        signs = 2.0 * rng.integers(0, 2, size=shape, dtype=np.int8) - 1.0
        hits += int((np.abs(signs @ size) >= threshold).sum())
    return (1 + hits) / (1 + _DRAWS)


def _best_p(n: int) -> float:
    return 2.0 ** (1 - n)


def _seeds_needed(level: float) -> int:
    n = 1
    while _best_p(n) > level:
        n += 1
    return n
