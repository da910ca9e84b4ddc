"""Small real runs in folders, made in a moment."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onward
from onward.checks.tiny import tiny_benchmark
from onward.turns import Event
from onward.types import Benchmark


class Stopped(Exception):
    """Stands for whatever ends a process."""


def tiny_runs(
    out: Path,
    methods: Sequence[str] = ("finetune", "nap"),
    seeds: int = 2,
    benchmark: Benchmark | None = None,
    **options: Any,
) -> Path:
    """Run methods and return the folder with their results."""
    made = benchmark or tiny_benchmark()
    for method in methods:
        for seed in range(seeds):
            onward.run(made, method, seed, out, options=options)
    return out


def unfinished_run(out: Path, method: str = "scratch", seed: int = 0) -> Path:
    """Begin a run that ends after its second period, and return its folder."""

    def stop(event: Event) -> None:
        if event.kind == "tested" and event.period == 1:
            raise Stopped

    before = set(out.rglob("spec.json"))
    try:
        onward.run(tiny_benchmark(), method, seed, out, watch=stop)
    except Stopped:
        (spec,) = set(out.rglob("spec.json")) - before
        return spec.parent
    raise AssertionError("the run was not stopped")


def damage(folder: Path) -> Path:
    """Change a byte of a run's scores."""
    scores = folder / "scores.jsonl"
    scores.write_bytes(scores.read_bytes().replace(b'"samples":', b'"sample5":', 1))
    return folder


def respecced(folder: Path, file: Path, **changes: Any) -> Path:
    """Write the spec of a run with other values into a file."""
    file.write_text(json.dumps({**json.loads((folder / "spec.json").read_text()), **changes}))
    return file
