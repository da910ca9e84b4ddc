"""What loaders and cuts of several benchmarks have in common."""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError, unknown
from onward.files import file_digest
from onward.models import MODELS, ModelCard, find_model
from onward.models.pretrained_weights import weights_file
from onward.seeds import Draws, draws
from onward.train.recipe import Recipe
from onward.types import Array, Rows, Samples, Split, Table, Undivided

_GIVEN = {"classes": "names the class of a sample", "boxes": "finds boxes"}


def unusual(load: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """Return the options that are not as a function has them by default.

    Examples
    --------
    >>> def load(data, *, size=32, periods=None): ...
    >>> unusual(load, size=64, periods=None)
    {'size': 64}
    """
    usual = inspect.signature(load).parameters
    return {name: value for name, value in options.items() if value != usual[name].default}


def model_giving(what: str, model: str) -> ModelCard:
    """Return a model that gives ``classes`` or ``boxes``, or say which do."""
    card = find_model(model)
    if card.gives != what:
        others = [other.name for other in MODELS.values() if other.gives == what]
        raise OnwardError(
            f"expected a model that {_GIVEN[what]}, found {model}. Those that do: "
            f"{', '.join(others)}"
        )
    return card


def folder_of(benchmark: str, data: str) -> Path:
    """Return the folder that data is in, or say that there is no data of this name."""
    folder = Path(data).expanduser()
    if os.sep not in data and not folder.is_dir():
        raise unknown(f"data of {benchmark}", data, ["emoji", "<a folder>"], "onward list data")
    return folder


HASHED = "sha256 "
"""What the value of an option begins with in a spec where it stands for a file's content."""


def content_option(name: str, file: str | None) -> dict[str, str]:
    """Return an option that names a file as specs have it: by its content, wherever it lies."""
    if file is None:
        return {}
    path = Path(file).expanduser()
    if not path.is_file():
        raise OnwardError(f"expected a file with {name}, found none at {file}")
    return {name: f"{HASHED}{file_digest(path)[:16]}"}


def with_weights(
    recipes: Mapping[str, Recipe], recipe: str, weights: str | None
) -> tuple[Mapping[str, Recipe], dict[str, str]]:
    """Return recipes whose models start from weights, and the option that tells which, by content.

    Parameters
    ----------
    recipes
        Recipes by name.
    recipe
        The one in use, whose model they are for.
    weights
        A file, a folder, or ``pretrained``: see `weights_file`. None leaves recipes as they are.
    """
    if weights is None:
        return recipes, {}
    file = str(weights_file(recipes[recipe].model, weights))
    options = content_option("weights", file)
    return {name: replace(found, weights=file) for name, found in recipes.items()}, options


def numbers_of_classes(names: Array, classes: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the number of the class that each sample names."""
    index = {name: number for number, name in enumerate(classes)}
    return np.array([index[name] for name in names], np.int64)


def in_order_of_time(table: Table, seed: int) -> Rows:
    """Return all rows in order of time; what has one time, or none, is in the seed's order."""
    return by_time(table, draws(Draws.ORDER, seed).permutation(len(table)))


def by_time(table: Table, rows: Rows) -> Rows:
    """Return rows in order of time; what has one time stays in their order."""
    return np.asarray(rows[np.argsort(table.values("time")[rows], kind="stable")])


def samples_at(rows: Array, labels: Array) -> Samples:
    """Return some rows of a table with their labels."""
    return Samples(rows.astype(np.int64), labels[rows])


def both_sides(
    rows: Rows, labels: Array, test: NDArray[np.bool_], split: Split
) -> tuple[Samples, Samples]:
    """Return what is learned of a period, in order, and what is tested; undivided, all is both."""
    whole = isinstance(split, Undivided)
    learned, tested = (rows, rows) if whole else (rows[~test[rows]], rows[test[rows]])
    return samples_at(learned, labels), samples_at(np.sort(tested), labels)
