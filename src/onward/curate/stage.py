"""A folder that one verb of curation writes and the next one reads.

``begun.json`` says what the folder is going to be; ``stage.json`` is written last, so that a folder
without it is unfinished, and the same command goes on with it. Both are never changed afterwards.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onward.data.read_files import read_json
from onward.errors import OnwardError
from onward.files import locked, storage, write_atomic

BEGUN, STAGE = "begun.json", "stage.json"
DATED_KINDS = ("date", "filter", "tests")
"""What has rows of pairs of image and caption, see `onward.curate.records.DATED`."""
POOLS = ("pool", *DATED_KINDS)
"""What has the rows of a pool, whatever else it has."""
_LOCK = ".lock"
_VERSION = 1


@dataclass(frozen=True)
class Stage:
    """A finished folder: what it was made with, what was counted, and what tells it from others."""

    folder: Path
    kind: str
    options: Mapping[str, Any]
    counts: Mapping[str, Any]
    digest: str


@dataclass
class Making:
    """A folder that is being made, or is whole already: then `finished` is what was counted."""

    folder: Path
    finished: Mapping[str, Any] | None = None
    _begun: Mapping[str, Any] = field(default_factory=dict)

    def finish(self, counts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Say that everything is written, and what was counted; return that as it is read later."""
        said = _encoded({**self._begun, "counts": counts})
        write_atomic(self.folder / STAGE, said)
        found: Mapping[str, Any] = json.loads(said)["counts"]
        self.finished = found
        return found


def open_stage(folder: Path, *kinds: str) -> Stage:
    """Return a finished folder of one of these kinds, or say what is there instead."""
    wanted = " or ".join(f"onward curate {kind}" for kind in kinds)
    found = _read(folder / STAGE)
    if found is None:
        begun = _read(folder / BEGUN)
        state = (
            f"nothing of that kind in {folder}. Make it first: {wanted}"
            if begun is None
            else f"{folder} unfinished. Let its command go on: onward curate {begun['kind']}"
        )
        raise OnwardError(f"expected a folder that {wanted} has written, found {state}")
    if found["kind"] not in kinds:
        raise OnwardError(
            f"expected a folder that {wanted} has written, found one of onward curate "
            f"{found['kind']} in {folder}"
        )
    digest = hashlib.sha256(_encoded(found)).hexdigest()[:16]
    return Stage(folder, found["kind"], found["options"], found["counts"], digest)


@contextlib.contextmanager
def making(
    out: Path,
    kind: str,
    options: Mapping[str, Any],
    *,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[Making]:
    """Make a folder, or go on with one that was begun with the same options.

    Parameters
    ----------
    out
        Where: a new folder, an empty one, or one that this very command began.
    kind
        The verb.
    options
        All that decides what will be written, as JSON holds it: with the `digest` of each stage
        that is read, so that an input that was made anew is noticed.
    on_wait
        Called if another process is at work on the same folder, before waiting for it.
    """
    begun = json.loads(_encoded({"version": _VERSION, "kind": kind, "options": options}))
    with storage(out):
        if out.exists() and not (out / BEGUN).is_file() and _occupied(out):
            raise OnwardError(
                f"expected a new folder, or one of onward curate {kind}, found other files in "
                f"{out}. Choose another with --out"
            )
        with locked(out / _LOCK, on_wait):
            before = _read(out / BEGUN)
            if before is None:
                write_atomic(out / BEGUN, _encoded(begun))
            elif before != begun:
                raise OnwardError(_other(out, kind, before, begun))
            done = _read(out / STAGE)
            yield Making(out, None if done is None else done["counts"], begun)


def _occupied(folder: Path) -> bool:
    return not folder.is_dir() or any(path.name != _LOCK for path in folder.iterdir())


def _other(out: Path, kind: str, before: Mapping[str, Any], begun: Mapping[str, Any]) -> str:
    """Say in which way a folder was begun differently."""
    if before.get("kind") != kind:
        return (
            f"expected a folder of onward curate {kind}, found one of onward curate "
            f"{before.get('kind')} in {out}. Choose another with --out"
        )
    old, new = before.get("options", {}), begun["options"]
    name = next((key for key in [*new, *old] if old.get(key) != new.get(key)), "version")
    return (
        f"expected the options that {out} was begun with, found {name} = {new.get(name)!r} where "
        f"it was {old.get(name)!r}. Choose another folder with --out, or remove this one"
    )


def _encoded(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    again = "Remove the folder and make it again"
    found = read_json(path, "what Onward wrote in", again)
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        raise OnwardError(
            f"expected version {_VERSION} in {path}, found "
            f"{found.get('version') if isinstance(found, dict) else 'another kind of JSON'}. It "
            "was written by another version of Onward"
        )
    for name in ("kind", "options", *(["counts"] if path.name == STAGE else [])):
        if name not in found:
            raise OnwardError(f"expected {name} in {path}, found none. {again}")
    return found
