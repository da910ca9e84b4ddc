"""Options that commands share, and what people type, turned into values."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from onward.errors import OnwardError


def page_file(path: Path | None) -> Path | None:
    """Refuse a folder where a page is to be written, before anything is computed for it."""
    path = None if path is None else path.expanduser()
    if path is not None and path.is_dir():
        raise OnwardError(
            f"expected a file to write the page to, found the folder {path}. Name a file in it, "
            f"such as {path / 'page.html'}"
        )
    return path


Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:NUMBER or mps.")]
Workers = Annotated[
    int, typer.Option(min=0, help="Processes that read and augment batches; 0: none.")
]
Threads = Annotated[int, typer.Option(min=1, help="Threads to compute on, per process.")]
Precision = Annotated[str | None, typer.Option(help="fp32, bf16 or fp16 by autocast, or fp64.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def with_typed(
    training: Mapping[str, Any], typed: Mapping[str, Any], unset: Mapping[str, Any]
) -> dict[str, Any]:
    """Return training hyperparameters with those that have an option of their own.

    Parameters
    ----------
    training
        What was given by ``--training``.
    typed
        The values of the other options by name.
    unset
        Their values where they were not given, if not None.
    """
    found = dict(training)
    for name, value in typed.items():
        if value not in (None, unset.get(name)):
            if name in found:
                raise OnwardError(
                    f"expected one value of {name}, found --{name.replace('_', '-')} {value} and "
                    f"--training {name}={found[name]}. Leave one of them out"
                )
            found[name] = value
    return found


def parse_seeds(text: str) -> list[int]:
    """Read seeds such as ``0``, ``0-4`` or ``0,2,5-7``.

    Examples
    --------
    >>> parse_seeds("0,2,5-7")
    [0, 2, 5, 6, 7]
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise OnwardError(f"expected seeds such as 0, 0-4 or 0,2,5-7, found {text!r}")
        seeds += range(int(first), int(last or first) + 1)
    if not seeds:
        raise OnwardError(
            f"expected at least one seed, found {text!r} (a range that runs backwards?)"
        )
    return list(dict.fromkeys(seeds))


def parse_pairs(texts: Sequence[str], what: str) -> dict[str, Any]:
    """Read ``name=value`` pairs; values are JSON where they can be, texts otherwise.

    Examples
    --------
    >>> parse_pairs(["memory=200", "mode=tail"], "option")
    {'memory': 200, 'mode': 'tail'}
    """
    pairs: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise OnwardError(f"expected --{what} name=value, found {text!r}")
        pairs[name] = _value(value)
    return pairs


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Read ``name=a,b,c``: several values for each name.

    Examples
    --------
    >>> parse_grid(["lr=0.1,1", "start=last,random"])
    {'lr': [0.1, 1], 'start': ['last', 'random']}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not name or not equals or not values:
            raise OnwardError(f"expected --grid name=a,b,c, found {text!r}")
        grid[name] = [_value(part) for part in values.split(",")]
    return grid


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def parse_budget(texts: Sequence[str]) -> dict[str, float]:
    """Read ``name=number`` pairs.

    Examples
    --------
    >>> parse_budget(["iterations=500", "macs=1e12"])
    {'iterations': 500.0, 'macs': 1000000000000.0}
    """
    limits = {}
    for name, value in parse_pairs(texts, "budget").items():
        finite = isinstance(value, int | float) and math.isfinite(value)
        if isinstance(value, bool) or not finite or not value > 0:
            raise OnwardError(f"expected a positive number for --budget {name}, found {value!r}")
        limits[name] = float(value)
    return limits
