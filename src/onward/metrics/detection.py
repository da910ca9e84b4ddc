"""Average precision of detected boxes, over all images, those without a detection included.

====================  ============================================  ===============================
form                  a detection is right if                       precision is averaged over
====================  ============================================  ===============================
``coco``              its best box that is still free overlaps      101 recalls, 0 to 1, at most
                      enough                                        100 detections per class, image
``voc``               its best box overlaps enough and is free      all recalls (the area below)
====================  ============================================  ===============================

In both, precision at a recall is the best precision at that recall or beyond, and a class without
a true box is left out of the mean. A box that is marked as a *crowd* (``voc``: as *difficult*) need
not be found, and whoever finds it is neither right nor wrong; under ``coco`` any number of
detections may fall into one crowd, and overlap is then the share of the detection inside of it.

Detections of equal score are taken in the order of the images, and inside an image in the order
given, as pycocotools does, to which ``coco`` is equal.

References
----------
Lin et al. "Microsoft COCO: Common Objects in Context." ECCV 2014; pycocotools 2.0.
Everingham et al. "The Pascal Visual Object Classes Challenge: A Retrospective." IJCV 2015.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onward.metrics.inputs import Floats

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_RECALLS = np.linspace(0.0, 1.0, 101)
_MOST = {"coco": 100, "voc": None}
_RIGHT, _WRONG, _IGNORED = 1, 0, -1


def mean_average_precision(
    found: Sequence[Mapping[str, Any]],
    truth: Sequence[Mapping[str, Any]],
    *,
    iou: float | Mapping[int, float] = 0.5,
    form: Literal["coco", "voc"] = "coco",
) -> float:
    """Mean over classes of the average precision; NaN if there is no true box at all.

    Parameters
    ----------
    found
        What was detected, image by image: ``boxes`` (n, 4) as left, top, right, bottom, ``scores``
        and ``labels``, as torchvision's detectors return them.
    truth
        What is there, in the same order of images: ``boxes``, ``labels`` and, if any is one,
        ``iscrowd``.
    iou
        How far a box must overlap to be found: one number, or one for every class.
    form
        ``coco`` or ``voc``.

    Examples
    --------
    >>> truth = [{"boxes": [[0, 0, 10, 10], [20, 0, 30, 10]], "labels": [1, 1]}]
    >>> found = [{"boxes": [[0, 0, 10, 10], [0, 20, 9, 30], [20, 0, 30, 9]],
    ...           "labels": [1, 1, 1], "scores": [0.9, 0.8, 0.7]}]
    >>> round(mean_average_precision(found, truth, form="voc"), 4)  # (1 + 2 / 3) / 2
    0.8333
    >>> round(mean_average_precision(found, truth), 4)  # (51 · 1 + 50 · 2 / 3) / 101
    0.835
    """
    values = average_precision(found, truth, iou=iou, form=form).values()
    return float(np.mean(list(values))) if values else float("nan")


def average_precision(
    found: Sequence[Mapping[str, Any]],
    truth: Sequence[Mapping[str, Any]],
    *,
    iou: float | Mapping[int, float] = 0.5,
    form: Literal["coco", "voc"] = "coco",
) -> dict[int, float]:
    """Average precision of every class that has a true box; see `mean_average_precision`.

    Examples
    --------
    >>> truth = [{"boxes": [[0, 0, 10, 10]], "labels": [3]}, {"boxes": [], "labels": []}]
    >>> found = [{"boxes": [], "labels": [], "scores": []}] * 2
    >>> average_precision(found, truth)
    {3: 0.0}
    """
    if form not in _MOST:
        raise ValueError(f"expected the form coco or voc, got {form!r}")
    if len(found) != len(truth):
        raise ValueError(
            f"expected detections for each of {len(truth)} images, got {len(found)}; give an empty "
            "entry for an image without any"
        )
    wanted: dict[int, int] = {}
    scores: dict[int, list[Floats]] = {}
    outcomes: dict[int, list[Ints]] = {}
    for image, (detected, real) in enumerate(zip(found, truth, strict=True)):
        boxes, labels = _boxes(detected, f"found[{image}]")
        true_boxes, true_labels = _boxes(real, f"truth[{image}]")
        crowd = np.asarray(real.get("iscrowd", np.zeros(len(true_labels)))).astype(bool)
        score = np.asarray(detected["scores"], np.float64).reshape(-1)
        if len(score) != len(labels) or len(crowd) != len(true_labels):
            raise ValueError(f"expected one score, or crowd flag, per box in image {image}")
        if np.isnan(score).any():
            raise ValueError(f"expected scores in image {image}, got NaN")
        for label, count in _counts(true_labels[~crowd]):
            wanted[label] = wanted.get(label, 0) + count
        order = np.argsort(-score, kind="stable")
        overlaps = _overlaps(boxes[order], true_boxes, crowd & (form == "coco"))
        ranked = labels[order]
        for label, _ in _counts(ranked):
            mine = np.flatnonzero(ranked == label)[: _MOST[form]]
            there = np.flatnonzero(true_labels == label)
            threshold = iou if isinstance(iou, int | float) else _of_class(iou, label)
            match = _match_coco if form == "coco" else _match_voc
            outcome = match(overlaps[np.ix_(mine, there)], crowd[there], threshold)
            outcomes.setdefault(label, []).append(outcome)
            scores.setdefault(label, []).append(score[order][mine])
    average = _over_101_recalls if form == "coco" else _below_all_recalls
    found_precision = {}
    for label, count in sorted(wanted.items()):
        if label not in outcomes:
            found_precision[label] = 0.0
            continue
        order = np.argsort(-np.concatenate(scores[label]), kind="stable")
        outcome = np.concatenate(outcomes[label])[order]
        found_precision[label] = average(outcome[outcome != _IGNORED], count)
    return found_precision


def _of_class(iou: Mapping[int, float], label: int) -> float:
    if label not in iou:
        raise ValueError(f"expected an overlap for every class, got none for class {label}")
    return iou[label]


def _counts(labels: Ints) -> list[tuple[int, int]]:
    values, counts = np.unique(labels, return_counts=True)
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def _boxes(entry: Mapping[str, Any], what: str) -> tuple[Floats, Ints]:
    boxes = np.asarray(entry["boxes"], np.float64)
    labels = np.asarray(entry["labels"], np.int64).reshape(-1)
    if not boxes.size:
        boxes = boxes.reshape(0, 4)
    if boxes.shape != (len(labels), 4):
        raise ValueError(
            f"expected {what} with boxes of shape ({len(labels)}, 4), one per label, got "
            f"{boxes.shape}"
        )
    return boxes, labels


def _overlaps(boxes: Floats, others: Floats, crowd: Flags) -> Floats:
    """Intersection over union; over the box's own area where the other is a crowd."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(2)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    other_areas = (others[:, 2:] - others[:, :2]).prod(1)
    either = np.where(crowd, areas[:, None], areas[:, None] + other_areas - both)
    shares = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    return np.asarray(shares)


