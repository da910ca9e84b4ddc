"""Runs of a tiny benchmark that are stopped on the way, and what they leave behind."""

from pathlib import Path
from typing import Any

import numpy as np

import onward
from onward.budget import Budget
from onward.checks.tiny import tiny_benchmark
from onward.turns import Event
from onward.types import View


class Interrupt(Exception):
    """Stands for whatever ends a process."""


def stop_at(kind: str, period: int) -> Any:
    def watch(event: Event) -> None:
        if event.kind == kind and event.period == period:
            raise Interrupt

    return watch


def run_tiny(out: Path, method: Any = "er", **options: Any) -> Path:
    path = onward.run(tiny_benchmark(), method, seed=0, out=out, **options).path
    assert path is not None
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Plain:
    """A learner that cannot be saved."""

    def __init__(self) -> None:
        self.seen = 0

    def learn(self, view: View, budget: Budget) -> None:
        self.seen += len(view)

    def predict(self, view: View) -> np.ndarray:
        return np.full(len(view), self.seen % len(view.classes))
