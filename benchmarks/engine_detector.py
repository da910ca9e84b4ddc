"""The case of benchmarks/engine.py with a detector: a small Faster R-CNN on small frames."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from measured import Measured, Target, cpu_milliseconds, measure, table_of, view_of
from onward.benchmarks.clad_recipes import BOX_RECIPES
from onward.budget import Budget
from onward.methods.finetune import Finetune
from onward.models.faster_rcnn import SmallRCNN
from onward.models.pixels import ANY_IMAGES
from onward.models.torchvision_loader import torchvision
from onward.tasks.boxes import Boxes
from onward.train.learner import GradientLearner
from onward.types import Array, Setting

HEIGHT, WIDTH, CLASSES, BATCH = 112, 192, 6, 4


def faster_rcnn(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare a training step with torchvision's, of the same network and the same operators."""
    count = (4 if quick else 20) * BATCH
    frames, labels = _frames(count)
    ours, plain = Ours(frames, labels), Plain(frames, labels)
    unit = "ms of CPU time a training step"
    target = Target(1.05, at_least=False)
    return [measure("faster-rcnn", ours.step, plain.step, rounds, unit, target)]


def _frames(count: int) -> tuple[Array, Array]:
    """Return frames with three bright squares each, and their boxes."""
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 100, (count, HEIGHT, WIDTH, 3), np.uint8)
    labels = np.zeros((count, 3, 6))
    for frame, boxes in zip(frames, labels, strict=True):
        for box in boxes:
            side = int(rng.integers(12, 48))
            left, top = int(rng.integers(0, WIDTH - side)), int(rng.integers(0, HEIGHT - side))
            frame[top : top + side, left : left + side] += 120
            box[:5] = rng.integers(CLASSES), left, top, left + side, top + side
    return frames, labels


class Ours:
    """Onward's learner, in AdamW and without augmentation."""

    def __init__(self, frames: Array, labels: Array) -> None:
        self._recipe = replace(
            BOX_RECIPES.stream["cpu"],
            first_epochs=None,
            epochs=1,
            augment="none",
            batch_size=BATCH,
            milestones=(),
            grad_clip_norm=None,
        )
        self._table, self._labels = table_of(frames), labels

    def step(self) -> float:
        """Return the CPU milliseconds of a step, from new weights on."""
        learner = GradientLearner(Finetune(), Setting(Boxes(), self._recipe, 0))
        self._learn(learner, BATCH)  # makes the model
        count = len(self._labels)
        return cpu_milliseconds(lambda: self._learn(learner, count)) / (count // BATCH)

    def _learn(self, learner: GradientLearner, count: int) -> None:
        budget, rows = Budget(), np.arange(count)
        learner.learn(view_of(self._table, rows, self._labels[rows], CLASSES, budget), budget)


class Plain:
    """torchvision's `FasterRCNN` in a plain loop."""

    def __init__(self, frames: Array, labels: Array) -> None:
        # As torchvision's datasets have them, which is not charged.
        self._images = [
            image.permute(2, 0, 1).contiguous().float() / 255 for image in torch.from_numpy(frames)
        ]
        self._targets = [
            {
                "boxes": torch.from_numpy(boxes[:, 1:5]).float(),
                "labels": torch.from_numpy(boxes[:, 0]).long() + 1,
            }
            for boxes in labels
        ]

    def step(self) -> float:
        """Return the CPU milliseconds of a step, from new weights on."""
        model = _torchvisions().train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=BOX_RECIPES.stream["cpu"].lr)
        places = [*range(len(self._images))]
        self._steps(model, optimizer, places[:BATCH])
        taken = cpu_milliseconds(lambda: self._steps(model, optimizer, places))
        return taken / (len(places) // BATCH)

    def _steps(self, model: Any, optimizer: torch.optim.Optimizer, places: list[int]) -> None:
        for start in range(0, len(places), BATCH):
            some = slice(start, start + BATCH)
            losses = model(self._images[some], self._targets[some])
            optimizer.zero_grad()
            sum(losses.values()).backward()
            optimizer.step()


def _torchvisions() -> Any:
    """Make torchvision's detector of the same parts, for images of this size."""
    torchvision()
    from torchvision.models.detection.transform import GeneralizedRCNNTransform

    class Parts(SmallRCNN):
        def __init__(self) -> None:
            """Make no model of ours."""

    model = Parts()._parts(CLASSES + 1)
    model.transform = GeneralizedRCNNTransform(
        HEIGHT, WIDTH, *ANY_IMAGES, size_divisible=SmallRCNN.STRIDE
    )
    return model