def _match_coco(overlaps: Floats, crowd: Flags, threshold: float) -> Ints:
    """Give each detection, best first, the free box that it overlaps most, crowds last.

    Of equal overlaps the later box is taken, and a crowd only if no other box will do.
    """
    threshold = min(threshold, 1 - 1e-10)
    outcome = np.full(len(overlaps), _WRONG)
    free = np.ones(len(crowd), bool)
    for place in np.flatnonzero((overlaps >= threshold).any(1) if len(crowd) else []):
        row = overlaps[place]
        near = row >= threshold
        for candidates in (near & free & ~crowd, near & crowd):
            if candidates.any():
                best = np.flatnonzero(candidates & (row == row[candidates].max()))[-1]
                outcome[place] = _IGNORED if crowd[best] else _RIGHT
                free[best] = False
                break
    return outcome


def _match_voc(overlaps: Floats, difficult: Flags, threshold: float) -> Ints:
    """Ask for each detection, best first, whether the box that it overlaps most is still free."""
    outcome = np.full(len(overlaps), _WRONG)
    if not len(difficult):
        return outcome
    free = np.ones(len(difficult), bool)
    best = overlaps.argmax(1)
    for place in np.flatnonzero(overlaps.max(1) >= threshold):
        box = best[place]
        if difficult[box]:
            outcome[place] = _IGNORED
        elif free[box]:
            outcome[place] = _RIGHT
            free[box] = False
    return outcome


def _curve(outcome: Ints, wanted: int) -> tuple[Floats, Floats]:
    """Return recall after each detection, and the best precision from there on."""
    right = np.cumsum(outcome == _RIGHT)
    precision = right / np.arange(1, len(outcome) + 1)
    return right / wanted, np.maximum.accumulate(precision[::-1])[::-1]


def _over_101_recalls(outcome: Ints, wanted: int) -> float:
    recall, precision = _curve(outcome, wanted)
    places = np.searchsorted(recall, _RECALLS, side="left")
    reached = places < len(recall)
    return float(precision[places[reached]].sum() / len(_RECALLS))


def _below_all_recalls(outcome: Ints, wanted: int) -> float:
    recall, precision = _curve(outcome, wanted)
    return float((np.diff(recall, prepend=0.0) * precision).sum())
