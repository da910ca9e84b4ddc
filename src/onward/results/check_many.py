"""Many run folders at once: what each of them says, and what they say about each other."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from onward.errors import first_few
from onward.results.check import CheckedRun, Finding, check_run
from onward.results.check_rules import Rules
from onward.results.keys import Key, Keys, known_keys, named_test
from onward.results.schema import RunSpec

K = TypeVar("K", bound=Hashable)
# Two seeds that differ in a smaller share of their decisions are one, retouched.
_COPIED = 0.001


@dataclass(frozen=True)
class Checked:
    """What a look at many run folders found: what is wrong, and what nobody could tell.

    No key vouches for what was tested in the ``unverified`` folders.
    """

    runs: int
    problems: tuple[Finding, ...]
    notes: tuple[str, ...]
    unverified: frozenset[Path] = frozenset()

    @property
    def wrong(self) -> dict[Path, list[str]]:
        """The problems of each folder that has some."""
        found: dict[Path, list[str]] = {}
        for finding in self.problems:
            found.setdefault(finding.folder, []).append(finding.problem)
        return found


def check_results(
    folders: Iterable[Path],
    keys: Keys | None = None,
    rules: Rules | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Checked:
    """Check run folders, each by itself and beside the others.

    Parameters
    ----------
    folders
        The run folders, as `onward.results.read.find_folders` yields them.
    keys
        By default those that the package brings.
    rules
        What protocols say, see `onward.benchmarks.rules`.
    progress
        Called with 1 after each folder.
    """
    keys = known_keys() if keys is None else keys
    runs = []
    for folder in folders:
        runs.append(check_run(folder, keys, rules))
        progress(1)
    problems = [Finding(run.folder, problem) for run in runs for problem in run.problems]
    problems += [*_two_results(runs), *_copied_seeds(runs), *_tested_on_others(runs)]
    notes = (*_there_twice(runs), *_resumed(runs), *_without_key(runs, keys))
    unverified = frozenset(run.folder for run in runs if not run.vouched)
    return Checked(len(runs), tuple(problems), notes, unverified)


def _two_results(runs: Sequence[CheckedRun]) -> Iterator[Finding]:
    """Yield runs of one spec whose answers differ."""
    for same in _together(runs, lambda spec, run: spec.hash):
        for run in same:
            others = [other for other in same if other.answers != run.answers]
            if others:
                yield Finding(
                    run.folder,
                    f"another result of the very same spec is in {others[0].folder}, and differs",
                )


def _there_twice(runs: Sequence[CheckedRun]) -> Iterator[str]:
    for same in _together(runs, lambda spec, run: (spec.hash, run.answers)):
        yield f"one run is there {len(same)} times: {first_few([run.folder for run in same])}"


def _resumed(runs: Sequence[CheckedRun]) -> Iterator[str]:
    """Yield the runs that were resumed on another device, or with other versions."""
    for run in runs:
        if run.resumed:
            yield (
                f"{run.folder} was resumed with another {' and another '.join(run.resumed)}: "
                "repeats are not bit-identical"
            )


def _copied_seeds(runs: Sequence[CheckedRun]) -> Iterator[Finding]:
    """Yield runs that answer as under another seed, sample by sample.

    Where the key of one seed vouches for its run and no other key does, that run is not the copy.
    """
    answered = [run for run in runs if run.answers is not None]
    for same in _together(answered, lambda spec, run: (spec.without_seed(), _many(run.tests))):
        for run in same:
            others = [one for one in same if _seed(one) != _seed(run) and _alike(one, run)]
            if not others or (_sound(run) and not any(map(_sound, others))):
                continue
            every = "every decision" if others[0].answers == run.answers else "nearly every one"
            yield Finding(
                run.folder,
                f"{every} of seed {_seed(run)} is that of seed {_seed(others[0])} in "
                f"{others[0].folder}: a copy under another name, or a learner that no seed "
                "changes. Submit one of them",
            )


def _many(tests: Key) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(tests.items()))


def _alike(one: CheckedRun, other: CheckedRun) -> bool:
    """Say whether two runs on the same tests differ in next to none of their decisions."""
    if one.answers == other.answers:
        return True
    if len(one.marks) != len(other.marks):
        return False
    mine, theirs = (np.frombuffer(run.marks, np.uint8) for run in (one, other))
    return bool(np.count_nonzero(mine != theirs) < _COPIED * len(mine))


def _sound(run: CheckedRun) -> bool:
    return run.vouched and not run.problems


def _tested_on_others(runs: Sequence[CheckedRun]) -> Iterator[Finding]:
    """Yield runs that no key speaks for, and that were tested on other samples than their like."""
    unknown = [run for run in runs if run.tests and not run.vouched]
    for same in _together(unknown, lambda spec, run: (*_tested(spec), spec.seed)):
        for run in same:
            for other in same:
                both = run.tests.keys() & other.tests.keys()
                name = next((n for n in sorted(both) if run.tests[n] != other.tests[n]), None)
                if name is not None:
                    test, period = named_test(name)
                    where = test if period is None else f"{test} of period {period}"
                    yield Finding(
                        run.folder,
                        f"the test {where} has other samples or targets than in {other.folder}, "
                        "which has the same data, protocol and seed; no key tells which is right",
                    )
                    break


def _without_key(runs: Sequence[CheckedRun], keys: Keys) -> Iterator[str]:
    """Yield what no key is known of."""
    seeds: dict[tuple[str, ...], set[int]] = {}
    for run in runs:
        if run.spec is not None and not run.vouched and not keys.expects(run.spec):
            seeds.setdefault(_tested(run.spec), set()).add(run.spec.seed)
    for (benchmark, data, stream, protocol), found in seeds.items():
        yield (
            f"no key is known for {benchmark} on {data} ({stream}), protocol {protocol}, seeds "
            f"{first_few(sorted(found), most=10)}: their samples and targets were compared among "
            "these folders only. Whoever has the data can make one, with onward data key, and "
            "you can check against it: --key key.json"
        )


def _tested(spec: RunSpec) -> tuple[str, str, str, str]:
    return spec.benchmark, spec.data, spec.stream_name, str(spec.protocol["name"])


def _seed(run: CheckedRun) -> int | None:
    return None if run.spec is None else run.spec.seed


def _together(
    runs: Sequence[CheckedRun], alike: Callable[[RunSpec, CheckedRun], K]
) -> list[list[CheckedRun]]:
    """Return the runs of which several are alike."""
    groups: dict[K, list[CheckedRun]] = {}
    for run in runs:
        if run.spec is not None:
            groups.setdefault(alike(run.spec, run), []).append(run)
    return [group for group in groups.values() if len(group) > 1]
