"""Specs of older versions in the words of this one.

A spec that an older version stored may say something that means something else today: a method
whose implementation has changed, a renamed option, a renamed value. Such a spec is verified as it
is stored, by its own hash, and then translated, so that its run is shown under its present name and
is never taken for a run of another meaning.

To add a translation, write its line at the end of `TRANSLATIONS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onward.results.schema import RunSpec


@dataclass(frozen=True)
class Translation:
    """One change of meaning.

    Parameters
    ----------
    reason
        What changed.
    applies
        Whether a spec was written before the change. It must be false for specs of this version.
    changes
        The new values of the fields that change, by name.
    """

    reason: str
    applies: Callable[[RunSpec], bool]
    changes: Callable[[RunSpec], Mapping[str, Any]]


TRANSLATIONS: tuple[Translation, ...] = (
    Translation(
        reason="gdumb had a class-balanced reservoir before it had the greedy sampler of the paper",
        applies=lambda spec: spec.method == "gdumb" and spec.method_digest is None,
        changes=lambda spec: {"method": "gdumb_reservoir"},
    ),
)


def translated(spec: RunSpec) -> RunSpec:
    """Return a stored spec in the words of this version, which may be the same."""
    for translation in TRANSLATIONS:
        if translation.applies(spec):
            spec = spec.model_copy(update=dict(translation.changes(spec)))
    return spec
