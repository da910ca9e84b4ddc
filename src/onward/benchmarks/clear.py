"""CLEAR: dated buckets, always tested on the near future.

Lin, Shi, Pathak and Ramanan, The CLEAR Benchmark: Continual LEArning on Real-World Imagery,
NeurIPS 2021 Datasets and Benchmarks. The first bucket is unlabelled and serves pre-training; each
later one is learned in turn, and the model is tested on every bucket (iid protocol) or on those
that are still to come (streaming protocol).

Why: Photos of a thing change over the years, and a model is used on those of next year.

Known problems: The official splits deal photos and not people. On emoji, art hardly changes between
some releases.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from onward.benchmarks.backbones import load_backbone, with_backbone
from onward.benchmarks.clear_official import (
    IMAGE,
    at_rate_of,
    default_features,
    load_official,
)
from onward.benchmarks.listed import Listed
from onward.benchmarks.parts import both_sides, folder_of, samples_at, unusual, with_weights
from onward.benchmarks.recipes import reads_images, recipes_for
from onward.data.cache import cache_folder
from onward.data.clear_listing import is_clear
from onward.data.emoji_history import (
    FOLDER,
    GROUPS,
    TWEMOJI,
    card,
    group_numbers,
    load_emoji,
    release_days,
    with_features,
    with_images,
)
from onward.data.past import read_past
from onward.data.split import held_out
from onward.errors import OnwardError
from onward.fit import NEW_CLASSES
from onward.protocols import PROTOCOLS
from onward.seeds import Draws, draws
from onward.tasks.one_label import OneLabel
from onward.types import Array, Benchmark, Card, Period, Protocol, Stream, Table

_SUMMARY = "To which of nine groups does an emoji belong, as its drawing changes?"
# Side of the official photos in the cpu recipe: twelve times as fast to learn as 224 pixels.
_SMALL, _SIDE = 64, 224


def load(
    data: str,
    protocol: str,
    recipe: str = "cpu",
    *,
    model: str = "linear",
    features: str | None = None,
    size: int | None = None,
    missing: str | None = None,
    backbone: str | None = None,
    weights: str | None = None,
) -> Benchmark:
    """Load CLEAR: its emoji edition, or its official data from a folder.

    Emoji: the 2016 snapshot is the unlabelled bucket; those from 2017 to 2025 are learned in
    turn, and the nine groups of emoji are the classes. Identities are kept apart: the same
    concept is drawn in every snapshot, so a test identity is in no training view of any period.

    Parameters
    ----------
    data
        ``emoji``, or the folder of an official download, see ``docs/benchmarks/clear_data.md``.
    protocol
        ``iid``, ``streaming`` or ``online``.
    recipe
        ``paper``, or ``cpu``, which has fewer epochs.
    model
        What is trained: ``linear`` or ``mlp`` on features, ``resnet18`` on images, or any other
        classifier, see `onward.models.find_model`.
    features
        A type of features of the official data, see `load_official`; or ``image``, which is what
        ``resnet18`` needs and takes by itself. A model from a file reads either.
    size
        The side of the official data's images in pixels, 224 by default.
    missing
        Whether official images that are not there ``stop`` the loading or are left out, ``skip``.
    backbone
        A pre-trained encoder, see ``onward list backbones``, whose features of the images take the
        place of all others.
    weights
        The file or folder with the weights of the backbone or, without one, with those that the
        model starts from, see `weights_file`.
    """
    on_images = reads_images(model, features)
    if backbone is not None:
        if features is not None or size is not None or on_images:
            raise OnwardError(
                "expected no features, size or model of images beside a backbone, which reads them "
                "in its own size and gives the features. Leave them out"
            )
        reader = load_backbone(backbone, weights)
        if data == "emoji":
            drawn = load(data, protocol, recipe, model=model, missing=missing)
            return with_backbone(drawn, reader, past=first_snapshot)
        photos: dict[str, Any] = {"features": IMAGE, "size": reader.size, "missing": missing}
        images = load(data, protocol, recipe, model=model, **photos)
        # Which images the backbone reads is its own affair, and told by its name.
        others = {name: value for name, value in images.options.items() if name == "missing"}
        rates = at_rate_of(backbone, images.recipes)
        images = replace(images, recipes=rates, options=others)
        return with_backbone(images, reader)
    recipes = recipes_for(model, PROTOCOLS[protocol], features)
    recipes, started_from = with_weights(recipes, recipe, weights)
    if on_images:
        if features not in (None, IMAGE):
            raise OnwardError(
                f"expected no features for {model}, which reads images, found {features!r}. Leave "
                "them out, or choose the model linear or mlp"
            )
        features = IMAGE
    official = unusual(load, features=features, size=size, missing=missing)
    if data != "emoji":
        folder = folder_of("clear", data)
        usual: dict[str, Any] = {
            "features": IMAGE if on_images else default_features(folder),
            "size": _SMALL if on_images and recipe == "cpu" else _SIDE,
            "missing": "stop",
        }
        asked = {n: value for n, value in official.items() if value != usual[n]}
        made = load_official(folder, PROTOCOLS[protocol], recipes, recipe, **usual | official)
        return replace(made, options=asked | started_from)
    images = official.pop("features", None) == IMAGE
    if official or features not in (None, IMAGE):
        found = ", ".join(official) or f"features {features}"
        raise OnwardError(
            f"expected no {found} for the emoji edition, whose features are computed from its "
            "images of 32 pixels; that is an option of the official data"
        )
    facts = card()
    return Benchmark(
        name="clear",
        data="emoji",
        card=Card(
            title="CLEAR, emoji edition",
            summary=_SUMMARY,
            licence="art Apache-2.0 (Noto), second artist CC-BY-4.0 (Twemoji)",
            citation="Lin et al., The CLEAR Benchmark, NeurIPS 2021 Datasets and Benchmarks",
            numbers=facts["counts"],
            pictures=("class_decay", "next_period", "static"),
        ),
        task=OneLabel(),
        protocol=PROTOCOLS[protocol],
        raw=load_emoji(),
        prepare=with_images if images else with_features,
        cut=cut_emoji,
        recipes=recipes,
        recipe=recipe,
        files=(FOLDER, cache_folder()),
        options=({"features": IMAGE} if images else {}) | started_from,
    )


def first_snapshot(table: Table) -> Array:
    """Say which emoji are of the unlabelled first snapshot."""
    return np.asarray(table.values("snapshot") == 0)


def cut_emoji(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Cut the emoji history into periods, one per labelled snapshot."""
    snapshot = table.values("snapshot")
    labels = group_numbers(table.values("label"))
    test = held_out(table.values("group"), protocol.split, seed)
    # All drawings of a snapshot have one date: their order inside it is the seed's.
    order = draws(Draws.ORDER, seed).permutation(len(table))
    days = release_days(table)
    periods = []
    for index, number in enumerate(range(1, len(days))):
        here = order[snapshot[order] == number]
        learned, tested = both_sides(here, labels, test, protocol.split)
        periods.append(
            Period(
                index=index,
                name=str(days[number])[:7],
                start=days[number].item(),
                end=days[number : number + 2].max().item(),
                train=learned,
                test=tested,
                classes=GROUPS,
            )
        )
    second_artist = np.flatnonzero((snapshot == TWEMOJI) & test)
    return Stream(table, tuple(periods), {"twemoji": samples_at(second_artist, labels)})


LISTED = Listed(
    name="clear",
    load=load,
    summary=_SUMMARY,
    task=OneLabel(),
    data=("emoji", "a folder with the official download"),
    protocols=PROTOCOLS,
    lacks={NEW_CLASSES: "all its classes are there from the start"},
    with_images={"model": "convnet"},
    reads=is_clear,
    past=read_past,
    data_affix=":[^:]*$",
)
