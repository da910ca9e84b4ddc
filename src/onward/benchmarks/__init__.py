"""The benchmarks: a hand-written catalogue, one file each, and how to load one.

To add one, write its file and its line here.
"""

import inspect
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from onward.benchmarks import clad_c, clad_d, clear, iirc, tic, yours
from onward.benchmarks.listed import Listed
from onward.benchmarks.variants import as_asked
from onward.catalogue import Catalogue
from onward.errors import LearningRateWarning, OnwardError, unknown
from onward.fit import IMAGES
from onward.hardware import ANY_HARDWARE, Hardware
from onward.methods import METHODS
from onward.results.translations import RECIPE_FIELDS
from onward.train.recipe import Recipe
from onward.types import Benchmark

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")

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


# `model` and `weights` decide what data a benchmark loads: they are options of each.
HYPERPARAMETERS = tuple(f.name for f in fields(Recipe) if f.name not in ("model", "weights"))
"""What `load` and `run` take as keywords of training."""


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
    device: str = "auto",
    workers: int = 0,
    threads: int = 1,
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
    device, workers, threads
        What runs compute on, see `onward.hardware.Hardware`.
    options
        Further options of the benchmark, such as ``recipe="paper"``, and training hyperparameters
        that are not to be the recipe's, such as ``lr=0.3``: fields of `onward.train.recipe.Recipe`.

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
    hardware = Hardware(device, workers, threads)
    taken = inspect.signature(listed.load).parameters
    training = {option: options.pop(option) for option in HYPERPARAMETERS if option in options}
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        known = [option for option in taken if option not in ("data", "protocol")]
        for option in options:
            if option not in known:
                both = [*known, *HYPERPARAMETERS]
                raise unknown(f"option of {name}", option, both, "onward run --help")
    protocol = protocol or next(iter(listed.protocols))
    for asked, word, there in (
        (protocol, "protocol", listed.protocols),
        (options.get("recipe", listed.recipes[0]), "recipe", listed.recipes),
    ):
        if asked not in there:
            raise unknown(f"{word} of {name}", asked, there, "onward list benchmarks")
    found = listed.load(data=data or listed.usual, protocol=protocol, **options)
    found = replace(found, lacks={**listed.lacks, **found.lacks}, hardware=hardware)
    found = retrained(found, training)
    require_device(found)
    return as_asked(
        found,
        grain=grain,
        new_classes=new_classes,
        tuning_periods=tuning_periods,
        label_delay=label_delay,
    )


def require_device(benchmark: Benchmark) -> None:
    """Raise if this machine lacks the device of a benchmark's runs, or computes otherwise."""
    device = benchmark.hardware.device
    precision = benchmark.recipes[benchmark.recipe].precision
    if device not in ("auto", "cpu") or precision == "fp16":
        from onward.models.device import require_precision, resolve_device  # torch, when needed

        require_precision(resolve_device(device), precision)


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
        Numbers of the recipe that are to be others, such as ``{"lr": 0.3}``.
    hardware
        What runs compute on.
    """

    benchmark: str
    data: str = "emoji"
    protocol: str | None = None
    recipe: str = "cpu"
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    hardware: Hardware = ANY_HARDWARE

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
            **vars(self.hardware),
            **self.options,
        )
        return retrained(made, self.training)


def retrained(benchmark: Benchmark, training: Mapping[str, Any]) -> Benchmark:
    """Return a benchmark whose recipe has some other numbers; the spec of a run shows them."""
    if not training:
        return benchmark
    recipe = benchmark.recipes[benchmark.recipe]
    other = changed(recipe, training)
    # Options of an optimizer are given by their own names, and stored in one field.
    names = dict.fromkeys(n if n in vars(other) else "optimizer_options" for n in training)
    changes = {n: v for n in names if (v := getattr(other, n)) != getattr(recipe, n)}
    recipes = {**benchmark.recipes, benchmark.recipe: other}
    return replace(benchmark, recipes=recipes, recipe_changes=changes)


def warn_of_lr(benchmark: Benchmark, training: Mapping[str, Any]) -> None:
    """Warn if another optimizer than the recipe's is chosen, but no learning rate for it."""
    recipe = benchmark.recipes[benchmark.recipe]
    optimizer = training.get("optimizer", recipe.optimizer)
    if optimizer != recipe.optimizer and "lr" not in training:
        warnings.warn(
            f"expected lr beside the optimizer {optimizer}, found none: the recipe's lr of "
            f"{recipe.lr:g} was chosen for {recipe.optimizer}. Give lr too, such as 1e-3 for adamw",
            LearningRateWarning,
            stacklevel=3,
        )


def changed(recipe: Recipe, training: Mapping[str, Any]) -> Recipe:
    """Return a recipe with some other hyperparameters.

    What is no field of a recipe may be an option of its optimizer, such as ``nesterov``.
    """
    if "model" in training:
        raise OnwardError("expected the model as an option of its own (--model), found it here")
    optimizer = str(training.get("optimizer", recipe.optimizer))
    options = dict(recipe.optimizer_options) if optimizer == recipe.optimizer else {}
    of_optimizer = {
        name: value
        for name, value in training.items()
        if name in _OF_OPTIMIZERS or name not in vars(recipe)
    }
    if of_optimizer or optimizer != recipe.optimizer:
        from onward.train.optimizers import accepted_options  # torch, when it is needed

        accepted = accepted_options(optimizer)
        for name in of_optimizer.keys() - accepted:
            if name in _OF_OPTIMIZERS:
                raise unknown(f"option of the optimizer {optimizer}", name, accepted, "torch.optim")
            raise unknown_hyperparameter(
                "training hyperparameter", name, {*vars(recipe), *accepted}
            )
    options |= {n: v for n, v in of_optimizer.items() if n not in vars(recipe)}
    options |= dict(training.get("optimizer_options", {}))
    own = {name: value for name, value in training.items() if name in vars(recipe)}
    return with_values(recipe, {**own, "optimizer_options": options})


def unknown_hyperparameter(what: str, name: str, known: Iterable[str]) -> OnwardError:
    """Return the error of a name that is no hyperparameter; names of older versions are known."""
    if name in RECIPE_FIELDS:
        return OnwardError(
            f"unknown {what} {name!r}, which is called {RECIPE_FIELDS[name]} since version 2 of "
            "specs. See: onward run --help"
        )
    return unknown(what, name, sorted(known), "onward list hyperparameters")


# Fields that only some optimizers have an argument for.
_OF_OPTIMIZERS = frozenset({"momentum", "betas", "eps"})


def with_values(settings: S, values: Mapping[str, Any]) -> S:
    """Return settings with some other values, which have the types that they should have."""
    changes = {}
    for name, value in values.items():
        if name not in vars(settings):
            raise unknown("number of the recipe", name, vars(settings), "onward run --help")
        before = getattr(settings, name)
        # 1 and 1.0 are one learning rate, and must be one run.
        number = isinstance(before, float) and isinstance(value, int)
        changes[name] = float(value) if number and not isinstance(value, bool) else value
        if isinstance(before, tuple) and isinstance(value, list | float | int):
            changes[name] = tuple(value) if isinstance(value, list) else (value,)
    return replace(settings, **changes)
