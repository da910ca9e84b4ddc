"""Cases of benchmarks/engine.py that read photos: JPEGs of 500 x 375 pixels."""

import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from measured import Measured, Target, cpu_milliseconds, measure, table_of, view_of
from onward.benchmarks.recipes import RESNET_PAPER
from onward.budget import Budget
from onward.data.folder_images import FolderImages
from onward.hardware import Hardware
from onward.methods.finetune import Finetune
from onward.models.pixels import IMAGENET
from onward.models.torchvision_loader import torchvision, transforms
from onward.tasks.one_label import OneLabel
from onward.train.augment import augmented
from onward.train.learner import GradientLearner
from onward.types import Array, Setting
from onward.view import reader_of

WIDTH, HEIGHT, SIDE, CLASSES = 500, 375, 224, 11
WORKERS = 2
# A module that makes three numbers of an image: the data path is all that takes time.
POOLING = """
from torch import nn


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(3, 3)

    def forward(self, images):
        return self.last(images[:, :, ::32, ::32].mean((2, 3)))
"""


@contextmanager
def photos(count: int) -> Iterator[FolderImages]:
    """Write photos with large shapes, fine detail and noise, about 60 kB each."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        paths = [f"{number}.jpg" for number in range(count)]
        for path in paths:
            shapes, detail = (_smooth(rng, side) for side in (16, 125))
            noise = rng.normal(0, 4, shapes.shape)
            pixels = np.clip(shapes + 0.3 * (detail - 128) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(Path(place) / path, quality=90)
        yield FolderImages(Path(place), paths, SIDE)


def _smooth(rng: np.random.Generator, across: int) -> Array:
    """Return random colours, this many across, enlarged to a photo."""
    small = rng.integers(0, 256, (across * HEIGHT // WIDTH, across, 3), np.uint8)
    large = Image.fromarray(small).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
    return np.asarray(large, np.float32)


class Ours:
    """One run of Onward's learner on photos.

    Parameters
    ----------
    column
        The photos.
    batch, workers, model
        Of the recipe and of the hardware settings.
    """

    def __init__(self, column: FolderImages, batch: int, workers: int, model: str) -> None:
        recipe = replace(
            RESNET_PAPER, model=model, epochs=1, batch_size=batch, milestones=(), weights=None
        )
        setting = Setting(OneLabel(), recipe, 0, hardware=Hardware("cpu", workers))
        self._learner = GradientLearner(Finetune(), setting)
        self._table, self._count = table_of(column), len(column.paths)
        self._learn(batch)  # makes the model

    def rate(self) -> float:
        """Return the images per second of wall time of one epoch, the start of workers included."""
        begun = time.perf_counter()
        self._learn(self._count)
        return self._count / (time.perf_counter() - begun)

    def cpu(self) -> float:
        """Return the CPU milliseconds an image that this process and its workers spend."""
        begun = _cpu_seconds()
        self._learn(self._count)
        return 1000 * (_cpu_seconds() - begun) / self._count

    def _learn(self, count: int) -> None:
        budget, rows = Budget(), np.arange(count)
        self._learner.learn(view_of(self._table, rows, rows % CLASSES, CLASSES, budget), budget)


class Photos(Dataset[Any]):
    """Photos and labels as most training scripts read them."""

    def __init__(self, column: FolderImages, transform: Any) -> None:
        self._column, self._transform = column, transform

    def __len__(self) -> int:
        return len(self._column.paths)

    def __getitem__(self, row: int) -> tuple[Any, int]:
        path = self._column.root / self._column.paths[row]
        with Image.open(path) as file:
            return self._transform(file.convert("RGB")), row % CLASSES


class Plain:
    """The same in plain PyTorch: a DataLoader, torchvision's transforms and its ResNet-18."""

    def __init__(self, column: FolderImages, batch: int) -> None:
        vision = torchvision()
        v2 = transforms()
        transform = v2.Compose(
            [
                v2.Resize(SIDE),
                v2.RandomCrop(SIDE),
                v2.RandomHorizontalFlip(),
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize(*IMAGENET),
            ]
        )
        self._count = len(column.paths)
        self._loader = DataLoader(
            Photos(column, transform), batch_size=batch, shuffle=True, num_workers=WORKERS
        )
        self._model = vision.models.resnet18(num_classes=CLASSES).train()
        self._optimizer = torch.optim.SGD(
            self._model.parameters(),
            lr=RESNET_PAPER.lr,
            momentum=RESNET_PAPER.momentum,
            weight_decay=RESNET_PAPER.weight_decay,
        )
        self._step(torch.zeros(batch, 3, SIDE, SIDE), torch.zeros(batch, dtype=torch.int64))

    def rate(self) -> float:
        """Return the images per second of wall time of one epoch."""
        begun = time.perf_counter()
        for inputs, targets in self._loader:
            self._step(inputs, targets)
        return self._count / (time.perf_counter() - begun)

    def _step(self, inputs: torch.Tensor, targets: torch.Tensor) -> None:
        self._optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self._model(inputs), targets).backward()
        self._optimizer.step()


