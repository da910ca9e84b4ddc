"""Settings as a spec stores them."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LATER: Mapping[str, Any] = {"later": True}
"""The metadata of a field that came after runs had been stored without it."""
PLACE: Mapping[str, Any] = {"place": True}
"""The metadata of a field that says where a file lies, which is no part of what a run is."""


def stored(settings: "DataclassInstance") -> dict[str, Any]:
    """Return settings as a dictionary; what came later is left out where it says nothing.

    So a run keeps its name when something is added that it does not use.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Settings:
    ...     speed: float
    ...     pooled: bool = field(default=False, metadata=LATER)
    >>> stored(Settings(1.0)), stored(Settings(1.0, pooled=True))
    ({'speed': 1.0}, {'speed': 1.0, 'pooled': True})
    """
    silent = {
        field.name
        for field in fields(settings)
        if "place" in field.metadata
        or ("later" in field.metadata and getattr(settings, field.name) == _default(field))
    }
    return {name: value for name, value in asdict(settings).items() if name not in silent}


def _default(field: "Field[Any]") -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
