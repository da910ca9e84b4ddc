"""The task kind with boxes: what is where in an image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.fit import CLASS_OUTPUTS, ONE_CLASS
from onward.metrics.clad import CHALLENGE_IOU
from onward.metrics.detection import average_precision, mean_average_precision
from onward.tasks.known import AsTested, WithoutClasses, require_finite
from onward.tasks.shown import Shown
from onward.types import Array

TRUE_COLUMNS = ("class", "left", "top", "right", "bottom", "crowd")
"""What a true box is: labels are arrays (samples, boxes, these)."""
FOUND_COLUMNS = ("class", "score", "left", "top", "right", "bottom")
"""What a detected box is: decisions are arrays (samples, boxes, these)."""


@dataclass(frozen=True)
class Boxes(AsTested, WithoutClasses):
    """Each sample is an image with any number of boxes, each of one class: detection.

    Labels and decisions are arrays of one row per box, the class -1 where an image has fewer than
    others. Coordinates are pixels of the input. The loss is the detector's: its outputs have
    ``loss(targets)``.

    The headline is the mean average precision at an overlap of 0.5 in the form of COCO. Beside it
    are the form of VOC, which CLAD's paper names, and the challenge's overlaps, 0.7 for wide
    vehicles.
    """

    name: str = "boxes"
    headline: str = "map50"
    targets: ClassVar[str] = "boxes"
    lacks: ClassVar[Mapping[str, str]] = {
        CLASS_OUTPUTS: "a detector says what is at each of many places",
        ONE_CLASS: "an image has boxes of many classes",
    }
    shown: ClassVar[Shown] = Shown(
        "average precision",
        "CLAD, Lin et al. 2014",
        # CLAD-D's domains have no order in time: what counts is all of them, in the end.
        metrics=("final", "in_domain", "backward_transfer"),
        precisions=True,
    )

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the detector's own loss."""
        return outputs.loss(targets)

    def distillation_loss(self, outputs: Any, teacher: Any, temperature: float = 1.0) -> Any:
        """Return the loss towards the boxes that a teacher is sure of, as if they were true."""
        if temperature != 1:
            raise OnwardError(f"expected a temperature of 1 where boxes are, found {temperature}")
        return self.loss(outputs, as_truth(teacher))

    def decode(self, outputs: Any, classes: tuple[str, ...], *tests: int) -> Array:
        """Accept rows of class, score and corners, or torchvision's dictionaries; return rows."""
        found = _as_rows(outputs, sum(tests))
        real = found[..., 0] >= 0
        require_finite(found[real], "boxes and scores", "detector")
        if (found[real][:, 0] >= len(classes)).any():
            raise OnwardError(
                f"expected classes from 0 to {len(classes) - 1} in the first column of a box from "
                f"predict(view), found {found[real][:, 0].max():g}"
            )
        # Best first, so that what lies behind the longest list of boxes can be cut off.
        order = np.argsort(np.where(real, -found[..., 1], np.inf), axis=1, kind="stable")
        ranked = np.take_along_axis(found, order[..., None], axis=1)
        return ranked[:, : max(1, int(real.sum(1).max(initial=0)))]

    def score(self, decisions: Array, targets: Array) -> dict[str, float]:
        """Return the mean over classes of the average precision, in three forms.

        Examples
        --------
        >>> true = np.array([[[0, 0, 0, 10, 10, 0], [-1, 0, 0, 0, 0, 0]]])
        >>> found = np.array([[[0, 0.9, 0, 0, 10, 9]]])
        >>> Boxes().score(found, true)
        {'map50': 1.0, 'map50_voc': 1.0, 'map_challenge': 1.0}
        """
        found, truth = detections(decisions), true_boxes(targets)
        # Categories count from 1; of classes that CLAD does not have, its usual overlap is asked.
        classes = {int(label) for image in (*found, *truth) for label in image["labels"]}
        overlaps = {number: CHALLENGE_IOU.get(number + 1, 0.5) for number in classes}
        return {
            "map50": mean_average_precision(found, truth),
            "map50_voc": mean_average_precision(found, truth, form="voc"),
            "map_challenge": mean_average_precision(found, truth, iou=overlaps),
        }

    def by_class(self, decisions: Array, targets: Array, classes: int) -> NDArray[np.float64]:
        """Return the average precision of each class; NaN where no image has it."""
        found = average_precision(detections(decisions), true_boxes(targets))
        return np.array([found.get(number, np.nan) for number in range(classes)])


