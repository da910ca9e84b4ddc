"""Calls of ten pictures each, made by hand, through the gradient learner."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from onward.budget import Budget
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner
from onward.train.method import Batch, Method
from onward.train.recipe import Recipe
from onward.types import Array, Call, Samples, Setting, Table, View

CLASSES = ("a", "b", "c")
LABELS = np.random.default_rng(1).choice(3, 400, p=[0.7, 0.2, 0.1])
PICTURES = np.random.default_rng(0).integers(0, 256, (400, 8, 8, 3), np.uint8)
RECIPE = Recipe(
    model="convnet",
    lr=0.05,
    momentum=0.0,
    weight_decay=0.0,
    batch_size=10,
    epochs=1,
    memory_size=30,
    keep_optimizer_state=True,
)
LIMITS = {"passes": 1, "new_in_batch": 10, "stored_samples": 30}


def learner_of(method: Method) -> GradientLearner:
    return GradientLearner(method, Setting(OneLabel(), RECIPE, 0))


def taught(
    method: Method,
    calls: int,
    *,
    seen: Callable[[Batch], Any] = lambda batch: None,
    after: Callable[[GradientLearner, Budget], Any] = lambda learner, budget: None,
) -> tuple[GradientLearner, Budget]:
    """Show a method so many calls of ten samples, and hand out each batch and each call's end."""
    ask = method.compute_loss

    def compute_loss(batch: Batch) -> Any:
        seen(batch)
        return ask(batch)

    method.compute_loss = compute_loss  # type: ignore[method-assign]
    learner, budget = learner_of(method), Budget(LIMITS)
    for call in range(calls):
        view = shown_call(call, budget)
        learner.learn(view, budget)
        after(learner, budget)
    return learner, budget


def shown_call(call: int, budget: Budget) -> View:
    rows = np.arange(10 * call, 10 * call + 10)
    budget.open(rows)
    table = Table(
        pa.table({"id": [str(row) for row in range(400)]}), {"input": PICTURES}, "by hand"
    )
    return View(table, Samples(rows, LABELS[rows]), CLASSES, Call(budget))


def counts(labels: Array) -> list[int]:
    return np.bincount(labels, minlength=len(CLASSES)).tolist()
