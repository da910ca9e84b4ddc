"""What a run folder holds, typed and versioned, in one file.

========================  =========================================================
``spec.json``             `RunSpec`: what was asked; its hash names the folder
``env.json``              `Environment` of the process that began the run
``resumed.jsonl``         one `Environment` per line, of each process that resumed it elsewhere
``scores.jsonl``          one `Score` per line, grows period by period
``curve.jsonl``           one `Point` per line, where a protocol tests between two calls
``predictions/i.parquet`` the decisions after period i: test, tested_on, id, target, decision
``cost.json``             `Cost`, once the run is complete
``log.jsonl``             what happened when, for people; never read back, not in the manifest
``training.jsonl``        metrics of training steps and epochs (`onward.results.training`); no
                          result is computed from it, and it is not in the manifest
``metrics.csv``, ...      what loggers write (`onward.loggers`), not in the manifest
``error.txt``             the traceback of the last failure, until the run is complete
``checkpoint/``           the newest state of the learner and the loop
``manifest.json``         `Manifest`: size and hash of everything above that is committed
========================  =========================================================

A folder is read through its manifest: what is not in it, or lies beyond the recorded size, was
being written when the process ended and does not count.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticSerializationError

from onward.errors import OnwardError
from onward.protocols import TESTS

SCHEMA = 2
"""The version of specs that is written; `onward.results.translations` reads those of version 1."""


def stream_name(
    digest: str, options: Mapping[str, Any], protocol: Mapping[str, Any], periods: Sequence[str]
) -> str:
    """Name data and the way it is cut: `RunSpec.stream_name` of any run on it.

    Parameters
    ----------
    digest
        The hash of the data.
    options
        The benchmark's.
    protocol
        The protocol, as a spec stores it.
    periods
        The names of the periods.
    """
    cut = [options, protocol.get("labelled", 1.0), periods]
    if protocol.get("tests") == "last":  # one period then holds what the others brought
        cut.append("last")
    way = hashlib.sha256(json.dumps(cut, sort_keys=True).encode()).hexdigest()
    return f"{digest[:16]}-{way[:8]}"


class Stored(BaseModel):
    """What is written as JSON: nothing more, and nothing that changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunSpec(Stored):
    """Everything that decides what a run computes."""

    schema_version: int = SCHEMA
    benchmark: str
    data: str
    data_digest: str
    benchmark_options: dict[str, Any] = Field(default_factory=dict)
    task: str
    protocol: dict[str, Any]
    recipe_name: str
    recipe: dict[str, Any]
    recipe_changes: dict[str, Any] = Field(default_factory=dict)
    method: str
    method_options: dict[str, Any] = Field(default_factory=dict)
    method_digest: str | None = None
    limits: dict[str, float] = Field(default_factory=dict)
    tuned: dict[str, Any] | None = None
    seed: int
    periods: list[str]

    @field_validator("protocol")
    @classmethod
    def _says_what_is_tested(cls, protocol: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(protocol.get("name"), str) or protocol.get("tests") not in TESTS:
            raise ValueError("expected a protocol with a name and what it tests")
        limits, exempt = protocol.get("limits", {}), protocol.get("exempt", ())
        if not isinstance(limits, dict) or not all(
            isinstance(limit, int | float) for limit in limits.values()
        ):
            raise ValueError("expected the limits of a protocol as numbers by name")
        if not isinstance(exempt, list | tuple) or not all(isinstance(n, str) for n in exempt):
            raise ValueError("expected the names of the methods that a protocol exempts")
        return protocol

    @property
    def hash(self) -> str:
        """Name this spec: equal specs, and only those, have equal hashes."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    @property
    def first_hash(self) -> str:
        """Name this spec as whoever wrote it did: an older Onward may have known fewer fields."""
        said = self.model_dump_json(exclude_unset=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def stream_name(self) -> str:
        """Name the data and the way it was cut, whatever runs on it."""
        return stream_name(self.data_digest, self.benchmark_options, self.protocol, self.periods)

    @property
    def same_rows(self) -> bool:
        """Whether every seed trains and tests on the same rows: the split does not change.

        There is no split, since the future is tested whole; or one was released; or, as in IIRC,
        seeds change the order of classes, and samples with several labels stay where they are.
        """
        return self.task == "many_labels" or self.protocol.get("split") in ({}, {"splits": 1})

    @property
    def label_delay(self) -> int:
        """By how many periods labels came late: so many periods at the start are not tested."""
        found = self.benchmark_options.get("label_delay", 0)
        return found if isinstance(found, int) and 0 <= found < len(self.periods) else 0

    def as_stored(self) -> "RunSpec":
        """Return this spec as it will be read back; raise if it cannot be written as JSON."""
        try:
            return RunSpec.model_validate_json(self.model_dump_json())
        except (PydanticSerializationError, ValidationError) as error:
            raise OnwardError(
                "expected method options that are plain numbers, texts, lists or dictionaries, "
                f"found {self.method_options!r}"
            ) from error

    def without_seed(self) -> str:
        """Name what this run shares with its repetitions under other seeds."""
        return self.model_copy(update={"seed": 0}).hash


class Environment(Stored):
    """Where a run was made.

    ``device`` is what its learner computed on, such as ``cpu`` or ``cuda:0``, and ``device_name``
    the model of the GPU. They, ``workers`` and ``threads`` are None in older files, and where a
    learner does not say what it computes on. ``visible_gpus`` is ``CUDA_VISIBLE_DEVICES``: the GPUs
    that the job was given, of which the first is ``cuda:0``.
    """

    onward: str
    python: str
    platform: str
    cpus: int
    processes: int = 1
    packages: dict[str, str]
    device: str | None = None
    device_name: str | None = None
    workers: int | None = None
    threads: int | None = None
    visible_gpus: str | None = None

    def changed(self, now: "Environment") -> list[str]:
        """Return what is different now that may change results, in words.

        What either of them does not say is not compared. Numbers of workers and of CPUs change no
        results.
        """
        words = {
            "device": "device",
            "device_name": "device",
            "threads": "number of threads",
            "processes": "number of processes",
            "platform": "platform",
            "onward": "version of Onward",
            "python": "version of Python",
        }
        found = [
            word
            for name, word in words.items()
            if None not in (values := (getattr(self, name), getattr(now, name)))
            and values[0] != values[1]
        ]
        if self.packages != now.packages:
            found.append("version of a package")
        return list(dict.fromkeys(found))


class Score(Stored):
    """One cell: the scores on one test of the model that has learned up to one period.

    ``tested_on`` is ``None`` for a static test, which belongs to no period.
    """

    learned_upto: int
    tested_on: int | None
    test: str
    samples: int
    scores: dict[str, float | None]


class Point(Stored):
    """A test between two calls of learn: the scores once so many samples had been shown."""

    seen: int
    test: str
    scores: dict[str, float | None]


class Cost(Stored):
    """What a run spent. Work lost to a kill and done again is counted once.

    ``metered`` names the quantities that the learner reports; a learner with a training loop of its
    own reports none. ``iterations``, ``macs`` and ``parameters`` are None where they are not
    reported. Older files say nothing of ``metered``: a 0 there means that nothing was reported.

    ``cpu_seconds`` includes data loading workers once they have ended. ``device_seconds`` and
    ``peak_device_memory_bytes`` are None where everything was computed on the CPU:
    ``device_seconds`` is the time in calls of learn and predict in which the training process did
    not wait for data.
    """

    cpu_seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    wall_seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    peak_memory_bytes: int = Field(default=0, ge=0)
    samples: int = Field(default=0, ge=0)
    iterations: int | None = Field(default=None, ge=0)
    macs: int | None = Field(default=None, ge=0)
    parameters: int | None = Field(default=None, ge=0)
    stored_samples: int = Field(default=0, ge=0)
    stored_bytes: int = Field(default=0, ge=0)
    device_seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    peak_device_memory_bytes: int | None = Field(default=None, ge=0)

    metered: list[str] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, found: Any) -> Any:
        """Turn the zeros of a file without ``metered`` into None."""
        if not isinstance(found, dict) or "metered" in found:
            return found
        unknown = {n: None for n in ("iterations", "macs", "parameters") if found.get(n) == 0}
        return {**found, **unknown}


class TrainingProgress(Stored):
    """The training metrics at a checkpoint: how many bytes there are, and an epoch under way.

    ``sums`` has the sum and the number of the values of each name in the steps of that epoch, and
    ``lr`` the learning rate of the last one; None between two epochs.
    """

    size: int = 0
    sums: dict[str, tuple[float, int]] = Field(default_factory=dict)
    lr: float | None = None


class Progress(Stored):
    """Where the loop is: `learned` samples of `period` are behind it, and maybe part of a call."""

    period: int = 0
    learned: int = 0
    inside_call: bool = False
    spent: dict[str, float] = Field(default_factory=dict)
    totals: dict[str, int] = Field(default_factory=dict)
    cost: Cost = Cost()
    training: TrainingProgress = TrainingProgress()

    @property
    def periods_before(self) -> int:
        """How many periods ended before the last samples that the model has learned from.

        At the end of a period that is one less than the periods it has learned: the last of them
        is still to be tested.
        """
        begun = bool(self.learned or self.inside_call)
        return self.period if begun else max(self.period - 1, 0)


class FileMark(Stored):
    """The committed part of a file: its first `size` bytes, and their hash."""

    size: int = Field(ge=0)
    sha256: str


class Manifest(Stored):
    """What is committed."""

    schema_version: Literal[1] = 1
    complete: bool = False
    files: dict[str, FileMark] = Field(default_factory=dict)
