"""The cells of the grid as tests see them: which there are, and the tiny stream of each."""

from collections import Counter
from functools import cache

import pytest

from onward.benchmarks import BENCHMARKS
from onward.checks.tiny_editions import tiny_like
from onward.fit import IMAGES
from onward.grid import Cell, grid
from onward.methods import METHODS
from onward.types import Benchmark

RUNNING = [cell for cell in grid() if cell.runs]
REFUSED = [cell for cell in grid() if not cell.runs]


def name(cell: Cell) -> str:
    return f"{cell.method}-{cell.benchmark}"


def tiny(method: str, benchmark: str) -> Benchmark:
    """The tiny stream of a benchmark that a method can learn from: one for all that see alike."""
    return _tiny(benchmark, IMAGES in METHODS[method].needs)


@cache
def _tiny(benchmark: str, images: bool) -> Benchmark:
    card = next(card for card in METHODS.values() if (IMAGES in card.needs) == images)
    return tiny_like(BENCHMARKS[benchmark], card)


def is_cheap(benchmark: Benchmark) -> bool:
    """Whether what is trained is small enough to make every check in a second."""
    return bool(benchmark.recipes[benchmark.recipe].model == "linear")


def covering() -> list[Cell]:
    """Every method once, and with them every benchmark; those that take longer less often."""
    used: Counter[str] = Counter()
    chosen = []
    for method in METHODS:
        there = [cell for cell in RUNNING if cell.method == method]
        best = min(there, key=lambda cell: used[cell.benchmark])
        used[best.benchmark] += 1 if is_cheap(tiny("finetune", best.benchmark)) else 5
        chosen.append(best)
    return chosen


COVERING = covering()
EVERY_RUNNING_CELL = pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, id=name(cell), marks=[] if cell in COVERING else [pytest.mark.slow])
        for cell in RUNNING
    ],
)
