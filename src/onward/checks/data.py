"""Read all data in full before a run does, and list what is broken."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onward.data.yours_features import NUMBERS
from onward.errors import OnwardError
from onward.types import Benchmark, Column

_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class BrokenSample:
    """A sample that cannot be used: its row and id, the column, and what is wrong."""

    row: int
    id: str
    column: str
    problem: str

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(vars(self))


def check_data(
    benchmark: Benchmark, progress: Callable[[int], None] = lambda done: None
) -> list[BrokenSample]:
    """Read every image and every row of features, and return what is broken.

    Parameters
    ----------
    benchmark
        What `onward.load` returned.
    progress
        Called with how many more rows of a wide column have been read.
    """
    ids = benchmark.raw.columns.column("id")
    found = []
    for name, column in benchmark.raw.wide.items():
        # Rows as they were read, where some of them were left out.
        numbers = getattr(column, "rows", None)
        for row, problem in _broken(column, progress, gaps=name == NUMBERS):
            number = row if numbers is None else int(numbers[row])
            found.append(BrokenSample(number, str(ids[row].as_py()), name, problem))
    return found


def rows_to_read(benchmark: Benchmark) -> int:
    """Return how many rows of wide columns `check_data` reads."""
    return sum(column.shape[0] for column in benchmark.raw.wide.values())


def _broken(
    column: Column, progress: Callable[[int], None], *, gaps: bool
) -> Iterator[tuple[int, str]]:
    """Yield broken rows. Where gaps are allowed, NaN is a missing number, which a rule fills."""
    rows = np.arange(column.shape[0])
    if not isinstance(column, np.ndarray):
        for row in rows.tolist():
            try:
                column[rows[row : row + 1]]
            except OnwardError as error:
                yield row, str(error)
            progress(1)
        return
    for start in range(0, len(rows), _AT_ONCE):
        values = column[start : start + _AT_ONCE]
        if values.dtype.kind == "f":
            right = np.isfinite(values) | (np.isnan(values) & gaps)
            for place in np.flatnonzero(~right.reshape(len(values), -1).all(1)).tolist():
                yield start + place, "expected finite numbers, found NaN or infinity"
        progress(len(values))
