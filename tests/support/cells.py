"""The cells of the grid as tests see them: which there are, and the tiny stream of each."""

import hashlib
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
    """Every method once, and every benchmark; those that take longer less often.

    Each cell is drawn by its own name, so that another method or benchmark moves hardly any other.
    """
    chosen = [_drawn([cell for cell in RUNNING if cell.method == method]) for method in METHODS]
    left = BENCHMARKS.keys() - {cell.benchmark for cell in chosen}
    return chosen + [_drawn([c for c in RUNNING if c.benchmark == each]) for each in sorted(left)]


def _drawn(there: list[Cell]) -> Cell:
    """The first in an order that hashes give, in which what is cheap has four times the chance."""

    def place(cell: Cell) -> float:
        share = int(hashlib.sha256(name(cell).encode()).hexdigest(), 16) / 16**64
        return share ** (1 / 4 if is_cheap(tiny("finetune", cell.benchmark)) else 1)

    return max(there, key=place)


COVERING = covering()
EVERY_RUNNING_CELL = pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, id=name(cell), marks=[] if cell in COVERING else [pytest.mark.slow])
        for cell in RUNNING
    ],
)
