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
    Translation(
        reason="agem on a linear model had the reference gradient of plain SGD for any optimizer",
        applies=lambda spec: (
            spec.method == "agem"
            and spec.method_digest is None
            and spec.recipe.get("model") == "linear"
            and (
                spec.recipe.get("optimizer", "sgd") != "sgd"
                or bool(spec.recipe.get("clip"))
                or bool(spec.recipe.get("goes_on"))
                or not spec.recipe.get("decays_all", True)
            )
        ),
        changes=lambda spec: {"method": "agem_wrong_reference"},
    ),
    Translation(
        reason="options given in Python and on the command line had other types",
        # As texts: 900 and 900.0 are equal numbers, and different specs.
        applies=lambda spec: (
            repr(_of_one_type(spec.benchmark_options)) != repr(spec.benchmark_options)
        ),
        changes=lambda spec: {"benchmark_options": _of_one_type(spec.benchmark_options)},
    ),
)
_DECIMALS = ("min_area", "validation")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _of_one_type(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a benchmark's options as they are stored today."""
    found = dict(options)
    if _is_int(found.get("periods")):
        found["periods"] = str(found["periods"])
    if "drop_occluded" in found and found["drop_occluded"] is None:
        found["drop_occluded"] = -1
    return found | {name: float(found[name]) for name in _DECIMALS if _is_int(found.get(name))}


def translated(spec: RunSpec) -> RunSpec:
    """Return a stored spec in the words of this version, which may be the same."""
    for translation in TRANSLATIONS:
        if translation.applies(spec):
            spec = spec.model_copy(update=dict(translation.changes(spec)))
    return spec
