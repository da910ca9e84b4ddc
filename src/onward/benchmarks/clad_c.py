"""CLAD-C: which object is this, on one drive through days and nights.

Verwimp et al., CLAD: A realistic Continual Learning benchmark for Autonomous Driving, Neural
Networks 2023. Objects are cut out of a dash camera's frames and come in order of time, ten at a
time. The mix of classes swings with day and night; nobody says when. One test of all days and
places is given after each of the six days and nights.

Why: On a drive, samples come once, in an order that nobody chose.

Known problems: Emoji Street is a miniature; with few tricycles, a class that weighs as much as any
other rests on few samples.
"""

import hashlib
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from onward.benchmarks.clad_data import (
    SODA,
    STREET,
    TEST,
    card_of,
    frames_option,
    inspect_clad,
    require_judge,
    soda_of,
)
from onward.benchmarks.clad_recipes import OBJECT_RECIPES
from onward.benchmarks.listed import Listed
from onward.benchmarks.parts import model_giving, numbers_of_classes, unusual, with_weights
from onward.benchmarks.progress import reading_images
from onward.data.cache import cache_folder
from onward.data.clad_crops import crops
from onward.data.clad_sets import DAYS_AND_NIGHTS, clad_c
from onward.data.soda import Soda, is_soda, values
from onward.data.soda_words import CATEGORIES, DOMAINS
from onward.errors import OnwardError
from onward.fit import NEW_CLASSES
from onward.protocols import DRIVING
from onward.table import images_as_inputs
from onward.tasks.one_label import OneLabel
from onward.types import Array, Benchmark, Period, Protocol, Samples, Stream, Table

_SUMMARY = "Which object is this, on one drive through days and nights?"
CLASSES = tuple(CATEGORIES.values())
_SIZES = {"cpu": 32, "paper": 64}
_BOX = ("x", "y", "w", "h")


def load(
    data: str = STREET,
    protocol: str = "online",
    recipe: str = "cpu",
    *,
    model: str | None = None,
    weights: str | None = None,
    size: int | None = None,
    judge: str = TEST,
    min_area: float = 1024,
    drop_occluded: int | None = 0,
    curve: int | None = None,
    frames: int | None = None,
) -> Benchmark:
    """Load CLAD-C: Emoji Street, or SODA10M from a folder, see ``docs/benchmarks/clad_data.md``.

    Parameters
    ----------
    data
        ``street``, which is drawn when it is first asked for, or a folder with ``SSLAD-2D``.
    protocol
        ``online``, with the rules of the challenge, or ``joint``.
    recipe
        ``paper``, or ``cpu``, which trains a small network from scratch.
    model
        What is trained; by default what the recipe says.
    weights
        A file with the weights that it starts from: the paper's are torchvision's of ImageNet.
    size
        The side of the crops: by default 32 with ``cpu``, as the paper says, and 64 with ``paper``,
        as both released codes have it.
    judge
        What is tested: the ``test`` part, or the ``validation`` part.
    min_area
        Smaller objects are left out: pixels of a frame of 1,920 x 1,080.
    drop_occluded
        Objects whose field ``occluded`` has this value are left out, see `clad_c`; None or -1
        keeps all of them.
    curve
        Test also after every so many objects, for the area below the accuracy curve.
    frames
        Of Emoji Street: about how many frames.
    """
    require_judge("clad-c", judge)
    if model is not None:
        model_giving("classes", model)
    side = _SIZES[recipe] if size is None else size
    name, soda = soda_of(data, frames)
    # The command line has no None.
    occluded = -1 if drop_occluded is None else drop_occluded
    objects = clad_c(soda, min_area=min_area, drop_occluded=None if occluded < 0 else occluded)
    for part in ("train", judge):
        if not (values(objects, "set") == part).any():
            raise OnwardError(
                f"expected objects in the {part} part of {soda.folder}, found none that is large "
                "enough and not left out. See: onward check data clad --root DIR"
            )
    table = _table(soda, objects, side)
    asked = unusual(
        load,
        judge=judge,
        min_area=float(min_area),
        drop_occluded=occluded,
        frames=frames_option(frames),
    )
    recipes, started_from = with_weights(OBJECT_RECIPES.of(protocol, model), recipe, weights)
    return Benchmark(
        name="clad-c",
        data=name,
        card=card_of(name, "CLAD-C", _SUMMARY, _numbers(objects), ("drive",)),
        task=OneLabel(),
        protocol=replace(DRIVING[protocol], curve=curve),
        raw=table,
        prepare=images_as_inputs,
        cut=partial(cut_drive, judge=judge),
        recipes=recipes,
        recipe=recipe,
        files=(soda.folder, cache_folder()),
        # The size of the crops is always told.
        options={"size": side, **asked, **started_from},
    )


def _table(soda: Soda, objects: pa.Table, size: int) -> Table:
    boxes = np.column_stack([objects.column(name).to_numpy() for name in _BOX])
    digest = _digest(soda, objects)
    with reading_images("cutting objects out of frames") as watch:
        images = crops(
            soda.folder, objects.column("path").to_pylist(), boxes, size, digest[:16], watch
        )
    columns = objects.select(["id", "time", "label", "set", "number", *DOMAINS])
    # Frames of one drive show the same objects: they must not be on both sides of a split.
    columns = columns.append_column("group", objects.column("video"))
    # No column is shown: the hour would tell where a day ends.
    return Table(columns, {"image": images}, digest=digest, shown=())


def _digest(soda: Soda, objects: pa.Table) -> str:
    """Hash the annotations and what was chosen out of them."""
    chosen = "\n".join(objects.column("id").to_pylist())
    return hashlib.sha256((soda.digests + chosen).encode()).hexdigest()


def cut_drive(table: Table, protocol: Protocol, seed: int, *, judge: str) -> Stream:
    """Cut the drive into days and nights; no seed changes them. `judge` is the tested part."""
    labels = numbers_of_classes(table.values("label"), CLASSES)
    number, part = table.values("number"), table.values("set")

    def samples(chosen: Array) -> Samples:
        rows = np.flatnonzero(chosen)
        return Samples(rows, labels[rows])

    nothing = samples(number < -1)
    periods = tuple(
        Period(place, _named(day, light), day, day, samples(number == place), nothing, CLASSES)
        for place, (day, light) in enumerate(DAYS_AND_NIGHTS)
    )
    return Stream(table, periods, {TEST: samples(part == judge)})


def _named(day: date, light: str) -> str:
    return f"{day:%m-%d} {'day' if light == 'Daytime' else 'night'}"


def _numbers(objects: pa.Table) -> dict[str, Any]:
    part = values(objects, "set")
    labels = values(objects, "label")[part == "train"]
    return {
        "objects": {name: int((part == name).sum()) for name in ("train", "validation", TEST)},
        "training objects by class": {name: int((labels == name).sum()) for name in CLASSES},
    }


LISTED = Listed(
    name="clad-c",
    load=load,
    summary=_SUMMARY,
    task=OneLabel(),
    data=(STREET, "a folder with SODA10M's SSLAD-2D"),
    protocols=DRIVING,
    usual=STREET,
    lacks={NEW_CLASSES: "all its classes are there from the start"},
    reads=is_soda,
    official=("clad", "SSLAD-2D"),
    inspect=inspect_clad,
    data_affix=f"^{SODA}",
)
