"""What data of yours holds, period by period: for people before they run anything."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.data.near_duplicates import Progress, fingerprints, seen_before
from onward.errors import OnwardError
from onward.metrics.drift import total_variation
from onward.report.commands import flags
from onward.types import Benchmark, Split, Stream, Undivided

_FEW = 30
_METHODS = ("finetune", "cumulative", "er")


def describe(benchmark: Benchmark, progress: Progress = lambda done: None) -> dict[str, Any]:
    """Return a description as plain data.

    Parameters
    ----------
    benchmark
        What ``onward.load("yours", …)`` returned.
    progress
        Called with how many more images have been read.
    """
    stream, refused = _cut(benchmark)
    classes = stream[-1].classes
    counts = _counts(stream, benchmark.protocol.split)
    numbers = benchmark.card.numbers
    drift = [None, *(total_variation(before, after) for before, after in pairwise(counts))]
    found = {
        "title": benchmark.card.title,
        "digest": benchmark.raw.digest,
        "protocol": {"name": benchmark.protocol.name, "summary": benchmark.protocol.summary},
        **{name: numbers[name] for name in _UNDERSTOOD},
        "samples": int(counts.sum()),
        "input": _input(benchmark, numbers["kinds"]),
        "periods": [
            {
                "name": period.name,
                "start": str(period.start),
                "end": str(period.end),
                "samples": int(counts[index].sum()),
                "train": len(period.train),
                "test": len(period.test),
                "drift": drift[index],
                "classes": dict(zip(classes, counts[index].tolist(), strict=True)),
            }
            for index, period in enumerate(stream)
        ],
        "come": _changes(counts, classes, stream, coming=True),
        "go": _changes(counts, classes, stream, coming=False),
        "duplicates": _duplicates(benchmark, stream, progress),
    }
    return {**found, "mind": refused + _mind(found, counts, classes)}


_UNDERSTOOD = (
    "format",
    "file_row_count",
    "columns",
    "ignored",
    "time_formats",
    "time_zone",
    "left_out",
    "periods_by",
    "periods_without_labels",
)


def _cut(benchmark: Benchmark) -> tuple[Stream, list[str]]:
    """Return a stream, and why a run would refuse it, if so.

    It is cut from the raw table: a description needs no inputs.
    """
    try:
        return benchmark.cut(benchmark.raw, benchmark.protocol, 0), []
    except OnwardError as error:
        # Under another name, a table is cut and not judged.
        raw = replace(benchmark.raw, digest="")
        return benchmark.cut(raw, benchmark.protocol, 0), [str(error)]


def _counts(stream: Stream, split: Split) -> NDArray[np.int64]:
    """Return the samples of each period (rows) and class (columns)."""
    classes = len(stream[-1].classes)
    # Undivided, the two sides of a period are the same samples.
    both = not isinstance(split, Undivided)
    return np.stack(
        [
            np.bincount(period.test.labels, minlength=classes)
            + both * np.bincount(period.train.labels, minlength=classes)
            for period in stream
        ]
    )


def _input(benchmark: Benchmark, kinds: Mapping[str, tuple[str, ...]]) -> list[str]:
    wide, said = benchmark.raw.wide, []
    if "image" in wide:
        height, width = wide["image"].shape[1:3]
        said.append(f"images, read at {height} x {width}")
    if kinds["numbers"]:
        said.append(f"numbers ({len(kinds['numbers'])}): {_few(kinds['numbers'])}")
    if kinds["embeddings"]:
        size = wide["embedding"].shape[1]
        said.append(f"embedding of {size} numbers: {_few(kinds['embeddings'])}")
    if kinds["words"]:
        size = wide["words"].shape[1]
        said.append(f"words hashed into {size} columns: {_few(kinds['words'])}")
    return said


def _few(names: tuple[str, ...], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _changes(
    counts: NDArray[np.int64], classes: tuple[str, ...], stream: Stream, *, coming: bool
) -> dict[str, list[str]]:
    """Return, by period, the classes that it has and the one before has not, or the reverse."""
    found = {}
    for index, (before, after) in enumerate(pairwise(counts > 0), start=1):
        changed = after & ~before if coming else before & ~after
        if changed.any():
            found[stream[index].name] = [classes[c] for c in np.flatnonzero(changed)]
    return found


def _duplicates(benchmark: Benchmark, stream: Stream, progress: Progress) -> dict[str, Any]:
    prints = fingerprints(benchmark.raw, progress)
    future = benchmark.protocol.tests == "future"
    tested = sum(len(period.test) for period in stream)
    exact = seen_before(stream, prints.exact, future_only=future)
    return {
        "tested": tested,
        "exact": exact,
        # What is equal is also near.
        "near": max(seen_before(stream, prints.near, future_only=future) - exact, 0),
        "different_inputs": prints.different,
    }


def _mind(
    found: Mapping[str, Any], counts: NDArray[np.int64], classes: tuple[str, ...]
) -> list[str]:
    """Return what somebody should know before running anything."""
    said = []
    names = [period["name"] for period in found["periods"]]
    small = [name for name, n in zip(names, counts.sum(1), strict=True) if n < _FEW]
    if small:
        said.append(
            f"{len(small)} of {len(names)} periods have fewer than {_FEW} samples "
            f"({_few(tuple(small), 3)}): their scores will be rough"
        )
    late = [classes[c] for c in np.flatnonzero((counts[:-1].sum(0) == 0) & (counts[-1] > 0))]
    if late:
        said.append(
            f"in the last period only: {_few(tuple(late), 5)}. Nobody can have learned them by then"
        )
    if found["columns"]["group"] is None:
        said.append(
            "every row is taken to be a thing of its own; if the same person, machine or place "
            "comes back, name it with --group-column"
        )
    repeated = found["duplicates"]
    if repeated["different_inputs"] < found["samples"] / 2:
        said.append(
            f"only {repeated['different_inputs']:,} different inputs: with few values in each "
            "column, equal rows are to be expected"
        )
    elif repeated["exact"] + repeated["near"] > repeated["tested"] / 100:
        said.append(
            "more than one test sample in a hundred was seen in training: scores will flatter. "
            "Remove repetitions, or give them one group"
        )
    return said


def next_command(data: str, options: Mapping[str, Any]) -> str:
    """Return a command that goes on from a description.

    Parameters
    ----------
    data
        The file or folder, as it was typed.
    options
        What else was typed, by the names of `onward.load`.
    """
    words = ["onward", "run", "yours", "--data", data, *flags(options)]
    words += [word for name in _METHODS for word in ("--method", name)]
    return shlex.join([*words, "--seeds", "0-4"])
