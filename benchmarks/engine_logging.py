"""Cases of benchmarks/engine.py: what recording training metrics costs."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from engine_probes import HEADS, Period
from linear_probe import RECIPE
from measured import Measured, Target, cpu_milliseconds, measure, table_of, view_of
from onward.benchmarks.recipes import RESNET_PAPER
from onward.budget import Budget
from onward.methods.finetune import Finetune
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner
from onward.train.training_log import TrainingLog
from onward.types import Setting

SIDE, BATCH, CLASSES = 32, 64, 10
# Recording takes 2 % at most; the ratio of two CPU times varies by as much on a shared machine.
TARGET = Target(1.02, at_least=False, tolerance=0.01)


def _recording() -> TrainingLog:
    """Return a log whose records are made into the lines of a file, as a run does."""
    lines: list[str] = []
    return TrainingLog(lambda records: lines.extend(r.model_dump_json() for r in records))


def logging(rounds: int, *, quick: bool) -> list[Measured]:
    """Compare steps of a ResNet-18 at 32 pixels, and epochs of probes, with and without records."""
    steps = 4 if quick else 16
    return [
        measure(
            "logging: share of a step (peer: nothing recorded)",
            _resnet(steps, _recording),
            _resnet(steps, TrainingLog),
            rounds,
            "ms of CPU time a step of ResNet-18",
            TARGET,
        ),
        *(_probes(heads, rounds) for heads in (1, HEADS)),
    ]


def _resnet(steps: int, log: Callable[[], TrainingLog]) -> Callable[[], float]:
    """Return a way to take steps of ResNet-18, a record for each; it returns the time of one."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (steps * BATCH, SIDE, SIDE, 3), np.uint8)
    labels = rng.integers(0, CLASSES, len(images))
    table, rows = table_of(images), np.arange(len(images))
    recipe = replace(RESNET_PAPER, batch_size=BATCH, epochs=1, augment="none", image_size=None)
    learner = GradientLearner(Finetune(), Setting(OneLabel(), recipe, 0))
    budget = Budget()

    def learn() -> None:
        budget.training_log = recorded = log()
        learner.learn(view_of(table, rows, labels, CLASSES, budget), budget)
        recorded.end_call()
        recorded.flush()

    learn()  # makes the model
    return lambda: cpu_milliseconds(learn) / steps


def _probes(heads: int, rounds: int) -> Measured:
    rates = np.geomspace(0.01, 1, heads).tolist() if heads > 1 else [RECIPE.lr]
    period = Period([Finetune() for _ in rates], rates)

    def epoch(log: Callable[[], TrainingLog]) -> float:
        logs = [log() for _ in rates]
        taken = period.epoch(logs)
        return taken + cpu_milliseconds(lambda: [each.flush() for each in logs]) / RECIPE.epochs

    return measure(
        f"logging: share of an epoch of {heads} probe{'s' if heads > 1 else ''}",
        lambda: epoch(_recording),
        lambda: epoch(TrainingLog),
        rounds,
        "ms of CPU time a period-epoch",
        TARGET,
    )
