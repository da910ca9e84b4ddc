"""The grid: every method on every benchmark."""

from dataclasses import dataclass
from typing import Any

from onward.benchmarks import BENCHMARKS
from onward.fit import Misfit
from onward.methods import METHODS


@dataclass(frozen=True)
class Cell:
    """A method on a benchmark, in its usual protocol: it runs, or there is a misfit."""

    method: str
    benchmark: str
    misfit: Misfit | None

    @property
    def runs(self) -> bool:
        """Whether it runs."""
        return self.misfit is None

    @property
    def reason(self) -> str | None:
        """Why it cannot, in one sentence; None if it runs."""
        return None if self.misfit is None else str(self.misfit)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: getattr(self, name) for name in ("method", "benchmark", "runs", "reason")}


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
    return [
        Cell(name, benchmark, card.misfit(*listed.lacking))
        for name, card in METHODS.items()
        for benchmark, listed in BENCHMARKS.items()
    ]
