"""Metrics of static tasks: what DataComp's evaluation, and so TiC-CLIP's Table 10, scores by.

Answers are rows of candidates, best first, as `onward.tasks.image_text` decides them; classes are
the right ones, one per row.

=============================  =============================================================
words of Table 10              function
=============================  =============================================================
accuracy                       ``top_k(answers, classes, 1)``
mean per class                 ``mean_per_class(answers, classes)``
macro F1 score                 ``macro_f1(answers, classes)``
worst-region acc.              ``worst_group(answers, classes, regions, 1)``
worst-income top-5 acc.        ``worst_group(answers, classes, incomes, 5)``
Jaccard score                  the mean of ``jaccards(answers, right)``
R@1                            ``recall1`` of the task kind: the mean of both directions
=============================  =============================================================

References
----------
Gadre et al. "DataComp: In search of the next generation of multimodal datasets." NeurIPS Datasets
and Benchmarks, 2023. Garg et al. "TiC-CLIP." ICLR 2024, Table 10.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onward.metrics.inputs import mean

Whole = NDArray[np.int64]

SHIFTS = (
    "ImageNet V2",
    "ImageNet-A",
    "ImageNet-O",
    "ImageNet-R",
    "ImageNet Sketch",
    "ObjectNet",
)
"""The six shifted versions of ImageNet in Table 10; the paper's text names four of them."""


def top_k(answers: ArrayLike, classes: ArrayLike, k: int = 1) -> float:
    """Share of samples whose class is among their first k answers.

    Parameters
    ----------
    answers
        Candidates (sample, depth), best first.
    classes
        The right class of each sample.
    k
        How many answers count.

    Examples
    --------
    >>> top_k([[0, 1], [1, 0], [1, 0]], [0, 0, 1], 1), top_k([[0, 1], [1, 0]], [0, 0], 2)
    (0.6666666666666666, 1.0)
    """
    said, right = _answers(answers, classes, k)
    return float(_hits(said, right, k).mean())


def mean_per_class(answers: ArrayLike, classes: ArrayLike) -> float:
    """Mean over the classes that have samples of the share of a class that is found.

    Examples
    --------
    >>> mean_per_class([[0], [0], [1], [0]], [0, 0, 0, 1])  # (2/3 + 0) / 2
    0.3333333333333333
    """
    said, right = _answers(answers, classes, 1)
    return float(_group_means(_hits(said, right, 1), right)[1].mean())


def macro_f1(answers: ArrayLike, classes: ArrayLike) -> float:
    """Mean over classes of F1, ``2 hits / (samples of the class + answers of the class)``.

    Over the classes that have samples, as WILDS does it; scikit-learn by itself would also count
    those that were only answered.

    Examples
    --------
    >>> macro_f1([[0], [0], [1], [2]], [0, 0, 0, 1])  # 0: 4/5, 1: 0
    0.4
    """
    said, right = _answers(answers, classes, 1)
    names = np.unique(right)
    is_right, is_said = right[:, None] == names, said[:, :1] == names
    return float((2 * (is_right & is_said).sum(0) / (is_right.sum(0) + is_said.sum(0))).mean())


def worst_group(
    answers: ArrayLike,
    classes: ArrayLike,
    groups: ArrayLike,
    k: int = 1,
    *,
    without: Sequence[int] = (),
) -> float:
    """Top-k accuracy of the group that has the lowest one.

    Parameters
    ----------
    answers, classes, k
        See `top_k`.
    groups
        The group of each sample.
    without
        Groups that do not count, such as FMoW's region "other".

    Examples
    --------
    >>> worst_group([[0], [0], [1], [1]], [0, 0, 0, 1], [5, 5, 7, 7])
    0.5
    """
    said, right = _answers(answers, classes, k)
    of = _whole(groups, "groups", 1)
    if len(of) != len(right):
        raise ValueError(f"expected a group for each of {len(right)} samples, got {len(of)}")
    counts = ~np.isin(of, without)
    if not counts.any():
        raise ValueError(f"expected samples of other groups than {tuple(without)}, got none")
    return float(_group_means(_hits(said, right, k)[counts], of[counts])[1].min())


