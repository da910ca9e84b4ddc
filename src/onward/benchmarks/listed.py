"""What the catalogue says of a benchmark without loading it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onward.benchmarks.compute import ComputeBudget
from onward.data.inspection import Inspection
from onward.data.past import Past
from onward.errors import OnwardError
from onward.fit import require_known
from onward.types import Benchmark, Protocol, Task


@dataclass(frozen=True)
class Listed:
    """A benchmark in the catalogue.

    Parameters
    ----------
    name
        What it is called.
    load
        Makes it, given ``data``, ``protocol`` and options of its own.
    summary
        The question that it asks.
    task
        Its task kind.
    data
        What ``data`` may be.
    protocols
        What may be revealed and tested when, by name; the first one is the usual one.
    recipes
        How its models can be trained; the first one is the usual one.
    usual
        Which data it is, where nobody says.
    lacks
        What methods may need that its streams have not, and why: see `onward.fit`.
    with_images
        Options of ``load`` for methods that need images, where its inputs are numbers otherwise.
    reads
        Whether a folder holds its data, where nobody says which benchmark it is for.
    official
        What its official data is called where a folder for it is asked for, and what is in it.
    inspect
        Looks through a folder of its official data, given ``data`` and options of ``load``; None
        where reading every sample of the loaded benchmark is all there is to do.
    past
        Reads images from before its first period, given ``data`` and their size, to pre-train on.
    budgets
        What methods cost, given the name of a recipe, by the name of the data or of its scale;
        empty where its protocol is no budget of compute.
    data_affix
        A regular expression of what its specs add before or after the name of a data file or
        folder, such as the kind of features; what is left is what ``--data`` takes. None if they
        add nothing.
    """

    name: str
    load: Callable[..., Benchmark]
    summary: str
    task: Task
    data: tuple[str, ...]
    protocols: Mapping[str, Protocol]
    recipes: tuple[str, ...] = ("cpu", "paper")
    usual: str = "emoji"
    lacks: Mapping[str, str] = field(default_factory=dict)
    with_images: Mapping[str, Any] = field(default_factory=dict)
    reads: Callable[[Path], bool] | None = None
    official: tuple[str, str] | None = None
    inspect: Callable[[str, Mapping[str, Any]], Inspection] | None = None
    past: Callable[[str, int], Past] | None = None
    budgets: Mapping[str, Callable[[str], ComputeBudget]] = field(default_factory=dict)
    data_affix: str | None = None

    def __post_init__(self) -> None:
        for name, right, wanted in (
            ("task", isinstance(self.task, Task), "a task kind"),
            ("protocols", isinstance(self.protocols, Mapping) and self.protocols, "one or more"),
            ("budgets", isinstance(self.budgets, Mapping), "functions by the name of data"),
        ):
            if not right:
                raise OnwardError(
                    f"expected {wanted} as {name} of the benchmark {self.name!r}, found "
                    f"{getattr(self, name)!r}"
                )
        for lacks in self.lacking:
            require_known(lacks, f"what the benchmark {self.name!r} lacks")

    @property
    def named(self) -> tuple[str, ...]:
        """The data that has a name: what needs no download, and what the official one is called."""
        own = tuple(name for name in self.data if " " not in name)
        return own if self.official is None else (*own, self.official[0])

    def data_argument(self, data: str) -> str:
        """Return what ``--data`` takes for the data that a spec names."""
        # What was left out of it: " without 3 rows ...", " without 2 named in broken.txt".
        name = re.sub(r"( without \d+ .*)+$", "", data)
        if name in self.named or self.data_affix is None:
            return name
        return re.sub(self.data_affix, "", name)

    @property
    def lacking(self) -> tuple[Mapping[str, str], ...]:
        """What its task kind, its usual protocol and its streams have not."""
        usual = next(iter(self.protocols.values()))
        return self.task.lacks, usual.lacks, self.lacks
