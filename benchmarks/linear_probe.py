"""CPU time of one linear-probe epoch at CLEAR10's size: 3,300 samples x 2,048 features, batch 256.

Onward's own learner against the plain PyTorch loop that most code uses (a DataLoader over a
TensorDataset, nn.Linear, torch.optim.SGD), on the same arrays, one thread, interleaved; medians.

    python benchmarks/linear_probe.py
"""

import statistics
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import torch

from onward.benchmarks.recipes import PAPER
from onward.budget import Budget
from onward.methods.finetune import Finetune
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner
from onward.types import Call, Samples, Setting, Table, View

SAMPLES, WIDTH, CLASSES, EPOCHS, ROUNDS = 3300, 2048, 11, 5, 9
RECIPE = replace(PAPER, epochs=EPOCHS)


def onward_epoch(features: np.ndarray, labels: np.ndarray) -> float:
    """Return the CPU milliseconds of one epoch through a view, a budget and the learner."""
    table = Table(pa.table({"id": pa.array(range(SAMPLES))}), {"input": features}, "synthetic")
    learner = GradientLearner(Finetune(), Setting(OneLabel(), RECIPE, seed=0))
    budget = Budget()
    samples = Samples(np.arange(SAMPLES), labels)
    classes = tuple(f"class {number}" for number in range(CLASSES))
    budget.open(samples.rows)
    begun = time.process_time()
    learner.learn(View(table, samples, classes, Call(budget)), budget)
    return (time.process_time() - begun) / EPOCHS * 1000


def plain_epoch(features: np.ndarray, labels: np.ndarray) -> float:
    """Return the CPU milliseconds of one epoch of the plain loop."""
    data = torch.utils.data.TensorDataset(torch.from_numpy(features), torch.from_numpy(labels))
    loader = torch.utils.data.DataLoader(data, batch_size=RECIPE.batch_size, shuffle=True)
    model = torch.nn.Linear(WIDTH, CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    begun = time.process_time()
    for _ in range(EPOCHS):
        for inputs, targets in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
    return (time.process_time() - begun) / EPOCHS * 1000


def main() -> None:
    """Measure both, interleaved, and print one line."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    features = rng.standard_normal((SAMPLES, WIDTH), np.float32)
    labels = rng.integers(0, CLASSES, SAMPLES)
    ours, plain = [], []
    for _ in range(ROUNDS):
        ours.append(onward_epoch(features, labels))
        plain.append(plain_epoch(features, labels))
    own, other = statistics.median(ours), statistics.median(plain)
    print(
        f"linear probe {SAMPLES}x{WIDTH}, batch {RECIPE.batch_size}: onward {own:.1f} ms of CPU an "
        f"epoch, plain PyTorch loop {other:.1f} ms: {other / own:.1f}x"
    )


if __name__ == "__main__":
    main()
