"""A run folder written again with another spec, whole in every respect."""

from pathlib import Path
from typing import Any

from onward.results.folder import open_folder
from onward.results.read import check_mark, read_manifest
from onward.results.record import load_record
from onward.results.schema import Environment


def resubmitted(folder: Path, out: Path, **changes: Any) -> Path:
    """Write a finished run below another folder, with some fields of its spec changed."""
    record, manifest = load_record(folder), read_manifest(folder)
    assert manifest is not None
    assert record.cost is not None
    spec = record.spec.model_copy(update=changes).as_stored()
    environment = Environment.model_validate_json((folder / "env.json").read_bytes())
    with open_folder(out, spec, environment, lambda: None) as opened:
        for period in range(len(spec.periods)):
            scores = [score for score in record.scores if score.learned_upto == period]
            name = f"predictions/{period:03d}.parquet"
            kept = check_mark(folder, name, manifest.files[name])
            opened.add(period, scores, kept)
        opened.finish(record.cost)
        return opened.path
