"""IIRC as it was released: hierarchies and the order of classes, under the MIT licence."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from onward.data.iirc_hierarchy import Classes, Flat, Hierarchy, Periods

FOLDER = Path(__file__).parent / "iirc"


@cache
def official_hierarchy(data: str) -> Hierarchy:
    """Return the hierarchy of ``cifar`` or ``imagenet``."""
    found = _read(data)["hierarchy"]
    superclasses = {name: tuple(subs.split()) for name, subs in found["super_classes"].items()}
    return Hierarchy(superclasses, tuple(found["other_sub_classes"].split()))


def official_classes(data: str, *, incremental: bool) -> Classes:
    """Return the classes that a stream is made of: with superclasses, or plain ones."""
    return Flat(tuple(_read(data)["classes"].split())) if incremental else official_hierarchy(data)


@cache
def official_orders(
    data: str, *, edition: str = "full", incremental: bool = False
) -> tuple[Periods, ...]:
    """Return the released configurations: which classes arrive in which period.

    Of ``cifar`` there are ten, of ``imagenet`` five, in two editions: ``full``, and ``lite``, which
    has ten periods. The plain class-incremental ones have no superclasses.
    """
    kind = "incremental" if incremental else "iirc"
    name = kind if data == "cifar" else f"{kind}-{edition}"
    found = _read(f"{data}_configurations")[name]
    return tuple(tuple(tuple(names.split()) for names in periods) for periods in found)


def class_words() -> dict[str, str]:
    """Return ImageNet's subclasses in words, by their WordNet numbers."""
    words: dict[str, str] = _read("imagenet")["words"]
    return words


@cache
def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found
