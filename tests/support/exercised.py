"""What a method did in a run that finetuning would not have done, found by watching its answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import numpy as np
import torch

import onward
from onward.budget import Budget
from onward.learners import choose
from onward.memory.by_step import ByStep
from onward.train.distillation import Teacher
from onward.train.learner import GradientLearner
from onward.train.method import Batch, Method, TrainingSet
from onward.train.quadratic_penalty import QuadraticPenalty
from onward.train.replay_memory import ExemplarMemory, ReplayMemory
from onward.train.weights import gradients, snapshot
from onward.turns import Event
from onward.types import Array, Benchmark, Learner, Rows, Setting, View

QUESTIONS = ("training_data", "init_weights", "compute_loss", "on_after_backward", "on_learn_end")
HOW = ("override_recipe", "lr_scale", "frozen_rows", "head", "start")
MEMORY = "memory"
# What each part of a method is for: held samples are read, losses and gradients are others.
MADE_OF: Mapping[type, str] = {
    ReplayMemory: MEMORY,
    ExemplarMemory: MEMORY,
    ByStep: MEMORY,
    Teacher: "compute_loss",
    QuadraticPenalty: "on_after_backward",
}


@dataclass
class Exercise:
    """One run of a method: what its class answers by itself, and what was answered otherwise.

    ``otherwise`` are the questions whose answer was, at least once, another than finetuning's: of
    ``on_learn_end`` that is one that changes weights. `MEMORY` is among them if samples were
    read that the budget held. ``owed`` is what the parts that the method is made of are for, and
    ``apart`` says that what was replayed was left to the method.
    """

    outputs: Array = field(default_factory=lambda: np.empty(0))
    overridden: set[str] = field(default_factory=set)
    otherwise: set[str] = field(default_factory=set)
    owed: set[str] = field(default_factory=set)
    stored: int = 0
    apart: bool = False
    gradient_method: bool = True


def exercise(benchmark: Benchmark, method: str, seed: int = 0) -> Exercise:
    """Run a method, and watch it."""
    found, chosen = Exercise(), choose(method, {}, benchmark)
    watchers: list[_Watch] = []

    def build(setting: Setting) -> Learner:
        made = chosen.build(setting)
        found.gradient_method = isinstance(made, GradientLearner)
        if isinstance(made, GradientLearner):
            watchers.append(_Watch(made, setting, found))
        return made

    def watch(event: Event) -> None:
        if event.kind == "tested":
            found.outputs = np.asarray(event.outputs)

    read = Budget.read

    def listening(budget: Budget, rows: Rows) -> None:
        for watcher in watchers:
            watcher.listen(budget, rows)
        read(budget, rows)

    with mock.patch.object(Budget, "read", listening):
        record = onward.run(benchmark, replace(chosen, build=build), seed, watch=watch)
    assert record.cost is not None
    found.stored = record.cost.stored_samples
    return found


class _Watch:
    """Compares every answer of a learner's method with what finetuning would have answered."""

    def __init__(self, learner: GradientLearner, setting: Setting, found: Exercise) -> None:
        method = learner.method
        self._method, self._found = method, found
        self._shown = self._before = np.empty(0, np.int64)
        self._asked = {name: getattr(method, name) for name in QUESTIONS}
        kind = type(method)
        found.overridden = {
            name for name in (*QUESTIONS, *HOW) if getattr(kind, name) is not getattr(Method, name)
        } | {name for name in ("start", "head") if name in vars(method)}
        found.owed = {
            what
            for part in vars(method).values()
            for kind, what in MADE_OF.items()
            if isinstance(part, kind)
        }
        self._note("override_recipe", method.override_recipe(setting.recipe) != setting.recipe)
        self._note("head", method.head != Method.head)
        self._note("start", method.start != Method.start)
        for name in QUESTIONS:
            setattr(method, name, getattr(self, name))

    def _note(self, question: str, otherwise: bool) -> None:
        if otherwise:
            self._found.otherwise.add(question)

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        """Note other samples than the new ones, or another way through them."""
        self._before = budget.held
        self._shown = np.concatenate([new.rows, new.validation.rows])
        answer: TrainingSet = self._asked["training_data"](new, budget)
        self._apart, plain = answer.separate_replay, TrainingSet(new, epoch=len(new))
        self._found.apart |= answer.separate_replay
        ways = ("epoch", "replay", "draw", "batch", "step_multiplier")
        other = any(getattr(answer, way) != getattr(plain, way) for way in ways)
        self._note("training_data", other or not answer.view.shows_what(new))
        return answer

    def listen(self, budget: Budget, rows: Rows) -> None:
        """Note if samples are read because they are held, and not because they are new."""
        comes_again = np.isin(rows, self._shown) & np.isin(rows, self._before)
        self._note(MEMORY, bool((np.isin(rows, budget.held) & ~comes_again).any()))

    def init_weights(self, model: Any, generator: torch.Generator) -> None:
        """Note other weights than the last ones, or weights that are not to move."""
        before = snapshot(model)
        self._asked["init_weights"](model, generator)
        self._note("init_weights", not _same(before, snapshot(model)))
        self._note("frozen_rows", any(self._method.frozen_rows(model).values()))

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        """Note another loss than the task loss."""
        answer: torch.Tensor = self._asked["compute_loss"](batch)
        targets = batch.targets[: batch.num_new] if self._apart else batch.targets
        plain = self._method.setting.task.loss(batch.outputs, targets)
        self._note("compute_loss", not torch.equal(answer, plain))
        self._note("lr_scale", self._method.lr_scale != 1)
        return answer

    def on_after_backward(self, batch: Batch) -> None:
        """Note a gradient that is changed."""
        before = {name: values.clone() for name, values in gradients(batch.model).items()}
        self._asked["on_after_backward"](batch)
        self._note("on_after_backward", not _same(before, gradients(batch.model)))

    def on_learn_end(self, model: Any, new: View, budget: Budget) -> None:
        """Note weights that are changed."""
        before = snapshot(model)
        self._asked["on_learn_end"](model, new, budget)
        self._note("on_learn_end", not _same(before, snapshot(model)))


def _same(some: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]) -> bool:
    return some.keys() == others.keys() and all(
        torch.equal(values, others[name]) for name, values in some.items()
    )
