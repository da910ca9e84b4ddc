"""How TiC-CLIP's models are trained, and what that costs: the paper's scales, and a laptop's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from onward.errors import unknown
from onward.train.recipe import Recipe

PAIR_MACS: Mapping[str, int] = {
    "clip_small": 2_117_888,
    "clip_vit_b16": 20_543_223_808,
    "clip_vit_b32": 7_388_581_888,
}
"""Forward multiply-accumulates of one pair, image and text tower, by model; counted, see tests."""

BOTH_WAYS = 3
"""How many forward passes training takes: a backward one is about two."""

# OpenCLIP's: AdamW, weight decay on matrices alone, a cosine in every period, a fresh optimiser for
# each, shards drawn with replacement, random parts of at least 90 % cut out of images.
_PAPER = Recipe(
    model="clip_vit_b16",
    optimizer="adamw",
    lr=5e-4,
    betas=(0.9, 0.98),
    eps=1e-6,
    weight_decay=0.2,
    no_decay=True,
    batch_size=8192,
    epochs=1,
    max_steps=5_000,
    replacement=True,
    schedule="cosine",
    warmup_steps=500,
    augment="random_resized_crop",
)


USUAL_MORE = 1.3
"""How many times the budget Cumulative-All* spends, at most scales and here."""


@dataclass(frozen=True)
class Scale:
    """A size at which the paper keeps CLIP fresh.

    Parameters
    ----------
    title
        What it is called there.
    periods
        How many years, or steps of several, are learned.
    recipe
        How.
    published
        The compute of a method that stays within the budget, as it is printed.
    more
        How many times the budget Cumulative-All* spends there, by what is printed of both.
    """

    title: str
    periods: int
    recipe: Recipe
    published: float
    more: float = USUAL_MORE


SCALES: Mapping[str, Scale] = {
    "yfcc": Scale("TiC-YFCC", 4, _PAPER, 3.4e18, 1.06),
    "redcaps": Scale("TiC-RedCaps", 4, _PAPER, 3.4e18, 1.06),
    # By the paper; the released configuration has ViT-B/32, 4,500 iterations and twice the rate.
    "datacomp-m": Scale("TiC-DataComp (M)", 7, replace(_PAPER, batch_size=4096, lr=2.5e-4), 3.0e18),
    "datacomp-l": Scale("TiC-DataComp (L)", 7, replace(_PAPER, max_steps=22_500), 2.7e19, 1.52),
    # The paper prints batches of 90,100 and a later warm-up of a tenth; its runs have 90,112.
    "datacomp-xl": Scale(
        "TiC-DataComp (XL)",
        7,
        replace(
            _PAPER,
            batch_size=90_112,
            lr=1e-3,
            max_steps=20_500,
            warmup_steps=10_000,
            next_warmup_steps=1_000,
        ),
        2.7e20,
    ),
}
RELEASED_M = replace(_PAPER, model="clip_vit_b32", batch_size=4096, lr=5e-4, max_steps=4_500)
"""What the released configuration of the scale M says, which the paper's numbers are not from."""

# From scratch, on drawings of 32 pixels: a quarter of a minute a period.
SMALL = replace(
    _PAPER,
    model="clip_small",
    lr=5e-3,
    weight_decay=0.1,
    batch_size=128,
    max_steps=234,
    replacement=False,
    warmup_steps=23,
    augment="random_affine",
)
USUAL_SCALE = "yfcc"


def recipes_of(scale: str, model: str | None, weights: str | None) -> Mapping[str, Recipe]:
    """Return the recipes at a scale, with another model or with weights to start from."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES, "docs/benchmarks/tic_guide.md")
    if model is not None and model not in PAIR_MACS:
        raise unknown("model of images and texts", model, PAIR_MACS, "docs/benchmarks/tic_guide.md")
    found = {"cpu": SMALL, "paper": SCALES[scale].recipe}
    if scale == "datacomp-m":
        found["released"] = RELEASED_M
    return {
        name: replace(recipe, model=model or recipe.model, weights=weights)
        for name, recipe in found.items()
    }


def in_parts(recipe: Recipe, periods: int, parts: int) -> Recipe:
    """Return a recipe that spends on parts what another one spends on periods."""
    return replace(recipe, max_steps=round((recipe.max_steps or 0) * periods / parts))


def macs_of_a_period(recipe: Recipe) -> int:
    """Return the compute that a method may spend on each period."""
    iterations = recipe.max_steps or 0
    return PAIR_MACS[recipe.model] * recipe.batch_size * iterations
