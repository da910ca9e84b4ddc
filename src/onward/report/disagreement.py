"""Where two runs answered differently, sample by sample."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from onward.results.predictions import STATIC, judged
from onward.results.record import RunRecord
from onward.tasks import shown_of
from onward.types import Array

_FIRST = 5


@dataclass(frozen=True)
class Sample:
    """A sample that was answered differently, and when: learned up to which period."""

    seed: int
    learned_upto: str
    tested_on: str | None
    id: str


@dataclass
class Disagreement:
    """What two runs answered in one test, over all models that took it.

    ``only_a`` and ``only_b`` count the answers that one has right and the other wrong; None where
    an answer is not simply right or wrong. ``first`` are the first that differ.
    """

    test: str
    answers: int = 0
    different: int = 0
    only_a: int | None = None
    only_b: int | None = None
    first: list[Sample] = field(default_factory=list)


def disagreements(pairs: Sequence[tuple[RunRecord, RunRecord]]) -> list[Disagreement]:
    """Hold the answers of two runs side by side, test by test.

    Parameters
    ----------
    pairs
        Runs of one task kind, each with that of the other side.
    """
    found: dict[str, Disagreement] = {}
    for a, b in pairs:
        for period in sorted(a.decisions.keys() & b.decisions.keys()):
            (of_a, names_a), (of_b, names_b) = a.decisions[period], b.decisions[period]
            if names_a[: len(names_b)] != names_b[: len(names_a)]:
                continue  # numbers of classes mean other classes there
            for part in _common(of_a, of_b):
                _count(found, part, a, period)
    return list(found.values())


@dataclass(frozen=True, eq=False)
class _Part:
    """The samples that two files share, in one order."""

    tests: Array
    tested_on: Array
    ids: Array
    targets: Array
    a: Array
    b: Array


def _common(of_a: pa.Table, of_b: pa.Table) -> Iterator[_Part]:
    keys_a, keys_b = _keys(of_a), _keys(of_b)
    if np.array_equal(keys_a, keys_b):
        at_a = at_b = np.arange(len(keys_a))
    else:
        _, at_a, at_b = np.intersect1d(keys_a, keys_b, return_indices=True)
        order = np.argsort(at_a, kind="stable")
        at_a, at_b = at_a[order], at_b[order]
    if not len(at_a):
        return
    (targets, said_a), (_, said_b) = judged(of_a), judged(of_b)
    tests, tested_on, ids = (column[at_a] for column in _told(of_a))
    said_a, said_b = _as_wide(said_a[at_a], said_b[at_b])
    yield _Part(tests, tested_on, ids, targets[at_a], said_a, said_b)


def _keys(table: pa.Table) -> Array:
    keys, *columns = (column.astype(str) for column in _told(table))
    for column in columns:
        keys = np.char.add(np.char.add(keys, "\x1f"), column)
    return keys


def _told(table: pa.Table) -> list[Array]:
    """Return which test of which period each sample is in, and its id."""
    names = ("test", "tested_on", "id")
    return [table.column(name).to_numpy(zero_copy_only=False) for name in names]


def _as_wide(a: Array, b: Array) -> tuple[Array, Array]:
    """Pad lists of answers to one length; boxes that are not there are alike."""
    if a.ndim == 1:
        return a, b
    width = max(a.shape[1], b.shape[1])
    padded = []
    for said in (a, b):
        missing = [(0, 0), (0, width - said.shape[1]), *[(0, 0)] * (said.ndim - 2)]
        empty = False if said.dtype == np.bool_ else -1
        wide = np.pad(said, missing, constant_values=empty)
        if wide.ndim == 3:
            wide = np.where(wide[..., :1] < 0, -1, wide)
        padded.append(wide)
    return padded[0], padded[1]


def _count(found: dict[str, Disagreement], part: _Part, run: RunRecord, period: int) -> None:
    judge = shown_of(run.spec.task)
    asks, right = judge.asks(part.targets), judge.right
    differ = (part.a != part.b).reshape(len(part.a), -1).any(1) & asks
    for test in dict.fromkeys(part.tests.tolist()):
        mine = (part.tests == test) & asks
        one = found.setdefault(test, Disagreement(test))
        one.answers += int(mine.sum())
        one.different += int((differ & mine).sum())
        if right is not None:
            a, b = right(part.a, part.targets), right(part.b, part.targets)
            one.only_a = (one.only_a or 0) + int((mine & a & ~b).sum())
            one.only_b = (one.only_b or 0) + int((mine & b & ~a).sum())
        names = run.spec.periods
        for at in np.flatnonzero(differ & mine)[: _FIRST - len(one.first)]:
            on = int(part.tested_on[at])
            tested = None if on == STATIC else names[on]
            one.first.append(Sample(run.spec.seed, names[period], tested, str(part.ids[at])))
