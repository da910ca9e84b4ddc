"""How IIRC's models are trained: the released settings, and those that a laptop has time for."""

from collections.abc import Mapping
from dataclasses import replace

from onward.errors import unknown
from onward.train.recipe import Recipe

# Released configurations of IIRC-CIFAR: 140 epochs a period, learning rate 1.
RESNET32_PAPER = Recipe(
    model="resnet32",
    learning_rate=1.0,
    momentum=0.9,
    weight_decay=1e-5,
    batch_size=128,
    epochs=140,
    augment="crop_flip",
)
# Of IIRC-ImageNet: 100 epochs a period, learning rate 0.1.
RESNET50_PAPER = replace(RESNET32_PAPER, model="resnet50", learning_rate=0.1, epochs=100)
# On hand-made features of emoji, a few seconds a run.
MLP = Recipe(
    model="mlp",
    learning_rate=1.0,
    momentum=0.9,
    weight_decay=1e-5,
    batch_size=128,
    epochs=20,
    decay_at=(0.6, 0.85),
)

RECIPES: Mapping[str, Mapping[str, Recipe]] = {
    "mlp": {"cpu": MLP, "paper": MLP},
    "resnet32": {"cpu": replace(RESNET32_PAPER, epochs=2), "paper": RESNET32_PAPER},
    "resnet50": {"cpu": replace(RESNET50_PAPER, epochs=1), "paper": RESNET50_PAPER},
}


def recipes_for(model: str) -> Mapping[str, Recipe]:
    """Return the recipes of a model by name.

    Parameters
    ----------
    model
        What is trained: ``mlp`` on features, ``resnet32`` or ``resnet50`` on images.
    """
    if model not in RECIPES:
        raise unknown("model of iirc", model, RECIPES, "onward run --help")
    return RECIPES[model]
