"""IIRC: coarse labels first, finer ones later, and only the new one of them shown.

Abdelsalam, Faramarzi, Sodhani and Chandar, IIRC: Incremental Implicitly-Refined Classification,
CVPR 2021. A sample is first a bear; in a later period it comes again as a polar bear, and nobody
says that it still is a bear. The judge knows both.

Why: In the world labels are refined, and nobody goes back to complete the old ones.

Known problems: Scores depend on the order of classes by up to 20 points: compare methods on the
same seeds.
"""

import hashlib
import os
from dataclasses import replace
from functools import partial

from onward.benchmarks.iirc_data import (
    IMAGE,
    described,
    is_iirc,
    planned,
    preparing,
    read,
    recognised,
    require_own,
)
from onward.benchmarks.iirc_recipes import recipes_for
from onward.benchmarks.iirc_stream import Plan, cut_iirc
from onward.benchmarks.iirc_yours import split
from onward.benchmarks.listed import Listed
from onward.benchmarks.parts import HASHED, model_giving, unusual, with_weights
from onward.data.cache import cache_folder
from onward.data.emoji_history import FOLDER
from onward.errors import OnwardError
from onward.protocols import MANY_LABELS
from onward.tasks.many_labels import ManyLabels
from onward.types import Benchmark, Released

__all__ = ["LISTED", "load", "split"]

_SUMMARY = "Which labels has a picture, as classes are refined and only new labels are shown?"
MODELS = {"emoji": "mlp", "cifar": "resnet32", "imagenet": "resnet50"}


def load(
    data: str,
    protocol: str,
    recipe: str = "cpu",
    *,
    model: str | None = None,
    weights: str | None = None,
    configuration: int | None = None,
    edition: str | None = None,
    incremental: bool = False,
    subclasses_only: bool = False,
    judge: str = "test",
    hierarchy: str | os.PathLike[str] | None = None,
    validation: float | None = None,
    subgroups: str | None = None,
    features: str | None = None,
    size: int | None = None,
    order: str | None = None,
) -> Benchmark:
    """Load IIRC: its emoji edition, CIFAR-100 or ImageNet from a folder.

    See ``docs/benchmarks/iirc_guide.md``.

    Parameters
    ----------
    data
        ``emoji``; a folder with ``cifar-100-python``; or one with images by class, in ``train``
        and ``val``.
    protocol
        ``incomplete``, ``complete`` or ``joint``.
    recipe
        ``paper``, or ``cpu``, which has fewer epochs.
    model
        What is trained; by default ``mlp`` on features, ``resnet32`` on images of 32 pixels,
        ``resnet50`` on larger ones. Any other classifier is trained as these are, see
        `onward.models.find_model`.
    weights
        A file or folder with the weights that the model starts from, see `weights_file`.
    configuration
        Which order of classes; by default that of the seed.
    edition
        Of ImageNet: ``full``, or ``lite``, which has ten periods.
    incremental
        Plain class-incremental learning, as released beside IIRC: no superclasses.
    subclasses_only
        The same stream, from which superclasses are left out.
    judge
        What is tested: the ``test`` part, or the ``validation`` part that is held back for it.
    hierarchy
        A JSON file with a hierarchy of your own, in place of the released one.
    validation
        The share of the training samples that is held back for validation, twice.
    subgroups
        Of emoji: ``chosen``, or ``all`` that are large enough.
    features
        Of emoji: ``image`` for their pixels in place of hand-made features.
    size
        Of images in folders: their side.
    order
        Of images in folders, inside a class: ``released``, see `released_order`, or ``sorted``.
    """
    asked = unusual(
        load,
        configuration=configuration,
        edition=edition,
        incremental=incremental,
        subclasses_only=subclasses_only,
        judge=judge,
        hierarchy=None if hierarchy is None else str(hierarchy),
        validation=None if validation is None else float(validation),
        subgroups=subgroups,
        features=features,
        size=size,
        order=order,
    )
    kind, folder = recognised(data)
    require_own(kind, asked)
    reads_features = kind == "emoji" and features != IMAGE
    usual = MODELS["cifar"] if features == IMAGE else MODELS[kind]
    model = model or usual
    inputs = "numbers" if reads_features else "images"
    if inputs not in model_giving("classes", model).reads:
        found = "features" if reads_features else "images"
        raise OnwardError(
            f"expected a model that reads {found}, found {model}. Of emoji, mlp "
            "reads features, all others read features=image"
        )
    recipes, started_from = with_weights(recipes_for(model, like=usual), recipe, weights)
    plan = planned(kind, asked)
    table = read(kind, folder, plan, asked)
    # As many splits as there are orders of classes.
    splits = 1 if configuration is not None else len(plan.released) or None
    return Benchmark(
        name="iirc",
        data="emoji" if folder is None else f"{kind}:{folder.resolve().name}",
        card=described(kind, _SUMMARY, table, plan),
        task=ManyLabels(),
        protocol=replace(MANY_LABELS[protocol], split=Released(splits)),
        raw=table,
        prepare=preparing(kind, asked),
        cut=partial(cut_iirc, plan=plan),
        recipes=recipes,
        recipe=recipe,
        files=(FOLDER, cache_folder()) if folder is None else (folder,),
        options=asked | (_identity(plan) if "hierarchy" in asked else {}) | started_from,
    )


def _identity(plan: Plan) -> dict[str, str]:
    """Return what tells a hierarchy from another one in a file of the same name."""
    content = repr((plan.classes, plan.released)).encode()
    return {"hierarchy": f"{HASHED}{hashlib.sha256(content).hexdigest()[:16]}"}


LISTED = Listed(
    name="iirc",
    load=load,
    summary=_SUMMARY,
    task=ManyLabels(),
    data=("emoji", "a folder with cifar-100-python", "a folder of images by class: ImageNet"),
    protocols=MANY_LABELS,
    with_images={"model": "resnet32", "features": "image"},
    reads=is_iirc,
    data_affix="^(cifar|imagenet):",
)
