"""How far two samples are apart, and how far they would be if nothing had changed.

Both distances are above zero between any two finite samples, also of one and the same source, and
the more so the fewer samples there are. So a distance alone says nothing: `without_drift` says what
it would be had the same samples been dealt to the two sides at random, and `without_bias` what it
tends to as samples grow in number.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onward.metrics.inputs import Floats, score_vector

Distance = Callable[[NDArray[np.int64], NDArray[np.int64]], float]
"""A distance between two sets of samples, each given by their places among all of them."""

Groups = Sequence[Hashable] | NDArray[Any]
"""The group of each sample."""

_ROWS_AT_ONCE = 1 << 13


def frechet_distance(a: ArrayLike, b: ArrayLike) -> float:
    r"""Return the Fréchet distance between two samples of embeddings, each taken to be Gaussian.

    .. math:: |\mu_a - \mu_b|^2 + \mathrm{Tr}(C_a + C_b - 2 (C_a C_b)^{1/2})

    with covariances divided by n - 1. On embeddings of an Inception network it is called FID.

    Why: it sees that a distribution has moved and that it has changed its shape, and it is in the
    units of the embedding. It is biased upwards by about c / n, see `without_bias`.

    No square root of a matrix is taken. The trace of :math:`(C_a C_b)^{1/2}` is the sum of the
    singular values of :math:`A B^T / \sqrt{(n - 1)(m - 1)}` for centred samples A and B, which may
    be replaced by their triangular factors where there are more samples than numbers in each.

    Parameters
    ----------
    a, b
        (samples, width), at least two samples each, of one width. They are read in blocks and
        computed with in double precision.

    Examples
    --------
    >>> frechet_distance([[0.0], [2.0]], [[3.0], [5.0]])  # moved by 3, as wide as before
    9.0
    >>> round(frechet_distance([[-1.0], [1.0]], [[-2.0], [2.0]]), 12)  # deviations √2 and 2√2
    2.0

    References
    ----------
    Dowson and Landau. "The Fréchet distance between multivariate normal distributions." Journal of
    Multivariate Analysis 12, 1982. Heusel et al. "GANs Trained by a Two Time-Scale Update Rule
    Converge to a Local Nash Equilibrium." NeurIPS 2017.
    """
    left, right = two_embeddings(a, b)
    mean_a, factor_a = _centred(left)
    mean_b, factor_b = _centred(right)
    apart = mean_a - mean_b
    root = np.linalg.svd(factor_a @ factor_b.T, compute_uv=False).sum()
    spread = np.square(factor_a).sum() + np.square(factor_b).sum()
    # Rounding may leave a trifle below zero where both samples are the same.
    return max(float(apart @ apart + spread - 2 * root), 0.0)


def total_variation(
    p: ArrayLike | Mapping[Any, float], q: ArrayLike | Mapping[Any, float]
) -> float:
    r"""Return the total variation between two distributions that are given as counts.

    .. math:: \frac{1}{2} \sum_i |p_i / \sum p - q_i / \sum q|

    Why: it is the share of samples that would have to be something else, from 0 (the same mix) to 1
    (nothing in common), and needs no order of the classes. Few samples of many classes are far
    apart by chance alone, see `without_drift`.

    Parameters
    ----------
    p, q
        How often each class was counted, in the same order; or by name, where a name that only one
        of them has counts as zero in the other.

    Examples
    --------
    >>> total_variation([5, 5, 0], [5, 0, 5])
    0.5
    >>> total_variation({"fox": 3, "owl": 1}, {"fox": 2, "elk": 2})
    0.5

    References
    ----------
    Levin, Peres and Wilmer. "Markov Chains and Mixing Times." 2009, section 4.1.
    """
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        names: list[Any] = list(dict.fromkeys([*p, *q]))
        p, q = [p.get(name, 0) for name in names], [q.get(name, 0) for name in names]
    elif isinstance(p, Mapping) or isinstance(q, Mapping):
        raise ValueError("expected both as counts by name or both as a list, got one of each")
    left, right = _counts(p, "p"), _counts(q, "q")
    if len(left) != len(right):
        raise ValueError(
            f"expected counts of the same classes, got {len(left)} in p and {len(right)} in q; "
            "pass 0 for a class that is not there"
        )
    return float(np.abs(left / left.sum() - right / right.sum()).sum() / 2)


def without_drift(
    distance: Distance,
    groups_a: Groups,
    groups_b: Groups,
    *,
    paired: bool = True,
    draws: int = 99,
    seed: int = 0,
) -> Floats:
    """Return what a distance is between the same samples when chance deals them to two sides.

    What a group has in one period stays together. A group that is in one period alone may be dealt
    to either side, which has as many of them as it had; of a group that is in both, its two parts
    change sides or do not. Where nothing has changed, every such deal is as likely as the one that
    was seen: ``(1 + #{dealt >= seen}) / (1 + draws)`` is a p-value.

    Why: a distance without this band cannot be read. Two halves of one period are apart, too.

    Parameters
    ----------
    distance
        Takes the places of the samples of either side, a's before b's.
    groups_a, groups_b
        The group of each sample: what may not be torn apart.
    paired
        False deals the parts of groups in both like all others. That suits what belongs to a group
        and stays with it, such as a label, and errs on the careful side.
    draws
        How many deals.
    seed
        Of the deals.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    >>> def apart(a, b):
    ...     return float(abs(values[a].mean() - values[b].mean()))
    >>> seen = apart(np.arange(3), np.arange(3, 6))
    >>> dealt = without_drift(apart, "abc", "def")
    >>> seen, float(np.median(dealt).round(2)), bool((dealt >= seen).mean() < 0.15)
    (1.0, 0.33, True)

    References
    ----------
    Good. "Permutation, Parametric and Bootstrap Tests of Hypotheses." 2005, chapter 3.
    """
    twins, alone = _twins(groups_a, groups_b, paired=paired)
    single, rng = alone[0] + alone[1], np.random.default_rng(seed)
    found = np.empty(draws)
    for at in range(draws):
        order, turned = rng.permutation(len(single)), rng.random(len(twins[0])) < 0.5
        one = [single[place] for place in order[: len(alone[0])]]
        other = [single[place] for place in order[len(alone[0]) :]]
        for left, right, turn in zip(*twins, turned, strict=True):
            one.append(right if turn else left)
            other.append(left if turn else right)
        found[at] = distance(np.concatenate(one), np.concatenate(other))
    return found


def without_bias(
    distance: Distance,
    groups_a: Groups,
    groups_b: Groups,
    *,
    draws: int = 8,
    seed: int = 0,
) -> float:
    """Return what a distance would be with samples without end, extrapolated from halves.

    ``2 d(n) - d(n / 2)``, with the second as a mean over random halves of the groups, the same on
    either side where they are in both: exact where the bias is c / n. It may be below zero, by
    chance, where there is nothing to be seen.

    Why: the Fréchet distance of few samples is mostly bias, and periods differ in size.

    Parameters
    ----------
    distance, groups_a, groups_b
        See `without_drift`.
    draws
        How many halves.
    seed
        Of the halves.

    Examples
    --------
    >>> def biased(a, b):
    ...     return 5.0 + 1 / len(a) + 1 / len(b)
    >>> without_bias(biased, range(8), range(8))
    5.0

    References
    ----------
    Chong and Forsyth. "Effectively Unbiased FID and Inception Score and where to find them." CVPR
    2020, who draw a line through several sizes; here through two.
    """
    twins, alone = _twins(groups_a, groups_b, paired=True)
    rng = np.random.default_rng(seed)
    whole = distance(
        np.arange(len(groups_a)), np.arange(len(groups_a), len(groups_a) + len(groups_b))
    )
    halves = []
    for _ in range(draws):
        both = rng.permutation(len(twins[0]))[: -(-len(twins[0]) // 2)]
        some = [
            [pair[at] for at in both]
            + [mine[at] for at in rng.permutation(len(mine))[: -(-len(mine) // 2)]]
            for pair, mine in zip(twins, alone, strict=True)
        ]
        halves.append(distance(np.concatenate(some[0]), np.concatenate(some[1])))
    return 2 * whole - float(np.mean(halves))


def parts(groups: Groups, first: int = 0) -> list[NDArray[np.int64]]:
    """Return the places of the samples of each group, counted from the first one's place.

    Examples
    --------
    >>> [part.tolist() for part in parts(["x", "y", "x"])]
    [[0, 2], [1]]
    """
    _, owner = np.unique(np.array(list(groups)).astype(str), return_inverse=True)
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=1))[:-1]
    return [one + first for one in np.split(order, ends)]


def _twins(
    groups_a: Groups, groups_b: Groups, *, paired: bool
) -> tuple[list[list[NDArray[np.int64]]], list[list[NDArray[np.int64]]]]:
    """Return of either side the parts of groups in both, in one order, and of those in it alone."""
    sides = parts(groups_a), parts(groups_b, len(groups_a))
    names = [np.unique(np.array(list(groups)).astype(str)) for groups in (groups_a, groups_b)]
    both = [np.isin(mine, other) & paired for mine, other in (names, names[::-1])]
    twins, alone = (
        [
            [side[at] for at in np.flatnonzero(one == kind)]
            for side, one in zip(sides, both, strict=True)
        ]
        for kind in (True, False)
    )
    return twins, alone


def two_embeddings(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two samples of embeddings as arrays; raise if they are not of one width."""
    left, right = _embeddings(a, "a"), _embeddings(b, "b")
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"expected embeddings of one width, got {left.shape[1]} numbers in a and "
            f"{right.shape[1]} in b; embed both with the same model"
        )
    return left, right


