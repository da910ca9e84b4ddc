"""Folders of an evaluation in webdataset's layout: what lies where, read when it is asked for.

``<task>/test/0.tar, 1.tar, …`` or ``<task>/0.tar, 1.tar, …``, with ``nshards.txt`` beside them.
What stands before the first dot of a member's name is the sample's; the rest says what it is.
"""

import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from onward.data.read_files import read_text
from onward.data.tar_index import tar_members
from onward.errors import OnwardError

SHARDS = "nshards.txt"


@dataclass(frozen=True)
class Member:
    """Where some bytes lie in a shard."""

    shard: Path
    offset: int
    size: int

    def read(self) -> bytes:
        """Return the bytes."""
        with self.shard.open("rb") as file:
            found = os.pread(file.fileno(), self.size, self.offset)
        if len(found) != self.size:
            raise _cut(self.shard)
        return found


@dataclass(frozen=True)
class Sample:
    """A sample of a shard: its name, and its members by what they are, such as ``jpg``."""

    shard: Path
    key: str
    members: Mapping[str, Member]

    def __str__(self) -> str:
        return f"the sample {self.key} in {self.shard}"

    def one(self, *kinds: str) -> Member:
        """Return the one member of these kinds."""
        found = [member for kind, member in self.members.items() if kind in kinds]
        if len(found) != 1:
            raise OnwardError(
                f"expected one member {' or '.join(kinds)} for {self}, found {len(found)} among "
                f"{', '.join(sorted(self.members))}"
            )
        return found[0]

    def text(self, kind: str) -> str:
        """Return a member that is a text."""
        return self.one(kind).read().decode("utf-8", "replace")


def find_tasks(root: Path) -> dict[str, Path]:
    """Return the folders with shards below a folder, by their names, sorted.

    A name is the path below the root, without ``test`` at its end.
    """
    if not root.is_dir():
        raise OnwardError(f"expected a folder of static tasks, found none at {root}")
    found = {}
    for path in sorted(root.rglob(SHARDS)):
        folder = path.parent.parent if path.parent.name == "test" else path.parent
        # A training part of the same layout is no test.
        if path.parent.name != "train":
            found[folder.relative_to(root).as_posix()] = folder
    return found


def read_shards(folder: Path) -> list[Sample]:
    """Return all samples of a task's shards, in order, without reading what they hold."""
    here = folder / "test" if (folder / "test" / SHARDS).is_file() else folder
    text = read_text(here / SHARDS, "a number of shards in").strip()
    if not text.isdecimal() or int(text) < 1:
        raise OnwardError(f"expected a number of shards in {here / SHARDS}, found {text[:40]!r}")
    shards = [here / f"{number}.tar" for number in range(int(text))]
    missing = [shard.name for shard in shards if not shard.is_file()]
    if missing:
        raise OnwardError(
            f"expected {text} shards in {here}, as {SHARDS} says, found {len(missing)} missing: "
            f"{', '.join(missing[:5])}. Fetch them again"
        )
    return [sample for shard in shards for sample in _samples(shard)]


def _samples(shard: Path) -> Iterator[Sample]:
    try:
        with shard.open("rb") as file:
            for key, found in groupby(tar_members(file), key=lambda member: member[0]):
                members: dict[str, Member] = {}
                for _, kind, at, size in found:
                    if kind in members:
                        raise OnwardError(
                            f"expected each member once for the sample {key} in {shard}, found "
                            f"{kind} twice"
                        )
                    members[kind] = Member(shard, at, size)
                yield Sample(shard, key, members)
    except (tarfile.TarError, EOFError) as error:
        raise _cut(shard) from error


def _cut(shard: Path) -> OnwardError:
    return OnwardError(
        f"expected a whole tar file in {shard}, found one that is cut off or damaged. Fetch it "
        "again; no other file is concerned"
    )
