"""Which models and methods the check of a device runs, and on which tiny benchmarks."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from onward.benchmarks.variants import Cut
from onward.checks.tiny import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.errors import OnwardError
from onward.methods import METHODS
from onward.models import MODELS, find_model
from onward.types import Benchmark, Protocol, Stream, Table

_PLAN: Mapping[str, tuple[str, ...]] = {
    "linear": ("finetune", "er", "ewc", "si", "lwf", "agem", "gdumb", "cwr"),
    "mlp": ("finetune", "bic"),
    "convnet": ("finetune", "er", "ewc", "lwf", "agem", "icarl_norm", "lucir", "pretrain_probe"),
    "resnet32": ("finetune", "er"),
    "timm:mobilenetv3_small_050": ("finetune",),
    "small_rcnn": ("finetune", "er", "d2", "d3"),
    "clip_small": ("finetune", "cumulative", "patching", "lwf"),
}
_LARGE: Mapping[str, tuple[str, ...]] = {"resnet18": ("finetune",)}
# With fewer pixels, a deep network has next to nothing to normalize in its last layers.
_SIDES = {"resnet32": 32, "resnet18": 224}
# Two periods have a past, and two calls of learn beside each other.
_PERIODS = 2
_SMALL_STEP = 0.1
_CLASSIFIER: Mapping[str, Any] = {"epochs": 1, "batch_size": 8}
# What suits a linear layer makes deep networks diverge, and differences with them.
_DEEP: Mapping[str, Any] = {**_CLASSIFIER, "lr": 0.01, "augment": "padded_crop_flip"}
_RATES = {"resnet32": 0.001, "resnet18": 0.001}
_DETECTOR: Mapping[str, Any] = {"epochs": 1, "first_epochs": 1, "batch_size": 2}


@dataclass(frozen=True)
class Case:
    """A model and a method; ``data`` says what they learn from."""

    model: str
    method: str
    image_size: int | None = None

    @property
    def data(self) -> str:
        """What the tiny benchmark has."""
        if self.missing and self.model not in MODELS:
            return "images"  # what those packages have models of
        card = find_model(self.model)
        if card.gives == "boxes":
            return "boxes"
        if card.gives == "directions":
            return "pairs"
        return "points" if card.reads == "numbers" else "images"

    @property
    def missing(self) -> list[str]:
        """The packages that it takes and that are not installed."""
        source, colon, _ = self.model.partition(":")
        vision = source in ("timm", "torchvision") or (
            self.model in MODELS and MODELS[self.model].gives == "boxes"
        )
        needed = ["torchvision"] * vision + [source] * (bool(colon) and source == "timm")
        return [name for name in needed if importlib.util.find_spec(name) is None]

    def short_benchmark(self) -> Benchmark:
        """Return the same with two small steps in a call, in which rounding errors do not grow."""
        made = self.benchmark()
        recipe = made.recipes[made.recipe]
        recipe = replace(recipe, max_steps=2, lr=recipe.lr * _SMALL_STEP)
        return replace(made, recipes={made.recipe: recipe})

    def benchmark(self) -> Benchmark:
        """Return the tiny benchmark, with as many periods as the check takes."""
        make = {"boxes": tiny_boxes, "pairs": tiny_pairs}.get(self.data, tiny_benchmark)
        made = make() if self.data != "images" else tiny_benchmark(model="convnet")
        changes: Mapping[str, Any] = {"boxes": _DETECTOR, "pairs": {}, "images": _DEEP}.get(
            self.data, _CLASSIFIER
        )
        recipe = replace(made.recipes[made.recipe], model=self.model, **changes)
        recipe = replace(recipe, lr=_RATES.get(self.model, recipe.lr))
        if self.image_size is not None:
            recipe = replace(recipe, image_size=self.image_size)
        cut = partial(_shortened, cut=made.cut)
        return replace(made, cut=cut, recipes={made.recipe: recipe})

    def __str__(self) -> str:
        return f"{self.model}, {self.method}"


def _shortened(table: Table, protocol: Protocol, seed: int, *, cut: Cut) -> Stream:
    return cut(table, protocol, seed)[:_PERIODS]


def cases(models: Sequence[str], methods: Sequence[str], *, quick: bool, large: bool) -> list[Case]:
    """Return what to run: the default plan, or any models and methods that fit each other.

    Parameters
    ----------
    models, methods
        Names; none stand for those of the plan.
    quick
        Whether each model has one method.
    large
        Whether the plan has a network on large images too.

    Examples
    --------
    >>> [str(case) for case in cases(["mlp"], [], quick=False, large=False)]
    ['mlp, finetune', 'mlp, bic']
    """
    for name in methods:
        METHODS.find(name)
    for name in models:
        if not Case(name, "finetune").missing:
            find_model(name)
    plan = {**_PLAN, **_LARGE} if large else _PLAN
    found = [
        Case(model, method, None if model in models else _SIDES.get(model))
        for model in models or plan
        for method in methods or plan.get(model, ("finetune", "er"))
    ]
    fitting = [case for case in found if not methods or _fits(case)]
    if not fitting:
        raise OnwardError(
            f"expected methods that fit one of the models, found none of {', '.join(methods)} that "
            f"fits {', '.join(models) or 'those of the check'}. See: onward list grid"
        )
    if quick:
        fitting = list({case.model: case for case in reversed(fitting)}.values())[::-1]
    return fitting


def _fits(case: Case) -> bool:
    if case.missing:
        return True
    return METHODS[case.method].misfit(*case.benchmark().lacking) is None
