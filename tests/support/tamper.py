"""Somebody who changes a run folder and makes every hash right again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from onward.results import predictions
from onward.results.read import mark, read_manifest
from onward.results.recomputed import recomputed
from onward.results.record import load_record
from onward.results.schema import Manifest, RunSpec
from onward.types import Array


class Tamperer:
    """Works on a copy of a run folder."""

    def __init__(self, folder: Path, into: Path) -> None:
        self.folder = into / folder.parents[1].name / folder.parent.name / folder.name
        shutil.copytree(folder, self.folder)

    def change_lines(
        self, name: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
    ) -> None:
        """Change ``scores.jsonl`` or ``curve.jsonl``."""
        path = self.folder / name
        lines = change([json.loads(line) for line in path.read_text().splitlines()])
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def change_file(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change a JSON file in place."""
        path = self.folder / name
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    def change_decisions(self, period: int, change: Callable[[dict[str, Array]], object]) -> None:
        """Change what is stored of the tests after one period."""
        path = self.folder / f"predictions/{period:03d}.parquet"
        table, classes = predictions.decode(path)
        targets, decisions = predictions.judged(table)
        columns = {
            "tests": table.column("test").to_numpy(zero_copy_only=False),
            "tested_on": table.column("tested_on").to_numpy(),
            "ids": table.column("id").to_numpy(zero_copy_only=False),
            "targets": targets,
            "decisions": decisions,
        }
        columns = {name: np.array(values) for name, values in columns.items()}
        change(columns)
        path.write_bytes(predictions.encode(**columns, classes=classes))

    def rescore(self) -> None:
        """Make every score follow from the decisions."""
        self.redo_manifest()
        again = recomputed(load_record(self.folder)).scores

        def change(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
            for line in lines:
                cell = (line["learned_upto"], line["test"], line["tested_on"])
                line["scores"], line["samples"] = again[cell]
            return lines

        self.change_lines("scores.jsonl", change)

    def change_spec(self, **changes: Any) -> None:
        """Change what was asked, and the folder's name with it."""
        path = self.folder / "spec.json"
        spec = RunSpec.model_validate_json(path.read_bytes()).model_copy(update=changes)
        path.write_text(spec.model_dump_json(indent=1))
        self.folder = self.folder.rename(self.folder.with_name(spec.hash))

    def redo_manifest(self, *more: str) -> None:
        """Make all hashes right again."""
        before = read_manifest(self.folder)
        assert before is not None
        names = [name for name in before.files if (self.folder / name).exists()]
        marks = {name: mark(self.folder, name) for name in [*names, *more]}
        manifest = Manifest(complete=before.complete, files=marks)
        (self.folder / "manifest.json").write_text(manifest.model_dump_json(indent=1))
