"""The benchmarks: a hand-written catalogue, one file each, and how to load one.

To add one, write its file and its line here.
"""

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onward.benchmarks import clad_c, clad_d, clear, iirc, tic, yours
from onward.benchmarks.listed import Listed
from onward.benchmarks.variants import as_asked
from onward.catalogue import Catalogue
from onward.errors import OnwardError, unknown
from onward.fit import IMAGES
from onward.methods import METHODS
from onward.types import Benchmark

BENCHMARKS = Catalogue(
    "benchmark",
    {
        listed.name: listed
        for listed in (
            clear.LISTED,
            iirc.LISTED,
            clad_c.LISTED,
            clad_d.LISTED,
            tic.LISTED,
            yours.LISTED,
        )
    },
    "onward.benchmarks",
    Listed,
)
"""By name; a package adds one as a `Listed` by an entry point."""


def benchmark_reading(data: str) -> str:
    """Return the benchmark whose data it is: a name of the catalogue's, or a folder that one reads.

    What no other benchmark knows is data of yours.

    Examples
    --------
    >>> benchmark_reading("emoji"), benchmark_reading("street"), benchmark_reading("measured.csv")
    ('clear', 'clad-c', 'yours')
    """
    path = Path(os.path.expanduser(data))  # noqa: PTH111 (which leaves alone who is unknown)
    folder = bool(data) and os.path.isdir(path)  # noqa: PTH112 (which takes any name)
    file = not folder and bool(path.suffix or os.sep in data)
    for name in BENCHMARKS.own if file else BENCHMARKS:
        if data in BENCHMARKS[name].named or (folder and _reads(BENCHMARKS[name], path)):
            return name
    if file or folder:
        return yours.LISTED.name
    known = [*dict.fromkeys(one for name in BENCHMARKS for one in BENCHMARKS[name].named)]
    raise unknown("data", data, [*known, "<a file or folder>"], "onward list data")


def _reads(listed: Listed, folder: Path) -> bool:
    if listed.reads is None:
        return False
    with BENCHMARKS.blaming(listed.name, f"cannot tell whether {folder} is its data"):
        return listed.reads(folder)


def load(
    name: str,
    data: str | None = None,
    protocol: str | None = None,
    *,
    grain: int | str | None = None,
    new_classes: bool = False,
    tuning_periods: int | None = None,
    label_delay: int = 0,
    **options: Any,
) -> Benchmark:
    """Load a benchmark.

    Parameters
    ----------
    name
        A name of the catalogue, see ``onward list benchmarks``.
    data
        Which data: ``emoji`` is embedded, ``street`` is drawn from it for CLAD; a folder or a file
        of yours, as the benchmark takes it. By default what needs no download.
    protocol
        What is revealed and tested when, see ``onward list benchmarks``; by default the first that
        is listed there.
    grain
        Online only: how many samples are shown at a time, or ``day``.
    new_classes
        Whether classes arrive over time instead of all being there from the start.
    tuning_periods
        Only the first periods, with a part of their training groups as tests: what `onward.tune`
        chooses hyperparameters on.
    label_delay
        By how many periods labels come late; till then samples come without them.
    options
        Further options of the benchmark, such as ``recipe="paper"``.

    Examples
    --------
    >>> benchmark = load("clear", data="emoji", protocol="streaming")
    >>> stream = benchmark.stream(seed=0)
    >>> len(stream), stream[0].name, stream[-1].name
    (7, '2017-05', '2025-09')
    >>> growing = load("clear", data="emoji", new_classes=True).stream(seed=0)
    >>> [len(period.classes) for period in growing]
    [2, 3, 4, 6, 7, 8, 9]
    """
    listed = BENCHMARKS.find(name)
    taken = inspect.signature(listed.load).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        known = [option for option in taken if option not in ("data", "protocol")]
        for option in options:
            if option not in known:
                raise unknown(f"option of {name}", option, known, "onward run --help")
    protocol = protocol or next(iter(listed.protocols))
    for asked, word, there in (
        (protocol, "protocol", listed.protocols),
        (options.get("recipe", listed.recipes[0]), "recipe", listed.recipes),
    ):
        if asked not in there:
            raise unknown(f"{word} of {name}", asked, there, "onward list benchmarks")
    found = listed.load(data=data or listed.usual, protocol=protocol, **options)
    found = replace(found, lacks={**listed.lacks, **found.lacks})
    return as_asked(
        found,
        grain=grain,
        new_classes=new_classes,
        tuning_periods=tuning_periods,
        label_delay=label_delay,
    )


@dataclass(frozen=True)
class Source:
    """A benchmark in words, which can be written down and sent to another process.

    Parameters
    ----------
    benchmark
        A name of the catalogue.
    data
        Which data.
    protocol
        What is revealed and tested when; None is the benchmark's usual one.
    recipe
        How it is trained.
    options
        Further options of `load`.
    training
        Numbers of the recipe that are to be others, such as ``{"learning_rate": 0.3}``.
    """

    benchmark: str
    data: str = "emoji"
    protocol: str | None = None
    recipe: str = "cpu"
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    def fitting(self, method: str) -> "Source":
        """Return it with a network for images where a method needs them and nobody says which."""
        card = METHODS.get(method)
        if card is None or IMAGES not in card.needs or "model" in self.options:
            return self
        images = BENCHMARKS.find(self.benchmark).with_images
        return replace(self, options={**images, **self.options})

    def load(self) -> Benchmark:
        """Load the benchmark."""
        made = load(
            self.benchmark,
            data=self.data,
            protocol=self.protocol,
            recipe=self.recipe,
            **self.options,
        )
        return retrained(made, self.training)


def retrained(benchmark: Benchmark, training: Mapping[str, Any]) -> Benchmark:
    """Return a benchmark whose recipe has some other numbers; the spec of a run shows them."""
    if not training:
        return benchmark
    recipe = benchmark.recipes[benchmark.recipe]
    other = changed(recipe, training)
    changes = {n: v for n in training if (v := getattr(other, n)) != getattr(recipe, n)}
    recipes = {**benchmark.recipes, benchmark.recipe: other}
    return replace(benchmark, recipes=recipes, recipe_changes=changes)


def changed(recipe: Any, training: Mapping[str, Any]) -> Any:
    """Return a recipe with some other numbers."""
    changes = {}
    for name, value in training.items():
        if name not in vars(recipe):
            raise unknown("number of the recipe", name, vars(recipe), "onward run --help")
        if name == "model":
            raise OnwardError("expected the model as an option of its own (--model), found it here")
        before = getattr(recipe, name)
        # 1 and 1.0 are one learning rate, and must be one run.
        number = isinstance(before, float) and isinstance(value, int)
        changes[name] = float(value) if number else value
        if isinstance(before, tuple) and isinstance(value, list | float | int):
            changes[name] = tuple(value) if isinstance(value, list) else (value,)
    return replace(recipe, **changes)
