"""What is missing or broken in files of pairs: it stops reading, or is left out and told."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from onward.catalogue import plural
from onward.data.read_files import read_text
from onward.errors import OnwardError, first_few, unknown
from onward.files import storage, write_atomic
from onward.types import Rows

_WRITE_LIST = "Write the list with: onward check data tic --root DIR --list FILE"
_RECORDED = "with missing=skip, which is recorded"


class Flaw(NamedTuple):
    """What is wrong with a sample or a shard: its name, where it lies, for people, and what."""

    name: str
    where: str
    problem: str


class Gaps:
    """Gathers what is missing or broken while files are looked through.

    It may ``stop`` at what is missing, or ``skip`` it and tell. The samples and shards of the list
    `leave_out`, see `write_names`, are left out in any case.
    """

    def __init__(self, missing: str = "stop", leave_out: Path | None = None) -> None:
        require_choice(missing, "docs/benchmarks/tic_data.md")
        self._stops, self._list = missing == "stop", leave_out
        self._names = frozenset() if leave_out is None else _read_names(leave_out)
        self._met: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._told: list[str] = []
        self.flaws: list[Flaw] = []

    def listed(self, names: Iterable[str]) -> Rows:
        """Return the places of those that the list names."""
        if not self._names:
            return np.empty(0, np.int64)
        met = [(place, name) for place, name in enumerate(names) if name in self._names]
        self._met.update(name for _, name in met)
        return np.array([place for place, _ in met], np.int64)

    def leave_out(self, flaws: Sequence[Flaw], kind: str, expected: str, most: int = 5) -> None:
        """Leave what is broken out, or raise.

        `kind` is what each of them is: a sample, a row, a shard. Of each problem, `most` are named.
        """
        if flaws and self._stops:
            found = [f"{flaw.where}: {flaw.problem}" for flaw in flaws]
            raise OnwardError(
                f"expected {expected}, found {first_few(found, '; ', most)}. Fetch such "
                f"{plural(kind)} again, or leave them out {_RECORDED}"
            )
        self.flaws += flaws
        self._counts[kind] += len(flaws)
        for problem in dict.fromkeys(flaw.problem for flaw in flaws):
            where = [flaw.where for flaw in flaws if flaw.problem == problem]
            named = first_few(where, "; ", most)
            self._told.append(f"{_counted(len(where), kind)} left out, {problem}: {named}")

    def go_on(self, told: Sequence[str], expected: str) -> None:
        """Go on with what is there, or raise: what is not as expected is no sample or shard."""
        if told and self._stops:
            raise OnwardError(
                f"expected {expected}: {first_few(told, '; ')}. Fetch these shards again, or go on "
                f"with what is there {_RECORDED}"
            )
        self._told += told

    @property
    def told(self) -> tuple[str, ...]:
        """What is missing or broken, in sentences."""
        return tuple(self._told)

    def of_list(self) -> tuple[str, ...]:
        """Say how much was left out because the list names it; raise if that is nothing."""
        if not self._names:
            return ()
        rest = sorted(self._names - self._met)
        if not self._met:
            raise OnwardError(
                f"expected names of samples of this data in {self._list}, found {first_few(rest)}. "
                f"{_WRITE_LIST}"
            )
        strange = f"; of no sample here: {first_few(rest)}" if rest else ""
        return (f"{len(self._met):,} left out, named in {self._list}{strange}",)

    @property
    def without(self) -> str:
        """How much was left out, where two people who compare their numbers look."""
        parts = [_counted(count, kind) for kind, count in self._counts.items() if count]
        if self._list is not None and self._met:
            parts.append(f"{len(self._met):,} named in {self._list.name}")
        return f" without {' and '.join(parts)}" if parts else ""


def require_choice(missing: str, page: str) -> None:
    """Raise unless what is missing is to ``stop`` reading or to be left out; a page says more."""
    choices = ("stop", "skip")
    if missing not in choices:
        raise unknown("choice for missing", missing, choices, page)


def write_names(path: Path, flaws: Iterable[Flaw]) -> int:
    """Write a list of what is broken, each once, a name and its problem a line; return how many."""
    problems = {flaw.name: " ".join(flaw.problem.split()) for flaw in flaws}
    lines = [f"{name}\t{problem}\n" for name, problem in problems.items()]
    with storage(path):
        write_atomic(path, "".join(lines).encode())
    return len(problems)


def _read_names(path: Path) -> frozenset[str]:
    text = read_text(path, "a list of samples to leave out in", _WRITE_LIST)
    names = (line.partition("\t")[0].strip() for line in text.split("\n"))
    return frozenset(name for name in names if name)


def _counted(count: int, kind: str) -> str:
    return f"{count:,} {kind if count == 1 else plural(kind)}"
