"""What a method is shown, made by hand."""

from typing import Any

import numpy as np
import pyarrow as pa
import torch

from onward.budget import Budget
from onward.tasks.many_labels import ManyLabels
from onward.train.method import Method
from onward.train.recipe import Recipe
from onward.types import Array, Call, Rows, Samples, Setting, Table, Task, View
from onward.view import complete_labels

RECIPE = Recipe(
    model="mlp",
    lr=0.1,
    momentum=0.9,
    weight_decay=0.01,
    batch_size=8,
    epochs=2,
    exemplars_per_class=4,
    hidden_dim=5,
)


def begun(method: Any, task: Task | None = None, recipe: Recipe = RECIPE) -> Any:
    assert isinstance(method, Method)
    method.begin(Setting(task or ManyLabels(), recipe, 0))
    return method


def table(inputs: Array) -> Table:
    columns = pa.table({"id": [str(row) for row in range(len(inputs))]})
    return Table(columns, {"input": inputs.astype(np.float32)}, digest="by hand")


def shown(
    inputs: Array,
    rows: Rows,
    labels: Array,
    classes: int,
    budget: Budget,
    complete: Array | None = None,
) -> View:
    names = tuple(f"class {number}" for number in range(classes))
    budget.open(np.asarray(rows))
    samples = Samples(np.asarray(rows, np.int64), np.asarray(labels))
    known = None
    if complete is not None:
        known = complete_labels(complete, np.concatenate([samples.rows, budget.held]), classes)
    return View(table(inputs), samples, names, Call(budget), complete=known)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
