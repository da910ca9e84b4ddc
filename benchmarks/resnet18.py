"""ResNet-18 training images per CPU second: Onward's learner against a plain PyTorch loop.

The same images in the same batches, the same optimiser (torch.optim.SGD in the plain loop), one
thread, interleaved; medians over rounds.

    python benchmarks/resnet18.py [--rounds 7]
"""

import argparse
import statistics
import time
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import torch

from onward.benchmarks.recipes import RESNET_PAPER
from onward.budget import Budget
from onward.methods.finetune import Finetune
from onward.models.torchvision_loader import torchvision
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner
from onward.types import Call, Samples, Setting, Table, View

CLASSES = 11
MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
DEVIATION = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


@dataclass(frozen=True)
class Case:
    """Images of one size, and how many of them make up an epoch."""

    side: int
    batch: int
    samples: int


CASES = (Case(32, 64, 512), Case(64, 64, 256), Case(224, 16, 32))


def onward_rate(case: Case, images: np.ndarray, labels: np.ndarray) -> float:
    """Return the images per CPU second of one epoch through a view, a budget and the learner."""
    table = Table(pa.table({"id": pa.array(range(len(labels)))}), {"input": images}, "synthetic")
    recipe = replace(RESNET_PAPER, epochs=1, batch_size=case.batch, augment="none", milestones=())
    learner = GradientLearner(Finetune(), Setting(OneLabel(), recipe, seed=0))
    samples = Samples(np.arange(len(labels)), labels)
    classes = tuple(f"class {number}" for number in range(CLASSES))
    budget = Budget()
    # The first step builds the model, which the plain loop is not charged for either.
    for part in (samples[: case.batch], samples):
        budget.open(part.rows)
        begun = time.process_time()
        learner.learn(View(table, part, classes, Call(budget)), budget)
    return case.samples / (time.process_time() - begun)


def plain_rate(case: Case, images: np.ndarray, labels: np.ndarray) -> float:
    """Return the images per CPU second of one epoch of the plain loop."""
    model = torchvision().models.resnet18(num_classes=CLASSES).train()
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=RESNET_PAPER.lr,
        momentum=RESNET_PAPER.momentum,
        weight_decay=RESNET_PAPER.weight_decay,
    )
    pixels, targets = torch.from_numpy(images), torch.from_numpy(labels)

    def epoch(order: torch.Tensor) -> None:
        for positions in order.split(case.batch):
            inputs = pixels[positions].permute(0, 3, 1, 2).contiguous().float().div_(255)
            outputs = model((inputs - MEAN) / DEVIATION)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(outputs, targets[positions]).backward()
            optimizer.step()

    epoch(torch.arange(case.batch))
    begun = time.process_time()
    epoch(torch.randperm(case.samples))
    return case.samples / (time.process_time() - begun)


def main() -> None:
    """Measure both, interleaved, and print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    for case in CASES:
        shape = (case.samples, case.side, case.side, 3)
        images = rng.integers(0, 256, shape, np.uint8)
        labels = rng.integers(0, CLASSES, case.samples)
        ours, plain = [], []
        for _ in range(rounds):
            ours.append(onward_rate(case, images, labels))
            plain.append(plain_rate(case, images, labels))
        own, other = statistics.median(ours), statistics.median(plain)
        print(
            f"ResNet-18 {case.side}x{case.side}, batch {case.batch}: onward {own:.0f} images per "
            f"CPU second, plain PyTorch loop {other:.0f}: {own / other:.2f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()
