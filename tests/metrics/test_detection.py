"""Average precision against pycocotools, against an independent VOC, and on worked boxes."""

import contextlib
import io
import math
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from onward.metrics.clad import CHALLENGE_IOU
from onward.metrics.detection import average_precision, mean_average_precision

CLASSES = (1, 2, 3, 4, 5, 6)
Entries = list[dict[str, Any]]


def random_scene(seed: int, images: int = 30, *, crowds: bool = True) -> tuple[Entries, Entries]:
    """Draw boxes on a grid, so that overlaps tie, with few distinct scores and empty images."""
    rng = np.random.default_rng(seed)
    found, truth = [], []
    for _ in range(images):
        count = int(rng.integers(0, 7)) * int(rng.random() < 0.8)
        corner = rng.integers(0, 12, (count, 2)) * 4.0
        boxes = np.hstack([corner, corner + rng.integers(1, 6, (count, 2)) * 4.0])
        labels = rng.choice(CLASSES[:5], count)
        truth.append(
            {
                "boxes": boxes,
                "labels": labels,
                "iscrowd": (rng.random(count) < 0.2) & crowds,
            }
        )
        copies = rng.integers(0, max(count, 1), count * 4) if count else np.zeros(0, int)
        moved = boxes[copies] + rng.integers(-1, 2, (len(copies), 4)) * 2.0
        moved[:, 2:] = np.maximum(moved[:, 2:], moved[:, :2] + 1)
        stray = int(rng.integers(0, 4)) * int(rng.random() < 0.7)
        corner = rng.integers(0, 40, (stray, 2)).astype(float)
        strays = np.hstack([corner, corner + rng.integers(1, 20, (stray, 2))])
        kinds = np.concatenate([labels[copies], rng.choice(CLASSES, stray)])
        found.append(
            {
                "boxes": np.vstack([moved, strays]),
                "labels": kinds,
                "scores": rng.integers(0, 8, len(kinds)) / 8,
            }
        )
    return found, truth


def by_pycocotools(found: Entries, truth: Entries, iou: float) -> dict[int, float]:
    def entries(all_images: Entries) -> list[dict[str, Any]]:
        rows = []
        for image, entry in enumerate(all_images, start=1):
            for place, (left, top, right, bottom) in enumerate(entry["boxes"].tolist()):
                size = [right - left, bottom - top]
                row = {
                    "id": len(rows) + 1,
                    "image_id": image,
                    "category_id": int(entry["labels"][place]),
                    "bbox": [left, top, *size],
                    "area": size[0] * size[1],
                    "iscrowd": int(entry["iscrowd"][place]) if "iscrowd" in entry else 0,
                }
                if "scores" in entry:
                    row["score"] = float(entry["scores"][place])
                rows.append(row)
        return rows

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "images": [{"id": n + 1} for n in range(len(truth))],
            "categories": [{"id": label} for label in CLASSES],
            "annotations": entries(truth),
        }
        coco.createIndex()
        theirs = COCOeval(coco, coco.loadRes(entries(found)), "bbox")
        theirs.params.iouThrs = np.array([iou])
        theirs.evaluate()
        theirs.accumulate()
    precision = theirs.eval["precision"][0, :, :, 0, -1]
    return {
        label: float(precision[:, column].mean())
        for column, label in enumerate(CLASSES)
        if precision[0, column] > -1
    }


@pytest.mark.parametrize("iou", [0.5, 0.7])
@pytest.mark.parametrize("seed", range(12))
def test_equal_to_pycocotools_with_ties_empty_images_and_crowds(seed: int, iou: float) -> None:
    found, truth = random_scene(seed)
    ours, theirs = average_precision(found, truth, iou=iou), by_pycocotools(found, truth, iou)
    assert ours.keys() == theirs.keys()
    for label, value in theirs.items():
        assert ours[label] == pytest.approx(value, abs=1e-9)
    assert 0 < mean_average_precision(found, truth, iou=iou) < 1


def test_at_most_a_hundred_detections_of_a_class_in_an_image_count() -> None:
    found, truth = random_scene(1, images=4)
    rng = np.random.default_rng(0)
    for entry in found:
        copies = rng.integers(0, max(len(entry["labels"]), 1), 400 if len(entry["labels"]) else 0)
        for name in entry:
            entry[name] = entry[name][copies]
    theirs = by_pycocotools(found, truth, 0.5)
    assert max(np.bincount(np.concatenate([e["labels"] for e in found[:1]]))) > 100
    assert average_precision(found, truth) == pytest.approx(theirs, abs=1e-9)


def test_each_class_has_the_overlap_of_the_challenge() -> None:
    found, truth = random_scene(3)
    mixed = average_precision(found, truth, iou=CHALLENGE_IOU)
    loose, strict = (average_precision(found, truth, iou=iou) for iou in (0.5, 0.7))
    assert mixed == {c: (loose if CHALLENGE_IOU[c] == 0.5 else strict)[c] for c in loose}
    assert loose[3] > strict[3]