def _embeddings(values: ArrayLike, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "iuf" or len(array) < 2 or not array.shape[1]:
        raise ValueError(
            f"expected at least two embeddings (samples, width) as {name}, got {array.dtype} of "
            f"shape {array.shape}; pass one row of numbers per sample"
        )
    return array


def finite_mean(array: NDArray[Any]) -> Floats:
    """Return the mean of embeddings; raise if a number is none."""
    with np.errstate(invalid="ignore"):
        mean = array.mean(0, dtype=np.float64)
    if not np.isfinite(mean).all():
        raise ValueError("expected finite embeddings, got NaN or infinity; leave those samples out")
    return np.asarray(mean)


def _centred(array: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the mean, and a matrix F with FᵀF = covariance that is as small as can be."""
    mean = finite_mean(array)
    factor = np.empty((0, array.shape[1]))
    for start in range(0, len(array), _ROWS_AT_ONCE):
        block = array[start : start + _ROWS_AT_ONCE].astype(np.float64) - mean
        factor = np.concatenate([factor, block])
        if len(factor) > array.shape[1]:
            factor = np.asarray(np.linalg.qr(factor, mode="r"))
    return mean, factor / np.sqrt(len(array) - 1)


def _counts(values: Any, name: str) -> Floats:
    counts = score_vector(values, f"counts {name}")
    if not (counts >= 0).all() or counts.sum() <= 0:
        raise ValueError(
            f"expected counts {name} of zero or more, not all of them zero, got "
            f"{counts.tolist()[:5]}"
        )
    return counts
