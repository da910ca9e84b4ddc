"""Boxes: what a detector may answer, how it is scored, and how it is stored."""

from pathlib import Path

import numpy as np
import pytest

from onward.errors import DivergedError, OnwardError
from onward.metrics.clad import CHALLENGE_IOU
from onward.metrics.detection import mean_average_precision
from onward.results import predictions
from onward.tasks.boxes import Boxes, as_truth, detections, padded, true_boxes
from onward.types import Array, Samples

CLASSES = ("pedestrian", "cyclist", "car", "truck", "tram/bus", "tricycle")
BOXES = Boxes()


def scene(seed: int, images: int = 8) -> tuple[Array, Array]:
    """Return decisions and targets that overlap more or less."""
    rng = np.random.default_rng(seed)
    true, said = [], []
    for _ in range(images):
        count = int(rng.integers(0, 5))
        corner = rng.uniform(0, 100, (count, 2))
        boxes = np.hstack([corner, corner + rng.uniform(8, 40, (count, 2))])
        labels = rng.integers(0, 6, (count, 1))
        true.append(np.hstack([labels, boxes, np.zeros((count, 1))]))
        moved = boxes + rng.normal(0, 3, boxes.shape)
        said.append(np.hstack([labels, rng.random((count, 1)), moved]))
    return padded(said), padded(true)


def test_scores_are_the_metrics_three_forms() -> None:
    said, true = scene(0)
    found, truth = detections(said), true_boxes(true)
    wide = {number - 1: overlap for number, overlap in CHALLENGE_IOU.items()}
    assert BOXES.score(said, true) == {
        "map50": mean_average_precision(found, truth),
        "map50_voc": mean_average_precision(found, truth, form="voc"),
        "map_challenge": mean_average_precision(found, truth, iou=wide),
    }


def test_images_without_a_detection_count() -> None:
    said, true = scene(1)
    silent = said.copy()
    silent[:4, :, 0] = -1
    whole, half = (BOXES.score(one, true)["map50"] for one in (said, silent))
    assert half < whole


def test_by_class_is_the_average_precision_of_each_class() -> None:
    said, true = scene(2)
    found = BOXES.by_class(said, true, 6)
    there = np.unique(true[..., 0][true[..., 0] >= 0]).astype(int)
    assert np.isnan(found).sum() == 6 - len(there)
    assert np.nanmean(found) == pytest.approx(BOXES.score(said, true)["map50"])


def test_torchvisions_dictionaries_are_accepted() -> None:
    said, _ = scene(3)
    asked = BOXES.decode(detections(said), CLASSES, len(said))
    assert np.array_equal(asked, BOXES.decode(said, CLASSES, len(said)))


def test_decisions_come_best_first_and_no_wider_than_needed() -> None:
    said = np.full((2, 9, 6), -1.0)
    said[0, [3, 7]] = [[1, 0.2, 0, 0, 5, 5], [2, 0.8, 0, 0, 5, 5]]
    found = BOXES.decode(said, CLASSES, 2)
    assert found.shape == (2, 2, 6)
    assert found[0, :, 0].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (np.zeros((2, 3)), r"expected from predict\(view\) an array of shape \(2, boxes, 6\)"),
        ([{"labels": [1], "boxes": [[0, 0, 1, 1]]}] * 2, "a dictionary that does not fit"),
        (np.full((2, 1, 6), 6.0), "expected classes from 0 to 5"),
    ],
)
def test_other_answers_are_refused(outputs: object, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        BOXES.decode(outputs, CLASSES, 2)


def test_a_detector_that_diverged_says_so() -> None:
    with pytest.raises(DivergedError, match="lower its learning rate"):
        BOXES.decode(np.full((1, 1, 6), np.inf), CLASSES, 1)


def test_a_teacher_is_believed_where_it_is_sure() -> None:
    said, _ = scene(4)
    true = as_truth(said, least=0.4)
    sure = (said[..., 0] >= 0) & (said[..., 1] >= 0.4)
    assert np.array_equal(true[..., 0] >= 0, sure)
    assert np.array_equal(true[sure][:, 1:5], said[sure][:, 2:])


def test_an_image_counts_with_its_last_class() -> None:
    samples = Samples(np.arange(2), padded([np.array([[1, 0, 0, 1, 1, 0]] * 2), np.zeros((0, 6))]))
    assert samples.newest.tolist() == [1, -1]


def test_stored_boxes_come_back(tmp_path: Path) -> None:
    said, true = scene(5)
    content = predictions.encode(
        np.array(["period"] * 8), np.zeros(8), np.arange(8), true, said, CLASSES
    )
    (tmp_path / "000.parquet").write_bytes(content)
    table, classes = predictions.decode(tmp_path / "000.parquet")
    targets, decisions = predictions.judged(table)
    assert classes == CLASSES
    assert np.array_equal(targets, true)
    assert np.array_equal(decisions, said)
