"""A method's score after every period: on the next one, on the one just learned, or as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onward.report.summary import TEST, Summary
from onward.report.words import score_words
from onward.results.predictions import POOLED
from onward.results.record import RunRecord
from onward.tasks import shown_of

Where = Literal["next", "own", "pooled", "test"]
WORDS: dict[Where, str] = {
    "next": "the period after the last one learned",
    "own": "the last period learned",
    "pooled": "all periods so far as one test",
    "test": "the one test, which belongs to no period",
}


@dataclass(frozen=True, eq=False)
class Course:
    """A method's score after each period it has learned; NaN where nothing is tested."""

    label: str
    values: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over seeds; NaN where any seed has none."""
        return np.asarray(self.values.mean(axis=0), np.float64)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The deviation over seeds; zero for a single one, which has no band."""
        if len(self.values) < 2:
            return np.zeros(self.values.shape[1])
        return np.asarray(self.values.std(axis=0, ddof=1), np.float64)


def where_to_look(setting: Sequence[Summary]) -> Where | None:
    """Return which test says most about a setting, period by period; None if there is none.

    The future comes first, as in every table; a pooled test is what its benchmark is judged by.
    """
    first = setting[0]
    if first.spec.protocol.get("pooled"):
        return "pooled"
    matrix = first.matrix
    if np.isfinite(np.diagonal(matrix, 1)).any():
        return "next"
    if np.isfinite(np.diagonal(matrix)).any() and first.spec.protocol["tests"] != "last":
        return "own"
    if TEST in first.records[0].static_tests:
        return "test"
    return None


def counted(setting: Sequence[Summary], where: Where) -> str:
    """Say what a course counts."""
    if _score(setting[0].records[0], where) is not None:
        return "class-mean accuracy"
    return score_words(setting[0].spec.task)


def course(summary: Summary, where: Where) -> Course:
    """Return a method's score after every period."""
    return Course(
        summary.label,
        np.stack(
            [
                _of(record, matrix, where)
                for record, matrix in zip(summary.records, summary.matrices, strict=True)
            ]
        ),
    )


def _of(record: RunRecord, matrix: NDArray[np.float64], where: Where) -> NDArray[np.float64]:
    if where == "pooled":
        return record.static(POOLED)
    if where == "test":
        return record.static(TEST, _score(record, where))
    line = np.full(len(matrix), np.nan)
    offset = 1 if where == "next" else 0
    line[: len(matrix) - offset] = np.diagonal(matrix, offset)
    return line


def _score(record: RunRecord, where: Where) -> str | None:
    """Return which score is asked for; None is the headline of the task kind."""
    return shown_of(record.spec.task).class_mean if where == "test" else None
