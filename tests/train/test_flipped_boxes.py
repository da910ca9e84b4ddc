"""Boxes move along with the images that are mirrored while they are trained on."""

import numpy as np
import pytest
import torch

from onward.budget import Budget
from onward.checks.tiny_boxes import tiny_boxes
from onward.errors import OnwardError
from onward.train.loading import BatchReader, BatchSampler
from onward.train.method import TrainingSet, WholeBatch
from onward.types import Call, View

STREAM = tiny_boxes().stream(0)


def training(batch: int | None = None) -> TrainingSet:
    train = STREAM[0].train
    budget = Budget({}, sample_bytes=1)
    budget.open(train.rows)
    view = View(STREAM.table, train, STREAM[0].classes, Call(budget))
    return TrainingSet(view, epoch=len(view), batch=batch)


def test_a_box_lies_where_its_image_shows_a_thing() -> None:
    chosen = training()
    labels = torch.tensor(chosen.view.labels)
    inputs_of = BatchReader(chosen, 5, "flip", (3, 0))
    as_they_are, whole = chosen.view.inputs(), WholeBatch.of(np.arange(5), chosen)
    flipped = 0
    for step in range(4):
        images = inputs_of(step, whole)
        moved = inputs_of.labels(step, whole, labels, images.shape[-2])
        for image, before, rows, own in zip(images, as_they_are, moved, labels, strict=True):
            mirrored = not np.array_equal(image, before)
            flipped += mirrored
            expected = own.clone()
            if mirrored:
                assert np.array_equal(image, before[:, ::-1])
                expected[:, 1], expected[:, 3] = 48 - own[:, 3], 48 - own[:, 1]
            assert torch.equal(rows, expected)
    assert 0 < flipped < 20
    again = BatchReader(chosen, 5, "flip", (3, 0)).labels(3, whole, labels, 48)
    assert torch.equal(again, moved)


def test_what_is_not_varied_stays_and_crops_are_refused() -> None:
    chosen = training()
    labels = torch.tensor(chosen.view.labels)
    classes, whole = torch.arange(5), WholeBatch.of(np.arange(5), chosen)
    assert BatchReader(chosen, 5, "none", (0, 0)).labels(0, whole, labels, 48) is labels
    assert (
        BatchReader(chosen, 5, "padded_crop_flip", (0, 0)).labels(0, whole, classes, 48) is classes
    )
    with pytest.raises(OnwardError, match="augment none or flip"):
        BatchReader(chosen, 5, "random_crop_flip", (0, 0)).labels(0, whole, labels, 48)


def test_a_method_may_have_smaller_batches() -> None:
    steps = BatchSampler(training(batch=2), 2, (0, 0))
    assert steps.per_epoch == 3
    assert sorted(np.concatenate([steps[step] for step in range(3)])) == list(range(5))
