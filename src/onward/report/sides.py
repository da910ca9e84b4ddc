"""What somebody wants compared: a run, a folder of runs, a spec in a file, or a run's hash."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pydantic

from onward.errors import OnwardError, first_few
from onward.report.fields import printable
from onward.report.summary import method_labels
from onward.results.collect import LeftOut, collect
from onward.results.read import find_folders
from onward.results.record import RunRecord
from onward.results.schema import RunSpec
from onward.results.translations import translated

_HASH = re.compile(r"[0-9a-f]{4,16}")


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that differ in nothing but their seed, in its order; none for a spec alone."""

    label: str
    spec: RunSpec
    records: tuple[RunRecord, ...] = ()

    @property
    def seeds(self) -> list[int]:
        """The seeds, ascending."""
        return [record.spec.seed for record in self.records] or [self.spec.seed]

    @property
    def name(self) -> str:
        """What was run, in a few words."""
        spec = self.spec
        where = f"{spec.benchmark}/{spec.data}, {spec.protocol.get('name')}"
        return f"{self.label} on {printable(where)}"


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison: what was given, its runs, and folders that could not be read."""

    given: str
    groups: tuple[Group, ...]
    left_out: tuple[LeftOut, ...] = ()


def read_side(given: str, results: Path = Path("results")) -> Side:
    """Read what was given.

    Parameters
    ----------
    given
        A run folder, a results folder, a file with a spec as JSON, or the first letters of a run's
        hash.
    results
        Where runs are looked for by their hash.
    """
    path = Path(given).expanduser()
    if path.is_file():
        spec = _read_spec(path)
        return Side(given, (Group(_label(spec), spec),))
    if not path.is_dir():
        path = _by_hash(given, results)
    found = collect([path])
    if not found.records:
        reasons = first_few([one.reason for one in found.left_out], "\n  ")
        raise OnwardError(f"expected a run that can be read in {given}, found none:{reasons}")
    return Side(given, tuple(_groups(found.records)), found.left_out)


def paired(a: Side, b: Side) -> tuple[list[tuple[Group, Group]], list[Group], list[Group]]:
    """Return which runs of one side stand against which of the other, and who has no partner.

    Two single methods are compared whatever they are. Of folders with several, those with the same
    spec belong together, then those of the same method, if there is no doubt which; one method's
    runs and another's belong together stream by stream.
    """
    if len(a.groups) == len(b.groups) == 1:
        return [(a.groups[0], b.groups[0])], [], []
    left, right, pairs = list(a.groups), list(b.groups), []
    ways: list[Callable[[Group], object]] = [_same_spec, _same_setting, _same_method]
    if all(len({group.spec.method for group in side.groups}) == 1 for side in (a, b)):
        ways.append(_same_stream)
    for alike in ways:
        for one in list(left):
            mine = [group for group in left if alike(group) == alike(one)]
            others = [group for group in right if alike(group) == alike(one)]
            if len(mine) == len(others) == 1:
                pairs.append((one, others[0]))
                left.remove(one)
                right.remove(others[0])
    return pairs, left, right


def _same_spec(group: Group) -> object:
    return group.spec.without_seed()


def _same_setting(group: Group) -> object:
    spec = group.spec
    return spec.benchmark, spec.data, spec.protocol, spec.recipe_name, group.label


def _same_method(group: Group) -> object:
    return group.spec.benchmark, group.spec.protocol.get("name"), group.spec.method


def _same_stream(group: Group) -> object:
    spec = group.spec
    return spec.benchmark, spec.data, spec.protocol.get("name"), spec.recipe_name


def _groups(records: Sequence[RunRecord]) -> list[Group]:
    members: dict[str, dict[int, RunRecord]] = {}
    for record in records:
        members.setdefault(record.spec.without_seed(), {}).setdefault(record.spec.seed, record)
    labels = method_labels([next(iter(runs.values())).spec for runs in members.values()])
    return [
        Group(labels[key], runs[min(runs)].spec, tuple(runs[seed] for seed in sorted(runs)))
        for key, runs in members.items()
    ]


def _label(spec: RunSpec) -> str:
    return method_labels([spec])[spec.without_seed()]


def _read_spec(path: Path) -> RunSpec:
    try:
        return translated(RunSpec.model_validate_json(path.read_bytes()))
    except (OSError, pydantic.ValidationError) as error:
        raise OnwardError(
            f"expected the spec of a run as JSON in {path}, as spec.json of a run folder has it; "
            "found something else"
        ) from error


def _by_hash(given: str, results: Path) -> Path:
    expected = "expected a run folder, a results folder, a file with a spec or the hash of a run"
    if not _HASH.fullmatch(given) or not results.is_dir():
        below = "" if results.is_dir() else f", and there is no folder {results} to look into"
        raise OnwardError(
            f"{expected}, found nothing at {given}{below}. Runs are looked for by their hash below "
            "--results DIR"
        )
    found = [folder for folder in find_folders(results) if folder.name.startswith(given)]
    if len(found) != 1:
        names = f"{len(found)}: {first_few([folder.name for folder in found])}" if found else "none"
        raise OnwardError(f"expected one run whose hash begins with {given}, found {names}")
    return found[0]
