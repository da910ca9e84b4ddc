"""Specs of older versions by the names of this one.

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

# Fields of a recipe, and values of some, in specs of version 1 and today.
RECIPE_FIELDS: Mapping[str, str] = {
    "learning_rate": "lr",
    "decay_at": "milestones",
    "decay": "gamma",
    "memory": "memory_size",
    "per_class": "exemplars_per_class",
    "hidden": "hidden_dim",
    "side": "image_size",
    "goes_on": "keep_optimizer_state",
    "clip": "grad_clip_norm",
    "iterations": "max_steps",
    "at_once": "micro_batch_size",
    "recomputes": "grad_checkpointing",
    "warmup": "warmup_steps",
    "later_warmup": "next_warmup_steps",
    "later_rate": "next_lr",
    "cooldown": "decay_fraction",
    "least": "eps",
}
RECIPE_VALUES: Mapping[str, Mapping[str, str]] = {
    "optimizer": {"adam": "adamw"},
    "schedule": {"steps": "multistep"},
    "augment": {
        "crop_flip": "random_crop_flip",
        "pad_flip": "padded_crop_flip",
        "part_flip": "random_resized_crop_flip",
        "most_of_it": "random_resized_crop",
        "flip_perspective_erase": "flip_perspective_erasing",
        "flip_rotate_colour": "flip_rotation_color_jitter",
        "turn_scale_shift": "random_affine",
    },
}
_METHOD_OPTIONS: Mapping[str, str] = {"learning_rate": "lr"}


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
    Translation(
        reason="recipes have had the names of torch.optim since version 2",
        applies=lambda spec: spec.schema_version == 1 and "learning_rate" in spec.recipe,
        changes=lambda spec: {
            "recipe": _renamed_recipe(spec.recipe, spec.recipe),
            "recipe_changes": _renamed_recipe(spec.recipe_changes, spec.recipe),
            "method_options": {
                _METHOD_OPTIONS.get(name, name): value
                for name, value in spec.method_options.items()
            },
            "method_digest": None
            if spec.method_digest == "exact_reference"
            else spec.method_digest,
        },
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


def _renamed_recipe(part: Mapping[str, Any], recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return some fields of a recipe of version 1 as they are called today.

    Adam was AdamW, whose betas were ``momentum`` and ``fade``; an optimizer that is not named was
    SGD; ``decays_all`` was the opposite of ``no_decay``.
    """
    found = dict(part)
    is_adam = recipe.get("optimizer") == "adam"
    if part is recipe:
        found.setdefault("optimizer", "sgd")
    if is_adam and {"momentum", "fade", "optimizer"} & found.keys():
        found["betas"] = [recipe.get("momentum", 0.0), recipe.get("fade", 0.999)]
    if is_adam:
        found.pop("momentum", None)
    found.pop("fade", None)
    if "decays_all" in found:
        found["no_decay"] = not found.pop("decays_all")
    return {
        RECIPE_FIELDS.get(name, name): RECIPE_VALUES.get(name, {}).get(value, value)
        if isinstance(value, str)
        else value
        for name, value in found.items()
    }


def translated(spec: RunSpec) -> RunSpec:
    """Return a stored spec in the words of this version, which may be the same."""
    for translation in TRANSLATIONS:
        if translation.applies(spec):
            spec = spec.model_copy(update=dict(translation.changes(spec)))
    return spec
