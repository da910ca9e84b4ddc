"""Continual learning on data that moves in time: train today, be right tomorrow."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onward import checks, learners, memory, metrics, report
    from onward.benchmarks import Source, load
    from onward.loop import run
    from onward.train.method import Method
    from onward.tuning import tune

__version__ = "0.1.0"

# Imported at first use, so that `import onward` costs milliseconds and loads no framework.
_MODULES = ("checks", "learners", "memory", "metrics", "report")
_NAMES = {
    "Method": "onward.train.method",
    "Source": "onward.benchmarks",
    "load": "onward.benchmarks",
    "run": "onward.loop",
    "tune": "onward.tuning",
}

__all__ = [
    "Method",
    "Source",
    "checks",
    "learners",
    "load",
    "memory",
    "metrics",
    "report",
    "run",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"onward.{name}")
    raise AttributeError(f"module 'onward' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