def naive_voc(found: Entries, truth: Entries, label: int) -> float:
    """Follow the devkit's words: rank all detections, look up each best box, integrate."""
    ranked = sorted(
        (
            (-score, image, place)
            for image, entry in enumerate(found)
            for place, score in enumerate(entry["scores"])
            if entry["labels"][place] == label
        ),
    )
    taken, curve, right, wrong = set(), [], 0, 0
    total = sum(
        int(kind == label and not crowd)
        for entry in truth
        for kind, crowd in zip(entry["labels"], entry["iscrowd"], strict=True)
    )
    for _, image, place in ranked:
        box, best, which = found[image]["boxes"][place], 0.0, -1
        for other, kind in enumerate(truth[image]["labels"]):
            if kind != label:
                continue
            real = truth[image]["boxes"][other]
            width = min(box[2], real[2]) - max(box[0], real[0])
            height = min(box[3], real[3]) - max(box[1], real[1])
            if width <= 0 or height <= 0:
                continue
            areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (box, real)]
            overlap = width * height / (sum(areas) - width * height)
            if overlap > best:
                best, which = overlap, other
        if best >= 0.5 and truth[image]["iscrowd"][which]:
            continue
        if best >= 0.5 and (image, which) not in taken:
            taken.add((image, which))
            right += 1
        else:
            wrong += 1
        curve.append((right / total, right / (right + wrong)))
    area, last = 0.0, 0.0
    for recall in sorted({recall for recall, _ in curve}):
        area += (recall - last) * max(p for r, p in curve if r >= recall)
        last = recall
    return area


@pytest.mark.parametrize("seed", range(4))
def test_the_voc_form_follows_the_devkit(seed: int) -> None:
    found, truth = random_scene(seed)
    ours = average_precision(found, truth, form="voc")
    assert len(ours) == 5
    for label, value in ours.items():
        assert value == pytest.approx(naive_voc(found, truth, label), abs=1e-12)


def test_the_two_forms_differ_where_a_second_best_box_is_free() -> None:
    truth = [{"boxes": [[0, 0, 10, 10], [0, 4, 10, 14]], "labels": [1, 1]}]
    found = [{"boxes": [[0, 0, 10, 10], [0, 1, 10, 11]], "labels": [1, 1], "scores": [0.9, 0.8]}]
    assert mean_average_precision(found, truth) == pytest.approx(1)
    assert mean_average_precision(found, truth, form="voc") == pytest.approx(0.5)


def test_images_without_a_detection_count() -> None:
    box = {"boxes": [[0, 0, 10, 10]], "labels": [1]}
    found = [{**box, "scores": [1.0]}, {"boxes": [], "labels": [], "scores": []}]
    assert mean_average_precision(found, [box, box], form="voc") == pytest.approx(0.5)


def test_no_true_box_is_no_number() -> None:
    found = [{"boxes": [[0, 0, 1, 1]], "labels": [1], "scores": [1.0]}]
    truth = [{"boxes": [], "labels": []}]
    assert math.isnan(mean_average_precision(found, truth))


def test_wrong_input_is_refused() -> None:
    empty = {"boxes": [], "labels": [], "scores": []}
    one = {"boxes": [[0, 0, 1, 1]], "labels": [1], "scores": [1.0]}
    with pytest.raises(ValueError, match="each of 2 images"):
        mean_average_precision([empty], [empty, empty])
    with pytest.raises(ValueError, match="one per label"):
        mean_average_precision([{**one, "labels": [1, 2]}], [one])
    with pytest.raises(ValueError, match="NaN"):
        mean_average_precision([{**one, "scores": [float("nan")]}], [one])
    with pytest.raises(ValueError, match="none for class 1"):
        mean_average_precision([one], [one], iou={2: 0.5})
    with pytest.raises(ValueError, match="coco or voc"):
        mean_average_precision([one], [one], form="11-point")  # type: ignore[arg-type]


@pytest.mark.parametrize("side", [1e-3, 1.0, 1e3])
def test_boxes_of_any_size_overlap_alike(side: float) -> None:
    truth = [{"boxes": [[0.0, 0.0, side, side]], "labels": [0]}]
    near = [{"boxes": [[0.0, 0.0, side, 0.7 * side]], "labels": [0], "scores": [1.0]}]
    assert average_precision(near, truth, iou=0.6) == {0: 1.0}
    assert average_precision(near, truth, iou=0.8) == {0: 0.0}


def test_boxes_without_area_overlap_nothing() -> None:
    empty = [[2.0, 2.0, 2.0, 2.0]]
    truth = [{"boxes": empty, "labels": [0]}]
    found = [{"boxes": empty, "labels": [0], "scores": [1.0]}]
    assert average_precision(found, truth, iou=0.5) == {0: 0.0}
