"""Cases of benchmarks/engine.py that train linear probes at CLEAR10's size."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from linear_probe import CLASSES, RECIPE, SAMPLES, WIDTH, plain_epoch
from measured import (
    Measured,
    Target,
    cpu_milliseconds,
    measure,
    synthetic_features,
    table_of,
    view_of,
)
from onward.budget import Budget
from onward.methods.agem import AGEM
from onward.methods.finetune import Finetune
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner, learn_together
from onward.train.method import Method
from onward.train.training_log import TrainingLog
from onward.types import Array, Setting, Table

HEADS = 40
UNIT = "ms of CPU time a period-epoch"


class Period:
    """A period of features, and learners that have already learned one of the same size."""

    def __init__(self, methods: Sequence[Method], rates: Sequence[float]) -> None:
        features, labels = synthetic_features(2 * SAMPLES, WIDTH, CLASSES)
        self.features, self.labels = features, labels
        self._table: Table = table_of(features)
        self._learners = [
            GradientLearner(method, Setting(OneLabel(), replace(RECIPE, lr=rate), 0))
            for method, rate in zip(methods, rates, strict=True)
        ]
        # Makes the models and fills the memories.
        self._budgets = [Budget() for _ in methods]
        self._learn(np.arange(SAMPLES))

    def epoch(self, logs: Sequence[TrainingLog] = ()) -> float:
        """Return the CPU milliseconds of one epoch of all learners, side by side.

        Each may have a log of its training.
        """
        for budget, log in zip(self._budgets, logs, strict=False):
            budget.training_log = log
        taken = cpu_milliseconds(lambda: self._learn(np.arange(SAMPLES, 2 * SAMPLES)))
        return taken / RECIPE.epochs

    def _learn(self, rows: Array) -> None:
        views = [
            view_of(self._table, rows, self.labels[rows], CLASSES, budget)
            for budget in self._budgets
        ]
        calls = zip(self._learners, views, self._budgets, strict=True)
        for error in learn_together([*calls]):
            if error is not None:
                raise error


class Products:
    """The two matrix products of every step, and nothing else."""

    def __init__(self, features: Array, outputs: int) -> None:
        batches = torch.from_numpy(features[:SAMPLES]).split(RECIPE.batch_size)
        self._batches = [batch.clone() for batch in batches]
        self._weight, self._bias = torch.zeros(outputs, WIDTH), torch.zeros(outputs)
        self._logits = torch.randn(RECIPE.batch_size, outputs)
        self._gradient = torch.empty(outputs, WIDTH)

    def epoch(self) -> float:
        """Return the CPU milliseconds of one epoch."""
        return cpu_milliseconds(self._epochs) / RECIPE.epochs

    def _epochs(self) -> None:
        for _ in range(RECIPE.epochs):
            for batch in self._batches:
                logits = self._logits[: len(batch)]
                torch.addmm(self._bias, batch, self._weight.t(), out=logits)
                torch.mm(logits.t(), batch, out=self._gradient)


def probe(rounds: int, *, quick: bool) -> list[Measured]:
    """Report one probe beside its bare products and beside a plain loop."""
    return _heads(1, rounds, "probe", None)


def probes(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare forty probes with their bare products, and one of them with a plain loop."""
    return _heads(HEADS, rounds, "probes-40", Target(1.15, at_least=False))


def _heads(heads: int, rounds: int, name: str, target: Target | None) -> list[Measured]:
    rates = np.geomspace(0.01, 1, heads).tolist() if heads > 1 else [RECIPE.lr]
    period = Period([Finetune() for _ in rates], rates)
    bare = Products(period.features, heads * CLASSES)
    bare.epoch()
    unit = UNIT if heads == 1 else f"{UNIT} and head"
    return [
        measure(
            f"{name} (peer: two matrix products)",
            lambda: period.epoch() / heads,
            lambda: bare.epoch() / heads,
            rounds,
            unit,
            target,
        ),
        measure(
            f"{name} (peer: plain PyTorch loop)",
            lambda: period.epoch() / heads,
            lambda: plain_epoch(period.features[:SAMPLES], period.labels[:SAMPLES]),
            rounds,
            unit,
        ),
    ]


def agem(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare A-GEM, whose reference is all of its memory, with a loop written by hand."""
    period = Period([AGEM(memory=SAMPLES)], [RECIPE.lr])
    return [
        measure(
            "agem",
            period.epoch,
            lambda: _plain_agem(period.features, period.labels),
            rounds,
            UNIT,
            Target(1.2, at_least=False),
        )
    ]


def _plain_agem(features: Array, labels: Array) -> float:
    (memory, new), (memory_targets, targets) = (
        torch.from_numpy(array).split(SAMPLES) for array in (features, labels)
    )
    data = torch.utils.data.TensorDataset(new, targets)
    loader = torch.utils.data.DataLoader(data, batch_size=RECIPE.batch_size, shuffle=True)
    model = torch.nn.Linear(WIDTH, CLASSES)
    parameters = [*model.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=RECIPE.lr, momentum=RECIPE.momentum)

    def flat_gradient(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        return torch.cat([part.flatten() for part in torch.autograd.grad(loss, parameters)])

    def learn() -> None:
        for _ in range(RECIPE.epochs):
            for inputs, targets in loader:
                gradient = flat_gradient(inputs, targets)
                reference = flat_gradient(memory, memory_targets)
                dot = gradient @ reference
                if dot < 0:
                    gradient -= dot / (reference @ reference) * reference
                parts = gradient.split([parameter.numel() for parameter in parameters])
                for parameter, part in zip(parameters, parts, strict=True):
                    parameter.grad = part.view_as(parameter)
                optimizer.step()

    return cpu_milliseconds(learn) / RECIPE.epochs
