"""How models are trained: CLEAR's settings, and those that a laptop has time for."""

from collections.abc import Mapping
from dataclasses import replace

from onward.benchmarks.clear_official import IMAGE
from onward.benchmarks.parts import model_giving
from onward.train.recipe import Recipe
from onward.types import Protocol

# CLEAR's supplement, section 6: a linear layer, 100 epochs, learning rate 1, x0.1 after epoch 60.
PAPER = Recipe(
    model="linear",
    lr=1.0,
    momentum=0.9,
    weight_decay=0.0,
    batch_size=256,
    epochs=100,
    milestones=(0.6,),
)
# The same with 30 epochs: about a second a run.
CPU = replace(PAPER, epochs=30)
# One pass, ten samples at a time: the learning rate cannot decay with an end that nobody knows.
ONLINE = replace(PAPER, momentum=0.0, batch_size=10, epochs=1, milestones=(), memory_size=1000)
# Section 6 again: two layers learn at a tenth of the rate.
MLP_PAPER = replace(PAPER, model="mlp", lr=0.1)
MLP_ONLINE = replace(ONLINE, model="mlp", lr=0.1)
# Section 6: 70 epochs, x0.1 every 30; resized to the shorter edge, random crop and flip.
RESNET_PAPER = Recipe(
    model="resnet18",
    lr=0.01,
    momentum=0.9,
    weight_decay=1e-5,
    batch_size=64,
    epochs=70,
    milestones=(30 / 70, 60 / 70),
    augment="random_crop_flip",
)
# On emoji of 32 pixels, about a minute a run.
RESNET_CPU = replace(RESNET_PAPER, epochs=1, batch_size=32, milestones=(0.6,), augment="none")
RESNET_ONLINE = replace(ONLINE, model="resnet18", lr=0.01)

RECIPES: Mapping[str, Mapping[str, Recipe]] = {
    "linear": {"cpu": CPU, "paper": PAPER},
    "mlp": {"cpu": replace(MLP_PAPER, epochs=CPU.epochs), "paper": MLP_PAPER},
    "resnet18": {"cpu": RESNET_CPU, "paper": RESNET_PAPER},
}
_ONLINE = {"linear": ONLINE, "mlp": MLP_ONLINE, "resnet18": RESNET_ONLINE}


def recipes_for(
    model: str, protocol: Protocol, features: str | None = None
) -> Mapping[str, Recipe]:
    """Return the recipes of a model by name, as this protocol can use them.

    A model that CLEAR does not have is trained as ``resnet18`` is, if it reads images, and
    otherwise as ``mlp``; see `reads_images`. Online there is one pass, whatever the recipe is
    called.
    """
    like = model if model in RECIPES else ("resnet18" if reads_images(model, features) else "mlp")
    offline = RECIPES[like]
    found = offline if protocol.batch is None else dict.fromkeys(offline, _ONLINE[like])
    return {name: replace(recipe, model=model) for name, recipe in found.items()}


def reads_images(model: str, features: str | None = None) -> bool:
    """Whether a model that names the class of a sample reads images, or numbers.

    A model that reads either reads images where these are the features: ``image``.
    """
    reads = model_giving("classes", model).reads
    return reads == "images" or (reads == "numbers or images" and features == IMAGE)
