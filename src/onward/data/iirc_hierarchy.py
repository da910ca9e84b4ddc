"""Two levels of classes: superclasses, the subclasses below them, and subclasses below none."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from onward.errors import OnwardError, unknown
from onward.types import Array

# The names of the released files.
_SUPERCLASSES, _OTHERS, _PERIODS = "super_classes", "other_sub_classes", "periods"


@dataclass(frozen=True)
class Hierarchy:
    """Superclasses with their subclasses, and the subclasses that have no superclass.

    Examples
    --------
    >>> animals = Hierarchy({"bear": ("polar bear", "brown bear")}, others=("bee",))
    >>> animals.parent["polar bear"], animals.parent["bee"]
    ('bear', None)
    """

    superclasses: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.superclasses:
            raise OnwardError("expected a hierarchy with one superclass or more, found none")
        above: dict[str, str | None] = {}
        for superclass, subclasses in self.superclasses.items():
            if not subclasses:
                raise OnwardError(
                    f"expected subclasses under every superclass, found none under {superclass!r}. "
                    "Give it some, or list it among the classes that have no superclass"
                )
            for name in subclasses:
                _require_one_place(name, superclass, above)
                above[name] = superclass
        for name in self.others:
            _require_one_place(name, None, above)
            above[name] = None
        for name in self.superclasses:
            if name in above:
                raise OnwardError(
                    f"expected two levels of classes, found {_chain(name, above)}. Give the level "
                    "in between or the finest one up"
                )

    @cached_property
    def parent(self) -> dict[str, str | None]:
        """The superclass of every subclass; subclasses are in the released order of samples."""
        found: dict[str, str | None] = {
            name: superclass
            for superclass, subclasses in self.superclasses.items()
            for name in subclasses
        }
        return found | dict.fromkeys(self.others)

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes, superclasses first."""
        return (*self.superclasses, *self.parent)


@dataclass(frozen=True)
class Flat:
    """Classes of one level, as plain class-incremental streams have them."""

    subclasses: tuple[str, ...]

    @cached_property
    def parent(self) -> dict[str, str | None]:
        """No class has a superclass."""
        return dict.fromkeys(self.subclasses)

    @property
    def superclasses(self) -> Mapping[str, tuple[str, ...]]:
        """There are none."""
        return {}

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes."""
        return self.subclasses


Classes = Hierarchy | Flat
Periods = tuple[tuple[str, ...], ...]


def columns_by_class(
    names: Sequence[str], codes: Array, test: Array, ids: Sequence[str] | None = None
) -> pa.Table:
    """Return the columns of samples that IIRC is cut by: their subclasses are given by number.

    Without ids of their own, their places are their ids.
    """
    named = pa.array(np.arange(len(codes))).cast(pa.string()) if ids is None else pa.array(ids)
    subclass = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names))
    return pa.table({"id": named, "subclass": subclass, "test": pa.array(test)})


def _require_one_place(name: str, superclass: str | None, above: Mapping[str, str | None]) -> None:
    if name == superclass:
        raise OnwardError(f"expected two levels of classes, found {name!r} below itself")
    if name in above:
        places = [
            f"under {p!r}" if p else "without a superclass" for p in (above[name], superclass)
        ]
        both = f"twice {places[0]}" if above[name] == superclass else " and ".join(places)
        raise OnwardError(f"expected every subclass in one place, found {name!r} {both}")


def _chain(name: str, above: Mapping[str, str | None]) -> str:
    """Say what stands above a superclass: a third level, or at last the class itself."""
    steps, up = [name], above[name]
    while up is not None and up not in steps:
        steps.append(up)
        up = above.get(up)
    if up is None and len(steps) == 1:
        return f"{name!r}, which has subclasses, among those that have no superclass"
    words = " under ".join(repr(step) for step in ([*steps, up] if up else steps))
    return f"a cycle: {words}" if up else f"{words}, which is a third level"


def as_hierarchy(given: Any, source: str = "the hierarchy") -> Hierarchy:
    """Return a hierarchy from what a user gave: a `Hierarchy`, or {superclass: [subclasses]}.

    The released layout, {"super_classes": {...}, "other_sub_classes": [...]}, is known too.
    """
    if isinstance(given, Hierarchy):
        return given
    if not isinstance(given, Mapping):
        raise OnwardError(
            f"expected {{superclass: [subclasses]}} in {source}, found {type(given).__name__}"
        )
    known = (_SUPERCLASSES, _OTHERS, _PERIODS)
    released = isinstance(given.get(_SUPERCLASSES), Mapping)
    if released and (strange := [name for name in given if name not in known]):
        raise unknown(f"entry of {source}", str(strange[0]), known, "docs/benchmarks/iirc_guide.md")
    superclasses = given[_SUPERCLASSES] if released else given
    others = given.get(_OTHERS, ()) if released else ()
    return Hierarchy(
        {
            _name(superclass, source): _names(subclasses, f"{superclass!r} of {source}")
            for superclass, subclasses in superclasses.items()
        },
        _names(others, f"{_OTHERS} of {source}"),
    )


def read_hierarchy(path: Path) -> tuple[Hierarchy, Periods | None]:
    """Read a hierarchy from a JSON file, and the classes of every period if it has them.

    It is {superclass: [subclasses]}, or the released layout, to which ``"periods": [[classes]]``
    may be added.
    """
    try:
        given = json.loads(path.read_text(), object_pairs_hook=_unrepeated)
    except OSError as error:
        raise OnwardError(f"expected a hierarchy in {path}, found {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise OnwardError(f"expected a hierarchy as JSON in {path}, found {error}") from error
    return as_hierarchy(given, str(path)), periods_of(given, str(path))


def periods_of(given: Any, source: str = "the hierarchy") -> Periods | None:
    """Return the classes of every period, where what a user gave has them."""
    if not isinstance(given, Mapping) or not isinstance(given.get(_SUPERCLASSES), Mapping):
        return None
    if _PERIODS not in given:
        return None
    if not isinstance(given[_PERIODS], list | tuple):
        raise OnwardError(f"expected a list of periods in {source}, found {given[_PERIODS]!r}")
    return tuple(_names(names, f"a period of {source}") for names in given[_PERIODS])


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        again = next(name for name in names if names.count(name) > 1)
        raise OnwardError(f"expected every name once, found {again!r} twice in one list")
    return found


def _name(given: Any, place: str) -> str:
    if not isinstance(given, str) or not given:
        raise OnwardError(f"expected names of classes in {place}, found {given!r}")
    return given


def _names(given: Any, place: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, list | tuple):
        raise OnwardError(f"expected a list of classes in {place}, found {given!r}")
    return tuple(_name(one, place) for one in given)
