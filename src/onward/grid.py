"""The grid: every method on every benchmark."""

from dataclasses import dataclass

from onward.benchmarks import BENCHMARKS
from onward.methods import METHODS


@dataclass(frozen=True)
class Cell:
    """A method on a benchmark, in its usual protocol: whether it runs, or why it cannot."""

    method: str
    benchmark: str
    runs: bool
    reason: str | None


def grid() -> list[Cell]:
    """Return every method of the catalogue on every benchmark, method by method.

    Examples
    --------
    >>> cells = {(cell.method, cell.benchmark): cell for cell in grid()}
    >>> cells["er", "tic"].runs
    True
    >>> print(cells["gdumb", "tic"].reason)
    gdumb needs samples that belong to classes, to balance its memory; a pair of image and text \
belongs to no class.
    """
    cells = []
    for name, card in METHODS.items():
        for benchmark, listed in BENCHMARKS.items():
            reason = card.misfit(*listed.lacking)
            cells.append(Cell(name, benchmark, reason is None, reason))
    return cells
