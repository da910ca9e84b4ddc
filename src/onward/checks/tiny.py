"""A stream small enough to check a method on in seconds, and awkward enough to be worth it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onward.benchmarks.parts import by_time
from onward.benchmarks.variants import as_asked
from onward.checks import tiny_labels
from onward.checks.digests import digest
from onward.data.features import standardise
from onward.data.split import held_out
from onward.errors import unknown
from onward.protocols import MANY_LABELS, PROTOCOLS
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.train.recipe import Recipe
from onward.types import (
    Array,
    Benchmark,
    Card,
    Holdout,
    Period,
    Protocol,
    Released,
    Samples,
    Stream,
    Table,
    Task,
)

PERIODS = 4
_WIDTH = 8
_SIDE = 8
_FIRST_YEAR = 2000
_CLASSES = ("circle", "square", "star", "wave")
# Waves arrive with the third period, so that the label space grows on the way.
_ARRIVAL = {"wave": 3}
_GROUPS_PER_CLASS = 9
_DRAWINGS = 2
_RATES = {"mlp": 0.1, "convnet": 0.1, "resnet18": 0.02, "resnet32": 0.02, "resnet50": 0.02}

OFFLINE = Recipe(
    model="linear",
    lr=0.5,
    momentum=0.9,
    weight_decay=0.0,
    batch_size=24,
    epochs=2,
    milestones=(0.6,),
)
ONLINE = replace(
    OFFLINE, lr=0.3, momentum=0.0, batch_size=7, epochs=1, milestones=(), memory_size=20
)


def tiny_benchmark(
    protocol: str = "iid",
    folder: Path | None = None,
    *,
    model: str = "linear",
    images: bool = False,
) -> Benchmark:
    """Make a benchmark of four periods of about sixty drifting points each.

    One year without labels comes before the first period, groups recur from year to year, and a
    class arrives with the third period. Under a protocol of many labels, the points of all years
    come with two coarse labels first and with four finer ones later.

    Parameters
    ----------
    protocol
        One of `onward.protocols.PROTOCOLS` or `MANY_LABELS`.
    folder
        Where to write the samples, as a parquet file and an array; by default they are only in
        memory.
    model
        What is trained; networks of convolutions need images.
    images
        Whether each point is shown as a picture of it instead.

    Examples
    --------
    >>> stream = tiny_benchmark().stream(seed=0)
    >>> [(period.name, len(period.train) + len(period.test)) for period in stream]
    [('2001', 54), ('2002', 54), ('2003', 72), ('2004', 72)]
    >>> [len(period.classes) for period in stream]
    [3, 3, 4, 4]
    """
    known = {**PROTOCOLS, **MANY_LABELS}
    if protocol not in known:
        raise unknown("protocol", protocol, known, "onward list benchmarks")
    task = ManyLabels() if protocol in MANY_LABELS else OneLabel()
    made = tiny_points(task, known[protocol], folder, model=model, images=images)
    return as_asked(made)


def tiny_points(
    task: Task,
    protocol: Protocol,
    folder: Path | None = None,
    *,
    model: str = "linear",
    images: bool = False,
    arrive: bool = True,
) -> Benchmark:
    """Make the same of any protocol, of one label or of many.

    With `arrive`, a class arrives on the way, as always where there are many labels; else all are
    known from the start.
    """
    deep = model.startswith(("resnet", "convnet"))
    labels, pictures = task.name == ManyLabels.name, images or deep
    raw = _table()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(raw.columns, folder / "samples.parquet")
        np.save(folder / "point.npy", raw.wide["point"][np.arange(len(raw))])
    recipe = ONLINE if protocol.batch else tiny_labels.RECIPE if labels else OFFLINE
    recipe = replace(recipe, model=model)
    # What suits a linear layer makes a deep network diverge.
    recipe = replace(recipe, lr=recipe.lr * _RATES.get(model, 1.0))
    return Benchmark(
        name="tiny",
        data="pictures" if pictures else "points",
        card=card_of(raw, "Tiny", "Which of four shapes does a drifting point belong to?"),
        task=task,
        protocol=protocol,
        raw=raw,
        prepare=pictured if pictures else prepare,
        cut=tiny_labels.cut_labels if labels else partial(cut, arrive=arrive),
        recipes={"cpu": recipe},
        recipe="cpu",
        files=() if folder is None else (folder,),
    )


def card_of(raw: Table, title: str, summary: str) -> Card:
    """Return the card of a tiny benchmark."""
    return Card(title, summary, "Apache-2.0", "made by onward.checks", {"rows": len(raw)})


def prepare(table: Table) -> Table:
    """Put the points on the scale of the year before the first period."""
    points = table.wide["point"][np.arange(len(table))]
    return table.with_input(standardise(points, points[table.values("year") == _FIRST_YEAR]))


def pictured(table: Table) -> Table:
    """Show each point as a small picture, whose pixels mix its coordinates."""
    points = table.wide["point"][np.arange(len(table))]
    mixed = points @ np.random.default_rng(21).normal(size=(_WIDTH, _SIDE * _SIDE * 3))
    pixels = 255 / (1 + np.exp(-mixed / 2))
    return table.with_input(pixels.astype(np.uint8).reshape(-1, _SIDE, _SIDE, 3))


def cut(table: Table, protocol: Protocol, seed: int, *, arrive: bool = True) -> Stream:
    """Make every year after the first a period.

    Of a split that is released with the data there is one; seeds change the order.
    """
    year, names = table.values("year"), table.values("label")
    released = isinstance(protocol.split, Released)
    split, deal = (Holdout(0.3), 0) if released else (protocol.split, seed)
    test = held_out(table.values("group"), split, deal)
    order = by_time(table, np.random.default_rng(seed).permutation(len(table)))
    classes = () if arrive else _CLASSES
    periods = []
    for index, number in enumerate(range(_FIRST_YEAR + 1, _FIRST_YEAR + 1 + PERIODS)):
        here = order[year[order] == number]
        classes += tuple(sorted(set(names[here]) - set(classes)))
        periods.append(
            Period(
                index=index,
                name=str(number),
                start=date(number, 1, 1),
                end=date(number, 12, 31),
                train=_samples(here[~test[here]], names, classes),
                test=_samples(here[test[here]], names, classes),
                classes=classes,
            )
        )
    return Stream(table, tuple(periods))


def _samples(rows: Array, names: Array, classes: tuple[str, ...]) -> Samples:
    labels = [classes.index(name) for name in names[rows]]
    return Samples(rows.astype(np.int64), np.array(labels, np.int64))


def _table() -> Table:
    rng = np.random.default_rng(20)
    centres = rng.normal(size=(len(_CLASSES), _WIDTH))
    drift = rng.normal(size=(len(_CLASSES), _WIDTH)) / 4
    rows = list(_rows(rng))
    place = np.array([_CLASSES.index(row["subclass"]) for row in rows])
    years = np.array([row["year"] for row in rows]) - _FIRST_YEAR
    points = centres[place] + drift[place] * years[:, None]
    points += rng.normal(size=points.shape) / 2
    wide = points.astype(np.float32)
    columns = pa.Table.from_pylist(rows)
    return Table(columns, {"point": wide}, digest(columns.to_pylist().__repr__(), wide))


def _rows(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for year in range(PERIODS + 1):
        for shape in _CLASSES:
            if year < _ARRIVAL.get(shape, 0):
                continue
            for number in range(_GROUPS_PER_CLASS * _DRAWINGS):
                day = date(_FIRST_YEAR + year, 1, 1) + timedelta(int(rng.integers(365)))
                group = f"{shape}-{number % _GROUPS_PER_CLASS}"
                yield {
                    "id": f"{year}-{shape}-{number}",
                    "time": day,
                    "year": _FIRST_YEAR + year,
                    "label": shape if year else None,
                    "group": group,
                    "subclass": shape,
                    "turn": year + number,
                }