def resnet18(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare training from files with a plain loop."""
    batch, count = (4, 32) if quick else (16, 128)
    with photos(count) as column:
        ours, plain = Ours(column, batch, WORKERS, "resnet18"), Plain(column, batch)
        return [
            measure(
                "resnet18-jpeg",
                ours.rate,
                plain.rate,
                rounds,
                "images per second of wall time",
                Target(1.0, at_least=True, tolerance=0.03),
            )
        ]


def data_path(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare two workers with none, where the model takes no time."""
    count = 256 if quick else 1536
    with photos(64) as some:
        # The same files again and again: they are decoded anew every time.
        column = replace(some, paths=[some.paths[number % 64] for number in range(count)])
        module = some.root / "pooling.py"
        module.write_text(POOLING)
        model = f"{module}:Pooling"
        two, none = (Ours(column, 32, workers, model) for workers in (WORKERS, 0))
        return [
            measure(
                "data-path",
                two.rate,
                none.rate,
                rounds,
                "images per second of wall time, two workers and none",
                Target(1.5, at_least=True),
            ),
            # What sending batches between processes adds; on two free cores, a speed-up of 1.5
            # leaves room for a third.
            measure(
                "data-path overhead",
                two.cpu,
                none.cpu,
                rounds,
                "ms of CPU time an image of all processes, two workers and none",
                Target(1.33, at_least=False),
            ),
        ]


def decode_crop(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare reading one batch after another with torchvision's transforms."""
    count = 32 if quick else 128
    v2 = transforms()
    crops = {
        "random_crop_flip": [v2.Resize(SIDE), v2.RandomCrop(SIDE)],
        "random_resized_crop_flip": [v2.RandomResizedCrop(SIDE)],
    }
    found = []
    with photos(count) as column:
        rows, indices = np.arange(count), np.arange(32)
        reader = reader_of(view_of(table_of(column), rows, rows, CLASSES, Budget()))
        for augment, crop in crops.items():
            transform = v2.Compose([*crop, v2.RandomHorizontalFlip(), v2.PILToTensor()])
            plain = Photos(column, transform)

            def own(augment: str = augment) -> float:
                def read() -> None:
                    for step in range(0, count, 32):
                        augmented(reader, rows[step : step + 32], augment, (0, step), indices)

                return 1000 * count / cpu_milliseconds(read)

            def other(plain: Photos = plain) -> float:
                def read() -> None:
                    for step in range(0, count, 32):
                        torch.stack([plain[row][0] for row in range(step, step + 32)])

                return 1000 * count / cpu_milliseconds(read)

            own(), other()
            found.append(
                measure(
                    f"decode-crop {augment}",
                    own,
                    other,
                    rounds,
                    "images per CPU second",
                    Target(1.0, at_least=True),
                )
            )
    return found


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
