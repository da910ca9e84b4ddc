"""Keys: what runs were tested on, as hashes that no method has a say in.

Which samples a test has, and what is right about them, depends on data, protocol and seed alone.
So their hash can be published beforehand, and a run whose targets were changed is found, though
every one of its scores follows from them.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field, ValidationError

from onward.errors import OnwardError
from onward.files import storage, write_atomic
from onward.results import predictions
from onward.results.record import RunRecord
from onward.results.schema import RunSpec, Stored
from onward.types import Array

Key = Mapping[str, str]
"""The hash of every test, by the name that `name_of_test` gives it."""
Editions = Mapping[str, frozenset[tuple[str, str]]]
_EVERY_SEED = "any"


def name_of_test(test: str, period: int | None) -> str:
    """Name a test in a key.

    Examples
    --------
    >>> name_of_test("period", 3), name_of_test("twemoji", None)
    ('period@3', 'twemoji')
    """
    return test if period is None else f"{test}@{period}"


def named_test(name: str) -> tuple[str, int | None]:
    """Return the test and its period that a name in a key stands for."""
    test, _, period = name.rpartition("@")
    return (test, int(period)) if test and period.isdigit() else (name, None)


def hash_of_test(ids: Array, targets: Array, classes: Sequence[str]) -> str:
    """Hash which samples a test has, in their order, and what the judge knows of them.

    Parameters
    ----------
    ids
        The samples' ids.
    targets
        As `onward.results.predictions.encode` takes them.
    classes
        What targets index into.

    Examples
    --------
    >>> import numpy as np
    >>> hash_of_test(np.array(["a", "b"]), np.array([0, 1]), ("cat", "dog"))
    '881384df325ecb3b'
    """
    rows = targets.reshape(len(targets), -1)
    # Whether numbers were stored in four bytes or in eight says nothing about what is right.
    kind = "<f8" if rows.dtype.kind == "f" else "<i8"
    told = [list(classes), ids.astype(str).tolist(), rows.shape[1], kind]
    digest = hashlib.sha256(json.dumps(told).encode())
    digest.update(rows.astype(kind).tobytes())
    return digest.hexdigest()[:16]


def tested_in(table: pa.Table, classes: Sequence[str]) -> Key:
    """Return the hashes of the tests in one predictions file."""
    ids = table.column("id").to_numpy(zero_copy_only=False)
    targets, _ = predictions.judged(table)
    return {
        name_of_test(test, period): hash_of_test(ids[places], targets[places], classes)
        for test, period, places in predictions.cells(table)
    }


def key_of(record: RunRecord) -> Key:
    """Return the key of what a run was tested on, by its own account.

    Raises
    ------
    OnwardError
        Where a test has other samples or targets after one period than after another.
    """
    found: dict[str, str] = {}
    for learned_upto in record.decisions:
        for name, digest in tested_in(*record.decisions[learned_upto]).items():
            if found.setdefault(name, digest) != digest:
                raise OnwardError(
                    f"expected the same samples and targets in the test {name} after every "
                    f"period, found others after period {learned_upto} in {record.path}"
                )
    return found


def edition(digest: str) -> str:
    """Return the part of a data hash that is the data's own; what was read with it may follow."""
    return digest[:64]


def run_name(stream: str, protocol: str, seed: int | str) -> str:
    """Name what is tested: the data and its cut, what is tested when, and whose split it is."""
    return f"{stream}/{protocol}/{seed}"


