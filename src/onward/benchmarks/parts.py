"""What loaders and cuts of several benchmarks have in common."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onward.errors import OnwardError
from onward.files import file_digest
from onward.models import MODELS, ModelCard
from onward.seeds import Draws, draws
from onward.types import Array, Rows, Samples, Split, Table, Undivided

_GIVEN = {"classes": "names the class of a sample", "boxes": "finds boxes"}


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given: those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def model_giving(what: str, model: str) -> ModelCard:
    """Return a model that gives ``classes`` or ``boxes``, or say which do."""
    card = MODELS.find(model)
    if card.gives != what:
        others = [other.name for other in MODELS.values() if other.gives == what]
        raise OnwardError(
            f"expected a model that {_GIVEN[what]}, found {model}. Those that do: "
            f"{', '.join(others)}"
        )
    return card


def weights_option(weights: str | None) -> dict[str, str]:
    """Return what tells a file with weights to start from from another one of the same name."""
    if weights is None:
        return {}
    path = Path(weights).expanduser()
    if not path.is_file():
        raise OnwardError(f"expected a file with weights, found none at {weights}")
    return {"weights": f"sha256 {file_digest(path)[:16]}"}


def numbers_of_classes(names: Array, classes: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the number of the class that each sample names."""
    index = {name: number for number, name in enumerate(classes)}
    return np.array([index[name] for name in names], np.int64)


def in_order_of_time(table: Table, seed: int) -> Rows:
    """Return all rows in order of time; what has one time, or none, is in the seed's order."""
    shuffled = draws(Draws.ORDER, seed).permutation(len(table))
    return np.asarray(shuffled[np.argsort(table.values("time")[shuffled], kind="stable")])


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
