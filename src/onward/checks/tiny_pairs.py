"""The tiny stream of pairs: shapes of a colour and what they are called, lighter year by year."""

from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.benchmarks.parts import by_time
from onward.benchmarks.tic_recipes import macs_of_a_period
from onward.checks.digests import digest
from onward.checks.tiny import card_of
from onward.data.bags import ZERO_SHOT, retrieval_test, zero_shot_test
from onward.pairs import made_pairs, pair_type
from onward.protocols import BUDGET
from onward.tasks.image_text import ImageText
from onward.train.recipe import Recipe
from onward.types import Array, Benchmark, Period, Protocol, Samples, Stream, Table

SHAPES = ("disc", "square")
_COLOURS = {"red": (220, 40, 40), "green": (40, 180, 60), "blue": (50, 70, 220)}
_YEARS = (2001, 2002, 2003)
_SIDE, _TEXT = 32, 48
_LEARNED, _TESTED, _JUDGED = 12, 6, 4
_RECIPE = Recipe(
    model="clip_small",
    lr=0.01,
    weight_decay=0.1,
    batch_size=8,
    epochs=1,
    max_steps=4,
    schedule="cosine",
    warmup_steps=1,
    memory_size=8,
    optimizer="adamw",
    betas=(0.9, 0.98),
    no_decay=True,
)


def tiny_pairs(protocol: Protocol = BUDGET) -> Benchmark:
    """Make a benchmark of three years of twelve pairs each, tested by finding six more.

    The budget of a year is what the recipe spends.

    Examples
    --------
    >>> stream = tiny_pairs().stream(seed=0)
    >>> [(period.name, len(period.train), len(period.test)) for period in stream]
    [('2001', 12, 12), ('2002', 12, 12), ('2003', 12, 12)]
    """
    raw = _table()
    limits = {"macs": float(macs_of_a_period(_RECIPE)), **protocol.limits}
    return Benchmark(
        name="tiny",
        data="pairs",
        card=card_of(raw, "Tiny, of images and texts", "Which words go with which shape?"),
        task=ImageText(),
        protocol=replace(protocol, limits=limits),
        raw=raw,
        prepare=_with_pairs,
        cut=cut,
        recipes={"cpu": _RECIPE},
        recipe="cpu",
    )


def cut(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Make every year a period; seeds change the order of its pairs."""
    kind, year, number = (table.values(name) for name in ("kind", "year", "number"))
    label = table.values("shape")
    rng = np.random.default_rng(seed)
    order = by_time(table, rng.permutation(len(table)))
    dealt = rng.permutation(_LEARNED + _TESTED + _JUDGED)
    parts = np.split(dealt, [_LEARNED, _LEARNED + _TESTED])
    prompts = np.flatnonzero(kind == "prompt")

    def rows(wanted: str, when: int, which: Array) -> Array:
        here = (kind == wanted) & (year == when) & np.isin(number, which)
        return np.asarray(order[here[order]])

    def asked(when: int, which: Array) -> Samples:
        images, texts = (rows(side, when, which) for side in ("image", "text"))
        return retrieval_test(images, texts, np.arange(len(images)), rng)

    periods = []
    for index, when in enumerate(_YEARS):
        learned, images = rows("pair", when, parts[0]), rows("image", when, parts[1])
        periods.append(
            Period(
                index=index,
                name=str(when),
                start=date(when, 1, 1),
                end=date(when, 12, 31),
                train=Samples(learned, label[learned]),
                test=asked(when, parts[1]),
                classes=SHAPES,
                validation=asked(when, parts[2]),
                more={ZERO_SHOT: zero_shot_test(images, label[images], prompts, rng)},
            )
        )
    return Stream(table, tuple(periods))


def _with_pairs(table: Table) -> Table:
    kind, images = table.values("kind"), np.asarray(table.wide["image"])
    pairs = made_pairs(
        pair_type((_SIDE, _SIDE, 3), _TEXT), images, table.columns.column("text").to_pylist()
    )
    pairs["has_image"] = np.isin(kind, ("pair", "image"))
    pairs["has_text"] = np.isin(kind, ("pair", "text", "prompt"))
    return table.with_input(pairs)


def _table() -> Table:
    rng = np.random.default_rng(6)
    rows: list[dict[str, object]] = []
    images: list[NDArray[np.uint8]] = []
    for year in _YEARS:
        for number in range(_LEARNED + _TESTED + _JUDGED):
            shape = int(rng.integers(2))
            colour = (*_COLOURS,)[int(rng.integers(3))]
            image = _drawn(shape, _COLOURS[colour], 60 * (year - _YEARS[0]), rng)
            for kind in ("pair", "image", "text"):
                rows.append(
                    {
                        "id": f"{year}-{number}-{kind}",
                        "time": date(year, 1, 1 + number),
                        "year": year,
                        "kind": kind,
                        "number": number,
                        "group": f"{year}-{number}",
                        "shape": shape,
                        "text": f"a {colour} {SHAPES[shape]}, number {number}",
                    }
                )
                images.append(image)
    for shape, name in enumerate(SHAPES):
        rows.append(
            {
                "id": f"prompt-{name}",
                "time": date(_YEARS[0], 1, 1),
                "year": 0,
                "kind": "prompt",
                "number": -1,
                "group": f"prompt-{name}",
                "shape": shape,
                "text": f"a {name}\nthe {name}",
            }
        )
        images.append(np.zeros((_SIDE, _SIDE, 3), np.uint8))
    wide = np.stack(images)
    return Table(pa.Table.from_pylist(rows), {"image": wide}, digest(repr(rows), wide))


def _drawn(
    shape: int, colour: tuple[int, ...], light: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    down, across = np.mgrid[:_SIDE, :_SIDE] - _SIDE / 2 + 0.5 + rng.integers(-4, 5, (2, 1, 1))
    measure = (np.hypot, np.maximum)[shape]
    image = np.full((_SIDE, _SIDE, 3), 250.0)
    image[measure(abs(down), abs(across)) < rng.integers(7, 11)] = colour
    return np.asarray((image + light).clip(0, 255), np.uint8)