def jaccards(answers: ArrayLike, right: ArrayLike) -> NDArray[np.float64]:
    """``|chosen and right| / |chosen or right|`` of each question, as many chosen as are right.

    Parameters
    ----------
    answers
        Candidates (question, depth), best first.
    right
        The right candidates (question, most), in any order, -1 where there are fewer.

    Examples
    --------
    >>> jaccards([[4, 0, 1], [2, 1, 0]], [[0, 1], [2, -1]]).round(3).tolist()
    [0.333, 1.0]

    References
    ----------
    Bitton et al. "WinoGAViL." NeurIPS Datasets and Benchmarks, 2022.
    """
    said, wanted = _whole(answers, "answers", 2), _whole(right, "right candidates", 2)
    counts = (wanted >= 0).sum(1)
    if len(said) != len(wanted) or not len(said) or counts.min() < 1:
        raise ValueError(
            f"expected right candidates for each of {len(said)} questions, got {len(wanted)} rows, "
            f"{int((counts < 1).sum())} of them empty"
        )
    if counts.max() > said.shape[1]:
        raise ValueError(
            f"expected {counts.max()} answers to a question with as many right candidates, got "
            f"{said.shape[1]}"
        )
    chosen = np.where(np.arange(said.shape[1]) < counts[:, None], said, -2)
    both = (chosen[:, :, None] == wanted[:, None, :]).any(2).sum(1)
    return np.asarray(both / (2 * counts - both))


def class_means(per_class: ArrayLike, members: Sequence[int]) -> float:
    """Mean over some classes, such as a subtree of WordNet, of numbers by class.

    Classes without samples, whose number is NaN, do not count; NaN where that is all of them.

    Parameters
    ----------
    per_class
        A number for each class.
    members
        The classes.

    Examples
    --------
    >>> class_means([0.5, 1.0, float("nan"), 0.0], [0, 1, 2])
    0.75
    """
    numbers = np.asarray(per_class, np.float64)[np.asarray(members, np.int64)]
    return mean(numbers[~np.isnan(numbers)])


class Average(NamedTuple):
    """A mean over tasks, of which tasks it is, and which it lacks."""

    value: float
    of: tuple[str, ...]
    lacking: tuple[str, ...] = ()


def imagenet_shifts(scores: Mapping[str, float]) -> Average:
    """Mean of the six shifted versions of ImageNet; NaN if one of them is lacking.

    Parameters
    ----------
    scores
        The main score of each task, by its name in Table 10.

    Examples
    --------
    >>> imagenet_shifts({name: 0.5 for name in SHIFTS}).value
    0.5
    >>> imagenet_shifts({"ImageNet-A": 0.5}).lacking[:2]
    ('ImageNet V2', 'ImageNet-O')
    """
    return average(scores, SHIFTS)


def average(scores: Mapping[str, float], of: Sequence[str] | None = None) -> Average:
    """Mean of the main scores of these tasks, by default of all that there are.

    The paper's mean is over 28 tasks; Table 10 lists 37 and does not say which 28 are meant.

    Parameters
    ----------
    scores
        The main score of each task, by name.
    of
        The tasks; if one of them is lacking, the mean is NaN.

    Examples
    --------
    >>> average({"MNIST": 0.5, "DTD": 1.0})
    Average(value=0.75, of=('MNIST', 'DTD'), lacking=())
    """
    names = tuple(scores if of is None else of)
    lacking = tuple(name for name in names if name not in scores)
    whole = bool(names) and not lacking
    value = float(np.mean([scores[name] for name in names])) if whole else float("nan")
    return Average(value, names, lacking)


def _hits(said: Whole, right: Whole, k: int) -> NDArray[np.bool_]:
    return np.asarray((said[:, :k] == right[:, None]).any(1))


def _group_means(hits: NDArray[np.bool_], groups: Whole) -> tuple[Whole, NDArray[np.float64]]:
    names, place = np.unique(groups, return_inverse=True)
    return names, np.bincount(place, weights=hits) / np.bincount(place)


def _answers(answers: ArrayLike, classes: ArrayLike, k: int) -> tuple[Whole, Whole]:
    said, right = _whole(answers, "answers", 2), _whole(classes, "classes", 1)
    if len(said) != len(right) or not len(right):
        raise ValueError(
            f"expected answers and classes of the same samples, one or more, got {len(said)} and "
            f"{len(right)}"
        )
    if not 1 <= k <= said.shape[1]:
        raise ValueError(f"expected k from 1 to {said.shape[1]}, the number of answers, got {k}")
    return said, right


def _whole(values: ArrayLike, what: str, dimensions: int) -> Whole:
    found = np.asarray(values)
    if found.ndim != dimensions or found.dtype.kind not in "iu":
        raise ValueError(
            f"expected {what} as whole numbers in {dimensions} dimension(s), got shape "
            f"{found.shape} of type {found.dtype}"
        )
    return found.astype(np.int64)
