"""What the stored decisions of a run give, in one look at each of them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from onward.errors import DamagedFolderError
from onward.results import predictions
from onward.results.keys import Key, tested_in
from onward.results.record import RunRecord
from onward.tasks import TASKS
from onward.types import Array, Rows, Task

Cell = tuple[int, str, int | None]
"""The period that was learned last, the test, and its period, None for a static one."""


@dataclass(frozen=True)
class Recomputed:
    """What follows from decisions.

    Parameters
    ----------
    scores
        The scores of every cell, None where one is not a number, and how many samples it has.
    tests
        The hashes of the tests after each period.
    answers
        A hash of every single decision on every sample.
    marks
        A byte of each decision, so that two runs can be asked how many of theirs are alike.
    """

    scores: Mapping[Cell, tuple[dict[str, float | None], int]]
    tests: Mapping[int, Key]
    answers: str
    marks: bytes

    @cached_property
    def key(self) -> Key:
        """The hash of each test, as it is after the first period that has it."""
        found: dict[str, str] = {}
        for tests in self.tests.values():
            found = {**tests, **found}
        return found


def recomputed(record: RunRecord) -> Recomputed:
    """Score the stored decisions of a run again.

    Raises
    ------
    DamagedFolderError
        Where they are nothing that its task kind could score.
    """
    task, pooled = TASKS.find(record.spec.task), bool(record.spec.protocol.get("pooled"))
    scores: dict[Cell, tuple[dict[str, float | None], int]] = {}
    tests: dict[int, Key] = {}
    answers = hashlib.sha256()
    marks = []
    for learned_upto in record.decisions:
        table, classes = record.decisions[learned_upto]
        try:
            targets, decisions = predictions.judged(table)
            for test, period, places in predictions.cells(table):
                found = _scored(task, decisions, targets, places)
                scores[learned_upto, test, period] = found
            if pooled:
                places = predictions.pooled(table)
                scores[learned_upto, predictions.POOLED, None] = _scored(
                    task, decisions, targets, places
                )
            tests[learned_upto] = tested_in(table, classes)
            ids = table.column("id").to_pylist()
            said = decisions.astype("<f8")
        except (ArithmeticError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
            raise DamagedFolderError(
                f"expected decisions of the task kind {task.name} after period {learned_upto}, "
                f"found what cannot be scored ({error})"
            ) from error
        answers.update(json.dumps([learned_upto, ids, decisions.shape]).encode())
        answers.update(said.tobytes())
        marks.append(_marks(said))
    return Recomputed(scores, tests, answers.hexdigest(), b"".join(marks))


def _marks(decisions: Array) -> bytes:
    rows = np.ascontiguousarray(decisions.reshape(len(decisions), -1)).view("<u8")
    # Odd weights that fill all bits: what differs has another byte, but for one case in 256.
    weights = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) | 1
    mixed = (rows ^ (rows >> np.uint64(29))) * weights
    return bytes((mixed.sum(axis=1, dtype=np.uint64) >> np.uint64(56)).astype(np.uint8))


def _scored(
    task: Task, decisions: Array, targets: Array, places: Rows
) -> tuple[dict[str, float | None], int]:
    again = task.score(decisions[places], targets[places])
    plain = {name: None if np.isnan(value) else value for name, value in again.items()}
    return plain, len(places)
