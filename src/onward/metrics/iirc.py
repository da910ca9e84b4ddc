"""IIRC's metrics: how well a set of predicted labels matches a set of true ones, per sample.

With Y the true and P the predicted labels of a sample, as rows of two boolean arrays (samples,
classes):

====================  ==========================  ==============================================
metric                formula                     question
====================  ==========================  ==============================================
``jaccard``           |Y ∩ P| / |Y ∪ P|           how far do the two sets overlap?
``pw_jaccard``        jaccard · |Y ∩ P| / |P|     the same, and was what was said also right?
``exact_match``       1 if Y = P, else 0          is everything right?
====================  ==========================  ==============================================

All return one number per sample; the mean over samples is the score. Saying nothing scores 0,
unless there is nothing to say, which the benchmark does not have and which is an exact match.

The precision in ``pw_jaccard`` punishes a model that answers with every label it knows: with two
true labels and four said, half of them right, the Jaccard index is still 0.5, and this is 0.25.

References
----------
Abdelsalam, Faramarzi, Sodhani, Chandar. "IIRC: Incremental Implicitly-Refined Classification."
CVPR 2021, section 4.3.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onward.metrics.inputs import Floats


def jaccard(predicted: ArrayLike, target: ArrayLike) -> Floats:
    """Overlap of predicted and true labels over what either of them has.

    ``|Y ∩ P| / |Y ∪ P|``, one number per sample.

    Examples
    --------
    >>> jaccard([[True, True, False]], [[True, False, True]]).round(3)  # 1 / 3
    array([0.333])

    References
    ----------
    IIRC, Eq. 1.
    """
    found = _counts(predicted, target)
    return _share(found.both, found.either)


def pw_jaccard(predicted: ArrayLike, target: ArrayLike) -> Floats:
    """Precision-weighted Jaccard: the overlap, times the share of what was said that is right.

    ``|Y ∩ P| / |Y ∪ P| · |Y ∩ P| / |P|``, one number per sample. The released code adds 1e-8 to
    |P|; here an empty prediction scores 0 without it.

    Examples
    --------
    >>> pw_jaccard([[True, True, False]], [[True, False, True]]).round(3)  # 1 / 3 · 1 / 2
    array([0.167])

    References
    ----------
    IIRC, Eq. 2.
    """
    found = _counts(predicted, target)
    return _share(found.both, found.either) * _share(found.both, found.predicted)


def exact_match(predicted: ArrayLike, target: ArrayLike) -> Floats:
    """Whether predicted and true labels are the same: 1 or 0 per sample.

    Examples
    --------
    >>> exact_match([[True, False], [True, True]], [[True, False], [True, False]])
    array([1., 0.])

    References
    ----------
    IIRC, released code.
    """
    found = _counts(predicted, target)
    return np.asarray(found.both == found.either, np.float64)


class _Counts(NamedTuple):
    both: NDArray[np.int64]
    either: NDArray[np.int64]
    predicted: NDArray[np.int64]


def _counts(predicted: ArrayLike, target: ArrayLike) -> _Counts:
    """Count labels by sets of bits: a sample of 115 classes is two machine words."""
    said, true = _words(predicted, "predicted"), _words(target, "target")
    if np.shape(predicted) != np.shape(target):
        raise ValueError(
            f"expected predicted and target of one shape (samples, classes), got "
            f"{np.shape(predicted)} and {np.shape(target)}"
        )
    return _Counts(_ones(said & true), _ones(said | true), _ones(said))


def _ones(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))


def _words(labels: ArrayLike, what: str) -> NDArray[np.uint64]:
    array = np.asarray(labels)
    if array.ndim != 2 or array.dtype != np.bool_:
        raise ValueError(
            f"expected {what} as a boolean array (samples, classes), got {array.dtype} of shape "
            f"{array.shape}; compare scores with a threshold first"
        )
    bits = np.packbits(array, axis=1)
    padded = np.zeros((len(bits), -(-max(bits.shape[1], 1) // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Floats:
    """Divide; nothing out of nothing is none."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))
