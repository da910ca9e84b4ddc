"""Reading run folders, trusting nothing: every byte is checked against the manifest."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pydantic

from onward.errors import DamagedFolderError, OnwardError
from onward.results.schema import (
    Cost,
    Environment,
    FileMark,
    Manifest,
    Point,
    Progress,
    RunSpec,
    Score,
)
from onward.results.translations import translated

# What older files do not say.
_LATER = {"metered", "device_seconds", "peak_device_memory_bytes"}
_MOVE = "move that folder away and run again; nothing in it has been changed"

T = TypeVar("T", bound=pydantic.BaseModel)


def mark(folder: Path, name: str) -> FileMark:
    """Return the size and hash of a file as it is now."""
    content = (folder / name).read_bytes()
    return FileMark(size=len(content), sha256=hashlib.sha256(content).hexdigest())


def check_mark(folder: Path, name: str, expected: FileMark) -> bytes:
    """Return the committed part of a file; raise if it is not what was committed."""
    try:
        with (folder / name).open("rb") as file:
            # A size that was made up must not ask for as much memory.
            content = file.read(min(expected.size, os.fstat(file.fileno()).st_size))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise DamagedFolderError(
            f"expected {name} in {folder}, found none ({why}); {_MOVE}"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != expected.sha256:
        raise DamagedFolderError(
            f"{name} in {folder} is damaged: expected {expected.size} bytes with sha256 "
            f"{expected.sha256[:12]}…, found {len(content)} with {found[:12]}…; {_MOVE}"
        )
    return content


def read_manifest(folder: Path) -> Manifest | None:
    """Return what is committed in a folder, or None if nothing is."""
    path = folder / "manifest.json"
    if not path.exists():
        return None
    return _versioned(folder, "manifest.json", Manifest)


def read_spec(folder: Path) -> RunSpec:
    """Return what a run was asked, in the words of this version."""
    return translated(read_stored_spec(folder))


def read_stored_spec(folder: Path) -> RunSpec:
    """Return the spec of a run as it is stored: its hash is the name of the folder."""
    return _versioned(folder, "spec.json", RunSpec)


def _versioned(folder: Path, name: str, kind: type[T]) -> T:
    """Read a file that says which version of the schema it was written by."""
    try:
        text = (folder / name).read_bytes()
        version = json.loads(text)["schema_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedFolderError(f"{name} in {folder} is damaged; {_MOVE}") from error
    if type(version) is not int or version < 1:
        raise DamagedFolderError(
            f"{name} in {folder} is damaged: expected a version of 1 or more, found {version!r}; "
            f"{_MOVE}"
        )
    newest = kind.model_fields["schema_version"].default
    if version > newest:
        raise OnwardError(
            f"{folder} was written by a newer Onward (version {version} of {name}); this one reads "
            f"up to {newest}. Upgrade Onward to read it"
        )
    return _parsed(folder, name, kind, text)


def _parsed(folder: Path, name: str, kind: type[T], content: bytes) -> T:
    try:
        return kind.model_validate_json(content)
    except pydantic.ValidationError as error:
        raise DamagedFolderError(f"{name} in {folder} is damaged; {_MOVE}") from error


def _lines(folder: Path, manifest: Manifest, name: str, kind: type[T]) -> list[T]:
    if name not in manifest.files:
        return []
    content = check_mark(folder, name, manifest.files[name])
    return [_parsed(folder, name, kind, line) for line in content.splitlines()]


def read_scores(folder: Path, manifest: Manifest) -> list[Score]:
    """Return the committed scores."""
    return _lines(folder, manifest, "scores.jsonl", Score)


def read_curve(folder: Path, manifest: Manifest) -> list[Point]:
    """Return the committed tests between two calls of learn."""
    return _lines(folder, manifest, "curve.jsonl", Point)


def read_cost(folder: Path, manifest: Manifest) -> Cost | None:
    """Return what a complete run spent."""
    if not manifest.complete:
        return None
    if "cost.json" not in manifest.files:
        raise DamagedFolderError(
            f"expected cost.json in the manifest of {folder}, which says that its run is complete, "
            f"found none; {_MOVE}"
        )
    content = check_mark(folder, "cost.json", manifest.files["cost.json"])
    cost = _parsed(folder, "cost.json", Cost, content)
    unsaid = Cost.model_fields.keys() - cost.model_fields_set - _LATER
    if unsaid:
        raise DamagedFolderError(
            f"cost.json in {folder} is damaged: it says nothing of {min(unsaid)}; {_MOVE}"
        )
    return cost


def read_environment(folder: Path, manifest: Manifest) -> Environment | None:
    """Return where a run was begun; None where its folder does not say."""
    if "env.json" not in manifest.files:
        return None
    content = check_mark(folder, "env.json", manifest.files["env.json"])
    return _parsed(folder, "env.json", Environment, content)


def read_resumed(folder: Path, manifest: Manifest) -> list[Environment]:
    """Return where a run was resumed, as often as that was elsewhere than before."""
    return _lines(folder, manifest, "resumed.jsonl", Environment)


def checkpoints(folder: Path) -> list[Path]:
    """Return a run's checkpoints, the newest last."""
    found = (folder / "checkpoint").glob("*")
    return sorted(path for path in found if path.is_dir() and path.name.isdigit())


def check_checkpoint(path: Path) -> None:
    """Raise if a checkpoint is not what was written."""
    advice = f"Delete {path} and run again: the run is then learned from its first period"
    try:
        manifest = read_manifest(path) or Manifest()
        for name, expected in manifest.files.items():
            check_mark(path, name, expected)
            # Nothing is appended to a checkpoint, unlike to the scores of a run.
            found = (path / name).stat().st_size
            if found != expected.size:
                raise DamagedFolderError(
                    f"{name} in {path} is damaged: expected {expected.size} bytes, found {found}"
                )
        if "progress.json" in manifest.files:
            read_progress(path)
    except DamagedFolderError as error:
        raise DamagedFolderError(f"a checkpoint is damaged ({error}). {advice}") from error
    if "progress.json" not in manifest.files:
        raise DamagedFolderError(f"expected a whole checkpoint in {path}, found part. {advice}")


def read_progress(checkpoint: Path) -> Progress:
    """Return where the loop was when a checkpoint was written."""
    return _parsed(
        checkpoint, "progress.json", Progress, (checkpoint / "progress.json").read_bytes()
    )


def missing_tests(folder: Path, after: str, progress: Progress) -> str:
    """Return the message for a checkpoint whose weights are ahead of the committed tests."""
    inside = "inside" if progress.learned or progress.inside_call else "before"
    return (
        f"expected the tests after {after} in {folder}, found none, and a checkpoint from {inside} "
        f"period {progress.period}, whose weights were trained on later samples. The folder may "
        f"have been copied while it was written, or written by two processes. Delete "
        f"{folder / 'checkpoint'} and run again: the run is then learned from its first period"
    )


def find_folders(root: Path) -> Iterator[Path]:
    """Yield every run folder at or below a path, in the order of their names."""
    if not root.exists():
        raise OnwardError(
            f"expected a folder with results, found nothing at {root}. "
            "Run something first: onward run clear --data emoji --method er --out DIR"
        )
    found = {path.parent for name in ("spec.json", "manifest.json") for path in root.rglob(name)}
    folders = sorted(path for path in found if path.parent.name != "checkpoint")
    if not folders:
        raise OnwardError(
            f"expected run folders below {root} (each has a spec.json), found none. "
            "Give the folder that was --out of onward run"
        )
    yield from folders
