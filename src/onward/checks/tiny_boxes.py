"""The tiny stream with boxes: discs and squares on a plain ground, by day, at dusk and at night."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.benchmarks.parts import by_time
from onward.checks.digests import digest
from onward.checks.tiny import card_of
from onward.protocols import DOMAINS
from onward.table import images_as_inputs
from onward.tasks.boxes import Boxes, padded
from onward.train.recipe import Recipe
from onward.types import Array, Benchmark, Period, Protocol, Samples, Stream, Table

CLASSES = ("disc", "square")
_LIGHT = {"day": 1.0, "dusk": 0.6, "night": 0.3}
_FIRST_YEAR = 2001
_HEIGHT, _WIDTH = 32, 48
_LEARNED, _TESTED = 5, 3
# Three at a time, which is fewer than a batch has: an online learner sees less than it would like.
ONLINE = replace(DOMAINS, name="online", tests="all", batch=3, limits={"passes": 1})
_RECIPE = Recipe(
    model="small_rcnn",
    lr=0.002,
    weight_decay=0.0,
    batch_size=4,
    epochs=2,
    first_epochs=3,
    milestones=(0.6,),
    augment="flip",
    memory_size=4,
    optimizer="adamw",
    grad_clip_norm=5.0,
)


def tiny_boxes(protocol: Protocol = DOMAINS) -> Benchmark:
    """Make a benchmark of three domains of eight small frames each, for a detector.

    Examples
    --------
    >>> stream = tiny_boxes().stream(seed=0)
    >>> [(period.name, len(period.train), len(period.test)) for period in stream]
    [('day', 5, 3), ('dusk', 5, 3), ('night', 5, 3)]
    """
    raw = _table()
    return Benchmark(
        name="tiny",
        data="frames",
        card=card_of(raw, "Tiny, with boxes", "Where are discs and squares in a small frame?"),
        task=Boxes(),
        protocol=protocol,
        raw=raw,
        prepare=images_as_inputs,
        cut=cut,
        recipes={"cpu": _RECIPE},
        recipe="cpu",
    )


def cut(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Make every light a period; seeds change the order of frames of one day."""
    boxes = padded([np.array(rows) for rows in table.columns.column("boxes").to_pylist()])
    order = by_time(table, np.random.default_rng(seed).permutation(len(table)))

    def samples(light: str, part: str) -> Samples:
        here = (table.values("light") == light) & (table.values("part") == part)
        rows = order[here[order]]
        return Samples(rows, boxes[rows])

    periods = [
        Period(
            index=index,
            name=light,
            start=date(_FIRST_YEAR + index, 1, 1),
            end=date(_FIRST_YEAR + index, 12, 31),
            train=samples(light, "train"),
            test=samples(light, "test"),
            classes=CLASSES,
        )
        for index, light in enumerate(_LIGHT)
    ]
    return Stream(table, tuple(periods))


def _table() -> Table:
    rng = np.random.default_rng(22)
    rows, images = [], []
    for year, (light, factor) in enumerate(_LIGHT.items(), start=_FIRST_YEAR):
        for number in range(_LEARNED + _TESTED):
            image, boxes = _frame(rng)
            images.append((image * factor).astype(np.uint8))
            rows.append(
                {
                    "id": f"{light}-{number}",
                    # Two frames a day.
                    "time": date(year, 1, 1) + timedelta(number // 2),
                    "light": light,
                    "part": "train" if number < _LEARNED else "test",
                    "group": f"{light}-{number}",
                    "boxes": boxes,
                }
            )
    columns = pa.Table.from_pylist(rows)
    wide = np.stack(images)
    return Table(columns, {"image": wide}, digest(repr(rows), wide))


def _frame(rng: np.random.Generator) -> tuple[Array, list[list[float]]]:
    """Draw a frame with one to three things on it, and say what is where."""
    image: NDArray[np.float64] = np.full((_HEIGHT, _WIDTH, 3), 120.0)
    image += rng.normal(scale=8, size=image.shape)
    down, across = np.mgrid[:_HEIGHT, :_WIDTH] + 0.5
    boxes = []
    for _ in range(int(rng.integers(1, 4))):
        kind, radius = int(rng.integers(2)), float(rng.integers(4, 7))
        y, x = rng.integers(7, _HEIGHT - 7), rng.integers(7, _WIDTH - 7)
        measure, colour = ((np.hypot, (230, 60, 40)), (np.maximum, (40, 80, 220)))[kind]
        image[measure(abs(down - y), abs(across - x)) < radius] = colour
        boxes.append([kind, x - radius, y - radius, x + radius, y + radius, 0.0])
    return image.clip(0, 255), [[float(value) for value in box] for box in boxes]
