"""How IIRC's models are trained: the released settings, and those that a laptop has time for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from onward.train.recipe import Recipe

# The released configurations of IIRC-CIFAR: 140 epochs a period, twice as many in the first one,
# x0.1 where the validation has not risen for ten epochs; 20 samples of each class are kept.
RESNET32_PAPER = Recipe(
    model="resnet32",
    lr=1.0,
    momentum=0.9,
    weight_decay=1e-5,
    batch_size=128,
    epochs=140,
    first_epochs=280,
    patience=10,
    exemplars_per_class=20,
    augment="padded_crop_flip",
)
# Of IIRC-ImageNet: 100 epochs a period.
RESNET50_PAPER = replace(
    RESNET32_PAPER,
    model="resnet50",
    lr=0.1,
    epochs=100,
    first_epochs=200,
    augment="random_resized_crop_flip",
)
# The released schedule on hand-made features of emoji.
MLP_PAPER = replace(RESNET32_PAPER, model="mlp", hidden_dim=256, augment="none")


def _quick(paper: Recipe, epochs: int) -> Recipe:
    """Return a recipe with few epochs, which cannot wait for a plateau."""
    first, milestones = 2 * epochs, (0.6, 0.85)
    return replace(paper, epochs=epochs, first_epochs=first, patience=None, milestones=milestones)


RECIPES: Mapping[str, Mapping[str, Recipe]] = {
    # A few seconds a run.
    "mlp": {"cpu": _quick(MLP_PAPER, 20), "paper": MLP_PAPER},
    "resnet32": {"cpu": _quick(RESNET32_PAPER, 2), "paper": RESNET32_PAPER},
    "resnet50": {"cpu": _quick(RESNET50_PAPER, 1), "paper": RESNET50_PAPER},
}

# What a method has otherwise, by model: rates as the paper has them (the released code has 0.1 for
# icarl_norm), epochs as the released code has them; A-GEM was not run on ImageNet.
_BY_METHOD: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "resnet50": {name: {"lr": 0.5} for name in ("icarl_cnn", "icarl_norm", "bic")},
}
_JOINT: Mapping[str, Mapping[str, Any]] = {
    "resnet32": {"epochs": 200, "first_epochs": 400},
    "resnet50": {"epochs": 90, "first_epochs": 180},
}


def published_changes(model: str, method: str, protocol: str) -> Mapping[str, Any]:
    """Return the numbers of the recipe ``paper`` that were others for a method.

    Examples
    --------
    >>> published_changes("resnet50", "icarl_cnn", "incomplete")
    {'lr': 0.5}
    """
    changes = _BY_METHOD.get(model, {}).get(method, {})
    return {**changes, **(_JOINT.get(model, {}) if protocol == "joint" else {})}


def recipes_for(model: str, like: str = "resnet32") -> Mapping[str, Recipe]:
    """Return the recipes of a model by name; one that IIRC does not have is trained like another.

    IIRC has ``mlp`` on features, ``resnet32`` and ``resnet50`` on images.
    """
    recipes = RECIPES[model if model in RECIPES else like]
    return {name: replace(recipe, model=model) for name, recipe in recipes.items()}
