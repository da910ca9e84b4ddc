"""How a stream came about: the stages before the last one, in a file that goes with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onward.curate.stage import Stage
from onward.curate.written import json_of
from onward.data.read_files import read_json
from onward.files import write_atomic

LINEAGE = "lineage.json"


def lineage_of(*stages: Stage) -> list[dict[str, Any]]:
    """Return what stages were made with and what they counted, after those before them.

    What came before a stage is known where it says so itself; each is told once.
    """
    found: dict[str, dict[str, Any]] = {}
    for stage in stages:
        if (stage.folder / LINEAGE).is_file():
            for one in read_json(stage.folder / LINEAGE):
                found.setdefault(one["digest"], one)
        found.setdefault(
            stage.digest,
            {
                "kind": stage.kind,
                "digest": stage.digest,
                "options": dict(stage.options),
                "counts": dict(stage.counts),
            },
        )
    return list(found.values())


def write_lineage(path: Path, stages: Sequence[dict[str, Any]]) -> None:
    """Write it down."""
    write_atomic(path, json_of(stages))