def as_truth(found: Any, least: float = 0.5) -> Any:
    """Return detections as true boxes, without those of a lower score; arrays or tensors.

    Examples
    --------
    >>> as_truth(np.array([[[2, 0.9, 0, 0, 4, 4], [1, 0.2, 5, 5, 9, 9]]])).tolist()
    [[[2.0, 0.0, 0.0, 4.0, 4.0, 0.0], [-1.0, 5.0, 5.0, 9.0, 9.0, 0.0]]]
    """
    true = 0 * found
    true[..., 0] = found[..., 0] * (found[..., 1] >= least) - 1.0 * (found[..., 1] < least)
    true[..., 1:5] = found[..., 2:]
    return true


def mirrored(labels: Any, which: Any, width: int) -> Any:
    """Return true boxes where some images have been mirrored; arrays or tensors.

    Examples
    --------
    >>> mirrored(np.array([[[2, 1, 0, 4, 4, 0]]]), np.array([True]), 10).tolist()
    [[[2, 6, 0, 9, 4, 0]]]
    """
    moved = 1 * labels
    moved[which, :, 1] = width - labels[which, :, 3]
    moved[which, :, 3] = width - labels[which, :, 1]
    return moved


def detections(decisions: Array) -> list[dict[str, Array]]:
    """Return decisions image by image, as `onward.metrics.detection` takes them."""
    rows = [image[image[:, 0] >= 0] for image in decisions]
    return [{"labels": r[:, 0], "scores": r[:, 1], "boxes": r[:, 2:]} for r in rows]


def true_boxes(labels: Array) -> list[dict[str, Array]]:
    """Return true boxes image by image."""
    rows = [image[image[:, 0] >= 0] for image in labels]
    return [{"labels": r[:, 0], "boxes": r[:, 1:5], "iscrowd": r[:, 5] > 0} for r in rows]


def padded(images: Sequence[Array], columns: int = len(TRUE_COLUMNS)) -> NDArray[np.float32]:
    """Return the boxes of several images as one array; an image with fewer has the class -1.

    Examples
    --------
    >>> padded([np.zeros((0, 6)), np.array([[1, 0, 0, 4, 4, 0]])])[:, 0, 0].tolist()
    [-1.0, 1.0]
    """
    most = max((len(image) for image in images), default=0)
    whole = np.zeros((len(images), max(most, 1), columns), np.float32)
    whole[..., 0] = -1
    for place, image in enumerate(images):
        whole[place, : len(image)] = image
    return whole


def _as_rows(outputs: Any, samples: int) -> NDArray[np.float32]:
    if isinstance(outputs, list | tuple) and all(isinstance(one, Mapping) for one in outputs):
        try:
            outputs = padded([_columns(one) for one in outputs], len(FOUND_COLUMNS))
        except (KeyError, ValueError) as error:
            raise _unexpected(samples, f"a dictionary that does not fit ({error})") from error
    found = np.asarray(outputs)
    if found.ndim != 3 or found.shape[::2] != (samples, len(FOUND_COLUMNS)):
        raise _unexpected(samples, f"shape {found.shape} of type {found.dtype}")
    return found.astype(np.float32)


def _columns(image: Mapping[str, Any]) -> Array:
    labels, scores, boxes = (np.asarray(image[name]) for name in ("labels", "scores", "boxes"))
    return np.column_stack([labels, scores, boxes.reshape(len(labels), 4)])


def _unexpected(samples: int, found: str) -> OnwardError:
    return OnwardError(
        f"expected from predict(view) an array of shape ({samples}, boxes, 6) with "
        f"{', '.join(FOUND_COLUMNS)} in a row, class -1 behind the last box, or a list of "
        f"{samples} dictionaries with labels, scores and boxes; found {found}"
    )
