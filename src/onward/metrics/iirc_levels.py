"""IIRC's finer questions: which level of a hierarchy is answered, and how exactly.

Predicted and true labels are boolean arrays (samples, classes), as in `onward.metrics.iirc`;
``superclass`` says of each class whether it is one, ``under`` gives each subclass its superclass.

=========================  ======================================================================
metric                     question
=========================  ======================================================================
``over_superclasses``      how well are superclasses answered, whatever is said of subclasses?
``superclass_alone``       how often is the superclass right and the subclass not said?
``precision_among``        of what is said out of some classes, how much is right?
``recall``                 how many samples of each class are said to be of it?
=========================  ======================================================================

References
----------
Abdelsalam, Faramarzi, Sodhani, Chandar. "IIRC: Incremental Implicitly-Refined Classification."
CVPR 2021, section 6.1 and appendices D.2 and D.3. The paper gives no formulas for these; what is
counted is said at each.
"""

import numpy as np
from numpy.typing import NDArray

from onward.metrics.iirc import pw_jaccard
from onward.metrics.inputs import Floats, mean, share

Labels = NDArray[np.bool_]


def over_superclasses(predicted: Labels, target: Labels, superclass: NDArray[np.bool_]) -> float:
    """Precision-weighted Jaccard index over superclasses alone, mean over samples that have one.

    Examples
    --------
    >>> target = np.array([[True, False, True], [False, True, False]])  # animal, lamp, dog
    >>> said = np.array([[True, False, False], [True, False, False]])
    >>> over_superclasses(said, target, np.array([True, False, False]))  # a lamp has none
    1.0
    """
    has = target[:, superclass].any(1)
    return mean(pw_jaccard(predicted[np.ix_(has, superclass)], target[np.ix_(has, superclass)]))


def superclass_alone(predicted: Labels, target: Labels, under: NDArray[np.int64]) -> float:
    """Share of samples with a subclass and its superclass of which only the superclass is said.

    Examples
    --------
    >>> target = np.array([[True, True], [True, True]])  # animal, dog
    >>> superclass_alone(np.array([[True, False], [True, True]]), target, np.array([-1, 0]))
    0.5
    """
    finer = np.flatnonzero(under >= 0)
    coarse = under[finer]
    both = target[:, finer] & target[:, coarse]
    alone = both & predicted[:, coarse] & ~predicted[:, finer]
    return mean(np.asarray(alone.any(1))[np.asarray(both.any(1))])


def precision_among(predicted: Labels, target: Labels, among: NDArray[np.bool_]) -> float:
    """Share of what is said out of some classes that is right, over all samples together.

    Examples
    --------
    >>> target = np.array([[True, False], [False, True]])
    >>> precision_among(np.array([[True, True], [False, True]]), target, np.array([True, True]))
    0.6666666666666666
    """
    said = predicted[:, among]
    return mean(target[:, among][said])


def recall(predicted: Labels, target: Labels) -> Floats:
    """Share of the samples of each class that are said to be of it; NaN of a class without any.

    Examples
    --------
    >>> recall(np.array([[True, False], [False, False]]), np.array([[True, False], [True, False]]))
    array([0.5, nan])
    """
    return share((predicted & target).sum(0), target.sum(0))


def confusion(predicted: Labels, target: Labels) -> Floats:
    """Of the samples that have a label (rows), the share for which each label is said (columns).

    With many labels per sample, a row need not add up to 1, and what is right is not the diagonal
    alone: that is ``confusion(target, target)``.

    Examples
    --------
    >>> target = np.array([[True, True], [True, False]])  # an animal and a dog, an animal
    >>> confusion(target, target).tolist()
    [[1.0, 0.5], [1.0, 1.0]]
    """
    counts = target.astype(np.float64).T @ predicted
    return share(counts, target.sum(0)[:, None])