class Keys:
    """Keys by the name of what is tested.

    Parameters
    ----------
    by_name
        The keys.
    editions
        What data is called, as benchmark and data, by its hash.
    """

    def __init__(
        self, by_name: Mapping[str, Key] | None = None, editions: Editions | None = None
    ) -> None:
        self.by_name = dict(by_name or {})
        self.editions = dict(editions or {})

    @staticmethod
    def of_seeds(stream: str, protocol: str, by_seed: Mapping[int, Key]) -> "Keys":
        """Return the keys of several seeds; one for all where no seed makes a difference.

        Seed after seed has another split, if there are several: two neighbours that are alike say
        that there is one.
        """
        different = {tuple(sorted(key.items())) for key in by_seed.values()}
        if len(different) == 1 and any(seed + 1 in by_seed for seed in by_seed):
            return Keys({run_name(stream, protocol, _EVERY_SEED): next(iter(by_seed.values()))})
        return Keys({run_name(stream, protocol, seed): key for seed, key in by_seed.items()})

    def find(self, spec: RunSpec) -> Key | None:
        """Return the key that a run is to be held against; None where none is known."""
        seeds = (spec.seed, _EVERY_SEED)
        names = (run_name(spec.stream_name, spec.protocol["name"], seed) for seed in seeds)
        return next((self.by_name[name] for name in names if name in self.by_name), None)

    def vouches(self, spec: RunSpec, found: Key) -> bool:
        """Say whether tests are those of a known key of the same data, asked for in another way.

        Which inputs are read, or which weights a model starts from, are options of a benchmark too,
        and do not change what is tested. Where labels come late and only the future is tested, the
        first periods have passed before there is anybody to test.
        """
        first = spec.label_delay + 1 if spec.protocol["tests"] == "future" else 0
        known = self._of(spec, [spec.data_digest])
        return any(found == {n: key[n] for n in key if _is_from(n, first)} for key in known)

    def expects(self, spec: RunSpec) -> bool:
        """Say whether there are keys of such data, by hash or by name, protocol and seed."""
        name = (spec.benchmark, spec.data)
        called = [digest for digest, names in self.editions.items() if name in names]
        return any(True for _ in self._of(spec, [spec.data_digest, *called]))

    def misnamed(self, spec: RunSpec) -> Iterator[str]:
        """Yield where known data goes by the name of other data."""
        for digest, names in self.editions.items():
            if digest[:16] != spec.data_digest[:16]:
                continue
            if digest != edition(spec.data_digest):
                yield f"expected the data hash {digest}, found {spec.data_digest}"
            # What follows a colon is a folder's name, and everybody has their own.
            kinds = {(benchmark, data.partition(":")[0]) for benchmark, data in names}
            if (spec.benchmark, spec.data.partition(":")[0]) not in kinds:
                known = " or ".join(f"{benchmark} on {data}" for benchmark, data in sorted(names))
                yield f"its data is, by its hash, {known}; it says {spec.benchmark} on {spec.data}"

    def _of(self, spec: RunSpec, digests: Iterable[str]) -> Iterator[Key]:
        starts = tuple(f"{digest[:16]}-" for digest in digests)
        ends = tuple(f"/{spec.protocol['name']}/{seed}" for seed in (spec.seed, _EVERY_SEED))
        for name, key in self.by_name.items():
            if name.startswith(starts) and name.endswith(ends):
                yield key

    def __len__(self) -> int:
        return len(self.by_name)

    def __or__(self, others: "Keys") -> "Keys":
        """Return both; raise if they contradict each other."""
        for name, key in others.by_name.items():
            if dict(self.by_name.get(name, key)) != dict(key):
                raise OnwardError(
                    f"expected one key for {name}, found two that differ. Use the one of whoever "
                    "published the data, or make it again: onward data key"
                )
        editions = dict(self.editions)
        for digest, names in others.editions.items():
            editions[digest] = editions.get(digest, frozenset()) | names
        return Keys({**self.by_name, **others.by_name}, editions)


def _is_from(test: str, first: int) -> bool:
    period = named_test(test)[1]
    return period is None or period >= first


class _Entry(Stored):
    runs: list[str]
    tests: dict[str, str]


class _File(Stored):
    """A file of keys: each with the names of all that is tested on it; and what data is called."""

    schema_version: Literal[1] = 1
    editions: dict[str, list[tuple[str, str]]] = Field(default_factory=dict)
    keys: list[_Entry]


def write_keys(path: Path, keys: Keys) -> None:
    """Write a file that ``onward check results --key`` takes."""
    with storage(path):
        write_atomic(path, encoded(keys))


def encoded(keys: Keys) -> bytes:
    """Return the content of a file of keys; what is alike is written once."""
    shared: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, key in keys.by_name.items():
        shared.setdefault(tuple(sorted(key.items())), []).append(name)
    entries = [_Entry(runs=sorted(names), tests=dict(key)) for key, names in shared.items()]
    entries.sort(key=lambda entry: entry.runs)
    lines = ",\n".join(entry.model_dump_json() for entry in entries)
    called = {digest: sorted(names) for digest, names in sorted(keys.editions.items())}
    editions = json.dumps(called, separators=(",", ":"))
    head = f'{{"schema_version":1,"editions":{editions},"keys":['
    return f"{head}\n{lines}\n]}}\n".encode()


def read_keys(path: Path) -> Keys:
    """Read a file of keys."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OnwardError(
            f"expected a file of keys at {path}, found none that can be read ({error.strerror}). "
            "Make one with: onward data key BENCHMARK --out key.json"
        ) from error
    return _decoded(content, str(path))


@cache
def known_keys() -> Keys:
    """Return the keys of the data that needs no download, which the package brings."""
    return _decoded(files("onward.results").joinpath("keys.json").read_bytes(), "the package")


def _decoded(content: bytes, where: str) -> Keys:
    try:
        file = _File.model_validate_json(content)
    except ValidationError as error:
        raise OnwardError(
            f"expected a file of keys, as onward data key writes it, found another one in {where}"
        ) from error
    return Keys(
        {name: entry.tests for entry in file.keys for name in entry.runs},
        {digest: frozenset(names) for digest, names in file.editions.items()},
    )
