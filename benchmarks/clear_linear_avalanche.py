"""Avalanche's side of `clear_linear.py`: a child process in an environment of its own.

It is told what to measure, one JSON line at a time, and answers with one JSON line. What is
measured is Avalanche's own CLEAR example (``examples/clear_linear.py``: Naive, SGD, its benchmark
of tensors, its evaluation) with the paper's batch size and without its loggers, whose printing is
not the library's work.

    python benchmarks/clear_linear_avalanche.py FEATURES.npy LABELS.npy
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch

from mended_torchvision import mend_torchvision

mend_torchvision()
warnings.simplefilter("ignore")

from avalanche.benchmarks.scenarios.deprecated.generic_benchmark_creation import (  # noqa: E402
    create_generic_benchmark_from_tensor_lists,
)
from avalanche.evaluation.metrics import accuracy_metrics  # noqa: E402
from avalanche.training.plugins import EvaluationPlugin  # noqa: E402
from avalanche.training.plugins.lr_scheduling import LRSchedulerPlugin  # noqa: E402
from avalanche.training.supervised import Naive  # noqa: E402


class Side:
    """A stream of periods, and one strategy that learns them in turn."""

    def __init__(self, features: np.ndarray, labels: np.ndarray) -> None:
        periods = [
            (torch.from_numpy(inputs), torch.from_numpy(targets))
            for inputs, targets in zip(features, labels, strict=True)
        ]
        self._benchmark = create_generic_benchmark_from_tensor_lists(
            periods,
            periods,
            task_labels=list(range(len(periods))),
            complete_test_set_only=False,
        )
        self._width, self._classes = features.shape[2], int(labels.max()) + 1

    def begin(self, seed: int, epochs: int, decay_after: int) -> dict[str, Any]:
        """Make a new model and its strategy."""
        torch.manual_seed(seed)
        model = torch.nn.Linear(self._width, self._classes)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
        decay = torch.optim.lr_scheduler.StepLR(optimizer, step_size=decay_after, gamma=0.1)
        self._strategy = Naive(
            model=model,
            optimizer=optimizer,
            criterion=torch.nn.CrossEntropyLoss(),
            train_mb_size=256,
            train_epochs=epochs,
            eval_mb_size=256,
            plugins=[LRSchedulerPlugin(decay)],
            evaluator=EvaluationPlugin(accuracy_metrics(experience=True), loggers=[]),
        )
        return {}

    def learn(self, period: int) -> dict[str, Any]:
        """Train on one period."""
        # Onward begins each period at rest; Avalanche would carry its momentum over.
        self._strategy.optimizer.state.clear()
        begun = time.process_time()
        self._strategy.train(self._benchmark.train_stream[period])
        return {"seconds": time.process_time() - begun}

    def row(self, first: int) -> dict[str, Any]:
        """Evaluate on all periods from this one on."""
        begun = time.process_time()
        found = self._strategy.eval(self._benchmark.test_stream[first:])
        seconds = time.process_time() - begun
        # The answer holds earlier evaluations too.
        (accuracy,) = (found[name] for name in found if name.endswith(f"Exp{first:03d}"))
        return {"seconds": seconds, "accuracy": accuracy}


def main() -> None:
    """Answer one line for every line."""
    torch.set_num_threads(1)
    side = Side(*(np.load(path) for path in sys.argv[1:3]))
    answers, sys.stdout = sys.stdout, sys.stderr
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        verb = {"begin": side.begin, "learn": side.learn, "row": side.row}[name]
        print(json.dumps(verb(*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()
