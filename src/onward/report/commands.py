"""The commands that make the same runs again, read off their specs.

A spec knows files by their content, not by their place: a command has ``<...>`` there, for the user
to replace.
"""

import functools
import inspect
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onward.benchmarks import BENCHMARKS, load
from onward.benchmarks.parts import HASHED
from onward.budget import REPORTED
from onward.methods import METHODS
from onward.results.schema import RunSpec

# Options of the command line that have another name in a spec.
_RENAMED = {"feature_columns": "feature_column"}
# Those whose no is a flag of its own.
_OTHERWISE = {"day_first": "--month-first"}


def commands(specs: Iterable[RunSpec]) -> list[str]:
    """Return the commands that make these runs, methods and seeds together where they can be.

    Runs of `onward.tune` on the first periods have none: ``onward run`` does not make them.
    """
    by_method: dict[tuple[str, ...], dict[str, set[int]]] = {}
    for spec in specs:
        if "tuning_periods" in spec.benchmark_options:
            continue
        by_method.setdefault(tuple(_words(spec)), {}).setdefault(spec.method, set()).add(spec.seed)
    found = []
    for words, methods in by_method.items():
        by_seeds: dict[str, list[str]] = {}
        for method, seeds in methods.items():
            by_seeds.setdefault(seed_range(seeds), []).append(method)
        for seeds_, names in by_seeds.items():
            chosen = [part for name in names for part in ("--method", _method(name))]
            command = ["onward", "run", *words, *chosen, "--seeds", seeds_]
            found.append(shlex.join(command))
    return found


def seed_range(seeds: Iterable[int]) -> str:
    """Write seeds as short as the command line takes them.

    Examples
    --------
    >>> seed_range([0, 1, 2, 5, 7, 8])
    '0-2,5,7-8'
    """
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _method(name: str) -> str:
    """Return what ``--method`` takes: a name of the catalogue, or a file and a class in it."""
    return name if name in METHODS or ":" in name else f"<file>.py:{name}"


def _words(spec: RunSpec) -> Iterator[str]:
    protocol, listed = str(spec.protocol["name"]), BENCHMARKS.get(spec.benchmark)
    data = spec.data if listed is None else listed.data_argument(spec.data)
    yield from (spec.benchmark, "--data", data, "--protocol", protocol)
    if spec.recipe_name != "cpu":
        yield from ("--recipe", spec.recipe_name)
    if spec.recipe.get("model"):
        yield from ("--model", str(spec.recipe["model"]))
    options, known = {**spec.benchmark_options, **_of_protocol(spec)}, _with_flags()
    yield from flags({name: value for name, value in options.items() if name in known})
    for name in sorted(options.keys() - known):
        yield from ("--load", _pair(name, options[name]))
    if spec.method not in METHODS and not spec.limits.keys().isdisjoint(REPORTED):
        yield "--allow-unmetered"  # harmless for a learner that reports everything
    if spec.tuned is not None:
        yield from ("--tuned", "<folder of onward tune>")
    for name, value in spec.recipe_changes.items():
        yield from ("--training", _pair(name, value))
    for name, value in spec.method_options.items():
        yield from ("--option", _pair(name, value))
    for name, value in spec.limits.items():
        if spec.protocol.get("limits", {}).get(name) != value:
            yield from ("--budget", f"{name}={value:.15g}")


def _of_protocol(spec: RunSpec) -> dict[str, Any]:
    """Return what was asked of the protocol beyond its name."""
    listed = BENCHMARKS[spec.benchmark].protocols if spec.benchmark in BENCHMARKS else {}
    usual = listed.get(str(spec.protocol["name"]))
    if usual is None:
        return {}
    asked = {"grain": (spec.protocol.get("batch"), usual.batch)}
    asked["curve"] = (spec.protocol.get("curve"), usual.curve)
    return {name: found for name, (found, default) in asked.items() if found != default}


@functools.cache
def _with_flags() -> frozenset[str]:
    """Return the options that have a flag of their own: those of Onward's own benchmarks."""
    loads = [load, *(BENCHMARKS[name].load for name in BENCHMARKS.own)]
    return frozenset(name for each in loads for name in inspect.signature(each).parameters)


def flags(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options of `onward.load` as the command line takes them."""
    for name, value in options.items():
        flag = f"--{_RENAMED.get(name, name).replace('_', '-')}"
        if value is True:
            yield flag
        elif name == "backbone":  # a spec has its weights, by their hash, and its size in its name
            backbone, weights, _ = str(value).rsplit("-", 2)
            yield from (flag, backbone, "--weights", f"<{HASHED}{weights}>")
        elif isinstance(value, str) and value.startswith(HASHED):
            yield from (flag, f"<{value}>")
        elif isinstance(value, list | tuple):
            for item in value:
                yield from (flag, str(item))
        elif value is False and name in _OTHERWISE:
            yield _OTHERWISE[name]
        elif value is not None and value is not False:  # 0 is a value
            yield from (flag, str(value))


def _pair(name: str, value: Any) -> str:
    plain = value if isinstance(value, str) else json.dumps(value)
    return f"{name}={plain}"


def as_words(options: Mapping[str, Any]) -> str:
    """Write options one after the other.

    Examples
    --------
    >>> as_words({"feature_columns": ["size", "age"], "seed": None, "periods": 10})
    'feature_columns size and age, periods 10'
    """
    return ", ".join(option_words(options))


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Write each option that has a value."""
    return [
        f"{name} {' and '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in options.items()
        if value is not None
    ]
