"""Catalogues: what Onward brings, written by hand, and what other packages add to it.

A package adds to one by an entry point in its ``pyproject.toml``::

    [project.entry-points."onward.methods"]
    my_method = "my_package:CARD"

Nothing of a package is imported before its name is asked for.
"""

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from onward.errors import OnwardError, unknown

T = TypeVar("T", covariant=True)


class Catalogue(Mapping[str, T]):
    """Things by name: Onward's own first, then those of other packages by name.

    Parameters
    ----------
    kind
        What it lists, in the singular.
    own
        Onward's own.
    group
        The group of entry points that others add to it by.
    form
        What each of them is an instance of; None where it is called: a class, or a function.

    Examples
    --------
    >>> fruits = Catalogue("fruit", {"apple": 1, "pear": 2}, "onward.fruits")
    >>> list(fruits), fruits.find("pear")
    (['apple', 'pear'], 2)
    """

    def __init__(
        self, kind: str, own: Mapping[str, T], group: str, form: type | None = None
    ) -> None:
        self._kind, self._own, self._group, self._form = kind, own, group, form
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(self._added[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._added

    def __len__(self) -> int:
        return len(self._own) + len(self._added)

    @property
    def own(self) -> Mapping[str, T]:
        """Onward's own, for what must not depend on other packages."""
        return self._own

    def find(self, name: str) -> T:
        """Return what has this name, or say which names there are."""
        if name not in self._added and name not in self._own:
            raise unknown(self._kind, name, self, f"onward list {plural(self._kind)}")
        return self[name]

    def origin(self, name: str) -> str | None:
        """Return which package has added a name, with its version; None if it is Onward's own."""
        return None if name in self._own else _origin(self._added[name])

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self._group), key=lambda point: point.name):
            other = found.get(point.name)
            if other is not None or point.name in self._own:
                first = "Onward itself" if other is None else _described(other)
                raise OnwardError(
                    f"expected one {self._kind} {point.name!r}, found two: by {first} and by "
                    f"{_described(point)}. Uninstall one of them, or have it renamed"
                )
            found[point.name] = point
        return found

    def _load(self, point: EntryPoint) -> T:
        with self._blamed(point.name, _described(point), "cannot be loaded"):
            found: T = point.load()
        self._require_right(found, point)
        return found

    @contextlib.contextmanager
    def blaming(self, name: str, what: str) -> Iterator[None]:
        """Name the package if something that it brings cannot do what it is asked to."""
        origin = self.origin(name)
        if origin is None:
            yield
            return
        with self._blamed(name, origin, what):
            yield

    @contextlib.contextmanager
    def _blamed(self, name: str, origin: str, what: str) -> Iterator[None]:
        try:
            yield
        except (Exception, SystemExit) as error:  # whatever it is, it is that package's to mend
            raise OnwardError(
                f"the {self._kind} {name!r} of {origin} {what}: {type(error).__name__}: {error}. "
                "Mend that package, or uninstall it"
            ) from error

    def _require_right(self, found: Any, point: EntryPoint) -> None:
        where = _described(point)
        if self._form is None:
            wanted, right = "class or a function", callable(found)
        else:
            # A class has what its instances have, as far as a protocol can tell.
            wanted = self._form.__name__
            right = isinstance(found, self._form) and not isinstance(found, type)
        if not right:
            kind = "class" if isinstance(found, type) else type(found).__name__
            raise OnwardError(f"expected a {wanted} in {where}, found a {kind}. Mend that package")
        name = point.name if self._form is None else found.name
        if name != point.name:
            raise OnwardError(
                f"expected {point.name!r}, as its entry point, as the name of the {self._kind} in "
                f"{where}, found {name!r}. Have one of them renamed"
            )


def plural(kind: str) -> str:
    """Return the word for several of a kind."""
    return f"{kind.removesuffix('y')}ies" if kind.endswith("y") else f"{kind}s"


def _origin(point: EntryPoint) -> str:
    return "unknown" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _described(point: EntryPoint) -> str:
    return f"{_origin(point)} ({point.value})"
