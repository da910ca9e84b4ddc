"""CLAD-D: what is where in a frame, as a detector meets one domain after the other.

Verwimp et al., CLAD, Neural Networks 2023: city streets by day, then highways, nights, and rain.
All four are tested after each; nobody says at test time which domain a frame is of.

Why: A detector meets the night after it has learned the day.

Known problems: Rain by day brings part of the city back, so the end understates what was lost: look
at the matrix.
"""

import hashlib
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from onward.benchmarks.clad_c import CLASSES
from onward.benchmarks.clad_data import (
    SODA,
    STREET,
    TEST,
    card_of,
    frames_option,
    require_judge,
    soda_of,
)
from onward.benchmarks.clad_recipes import BOX_RECIPES
from onward.benchmarks.listed import Listed
from onward.benchmarks.parts import model_giving, unusual, with_weights
from onward.benchmarks.progress import reading_images
from onward.data.cache import cache_folder
from onward.data.clad_crops import Frames
from onward.data.clad_sets import DOMAINS_OF_IMAGES, clad_d
from onward.data.soda import Soda, values
from onward.data.soda_words import DOMAINS
from onward.errors import OnwardError
from onward.fit import NEW_CLASSES
from onward.protocols import DETECTION
from onward.table import images_as_inputs
from onward.tasks.boxes import Boxes, padded
from onward.types import Array, Benchmark, Period, Protocol, Samples, Stream, Table

_SUMMARY = "What is where in a frame, in the city, on the highway, at night, in the rain?"
_PICTURES = ("domain_matrix", "class_precision")


def load(
    data: str = STREET,
    protocol: str = "domains",
    recipe: str = "cpu",
    *,
    model: str | None = None,
    weights: str | None = None,
    size: int | None = None,
    judge: str = TEST,
    frames: int | None = None,
) -> Benchmark:
    """Load CLAD-D: Emoji Street, or SODA10M from a folder, see ``docs/benchmarks/clad_data.md``.

    Parameters
    ----------
    data
        ``street``, which is drawn when it is first asked for, or a folder with ``SSLAD-2D``.
    protocol
        ``domains`` or ``joint``.
    recipe
        ``paper``, Faster R-CNN with a ResNet-50, or ``cpu``, with a small network.
    model
        Which detector; by default what the recipe says.
    weights
        A file with the weights that it starts from.
    size
        The height that frames are resized to; by default they stay as they are.
    judge
        What is tested: the ``test`` part, or the ``validation`` part.
    frames
        Of Emoji Street: about how many frames.
    """
    require_judge("clad-d", judge)
    if model is not None:
        model_giving("boxes", model)
    name, soda = soda_of(data, frames)
    images = clad_d(soda)
    if not len(images):
        raise OnwardError(f"expected frames with boxes in {soda.folder}, found none")
    _require_tests(soda, images, judge)
    asked = unusual(load, size=size, judge=judge, frames=frames_option(frames))
    recipes, started_from = with_weights(BOX_RECIPES.of(protocol, model), recipe, weights)
    return Benchmark(
        name="clad-d",
        data=name,
        card=card_of(name, "CLAD-D", _SUMMARY, _numbers(images), _PICTURES),
        task=Boxes(),
        protocol=DETECTION[protocol],
        raw=_table(soda, images, size),
        prepare=images_as_inputs,
        cut=partial(cut_domains, judge=judge),
        recipes=recipes,
        recipe=recipe,
        files=(soda.folder, cache_folder()),
        options=asked | started_from,
    )


def _require_tests(soda: Soda, images: pa.Table, judge: str) -> None:
    """Raise if a domain has nothing to test with: it has no score, and no metric has a value."""
    tested = values(images, "domain")[values(images, "set") == judge]
    for number, domain in enumerate(DOMAINS_OF_IMAGES):
        if number not in tested:
            split = "test" if judge == TEST else domain.split
            path = soda.folder / "annotations" / f"instance_{split}.json"
            raise OnwardError(
                f"expected frames with boxes in the {judge} part of every domain, found none of "
                f"{domain.name} in {path}. Add some, or fetch it again. See: onward check data "
                "clad --root DIR"
            )


def _table(soda: Soda, images: pa.Table, size: int | None) -> Table:
    width, height = int(images.column("width")[0].as_py()), int(images.column("height")[0].as_py())
    scale = 1.0 if size is None else size / height
    shape = (round(height * scale), round(width * scale))
    digest = hashlib.sha256(soda.digests.encode()).hexdigest()
    column = Frames(soda.folder, images.column("path").to_pylist(), shape)
    with reading_images("reading frames") as watch:
        found = column.at_hand(digest[:16], watch)
    scales = (
        shape[1] / images.column("width").to_numpy(),
        shape[0] / images.column("height").to_numpy(),
    )
    columns = images.select(["id", "time", "set", "domain", *DOMAINS])
    columns = columns.append_column("boxes", pa.array(_boxes(images, scales)))
    columns = columns.append_column("group", images.column("video"))
    return Table(columns, {"image": found}, digest=digest, shown=("time",))


def _boxes(images: pa.Table, scales: tuple[Array, Array]) -> list[list[list[float]]]:
    """Return the boxes of each image as rows of class, corners and crowd, in pixels of the input.

    One column holds all of a box, so that whoever replaces a future replaces whole boxes.
    """
    found = []
    rows = zip(
        *(images.column(name).to_pylist() for name in ("labels", "boxes", "iscrowd")),
        *scales,
        strict=True,
    )
    for labels, boxes, crowds, across, down in rows:
        found.append(
            [
                [label - 1.0, x1 * across, y1 * down, x2 * across, y2 * down, float(crowd)]
                for label, (x1, y1, x2, y2), crowd in zip(labels, boxes, crowds, strict=True)
            ]
        )
    return found


def cut_domains(table: Table, protocol: Protocol, seed: int, *, judge: str) -> Stream:
    """Return the four domains: no seed changes them. `judge` is the tested part."""
    boxes = padded([np.array(rows) for rows in table.columns.column("boxes").to_pylist()])
    domain, part = table.values("domain"), table.values("set")

    def samples(number: int, name: str) -> Samples:
        rows = np.flatnonzero((domain == number) & (part == name))
        return Samples(rows, boxes[rows])

    periods = tuple(
        Period(
            index=number,
            name=each.name,
            start=None,
            end=None,
            train=samples(number, "train"),
            test=samples(number, judge),
            classes=CLASSES,
        )
        for number, each in enumerate(DOMAINS_OF_IMAGES)
    )
    return Stream(table, periods)


def _numbers(images: pa.Table) -> dict[str, Any]:
    part, domain = values(images, "set"), values(images, "domain")
    return {
        "frames": {name: int((part == name).sum()) for name in ("train", "validation", TEST)},
        "training frames by domain": {
            each.name: int(((part == "train") & (domain == number)).sum())
            for number, each in enumerate(DOMAINS_OF_IMAGES)
        },
    }


LISTED = Listed(
    name="clad-d",
    load=load,
    summary=_SUMMARY,
    task=Boxes(),
    data=(STREET, "a folder with SODA10M's SSLAD-2D"),
    protocols=DETECTION,
    usual=STREET,
    lacks={NEW_CLASSES: "all its classes are there from the start"},
    data_affix=f"^{SODA}",
)
