"""A benchmark: points that belong to four seasons, and drift from year to year."""

import hashlib
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from onward.benchmarks.listed import Listed
from onward.benchmarks.recipes import recipes_for
from onward.data.split import held_out
from onward.errors import unknown
from onward.fit import NEW_CLASSES
from onward.protocols import PROTOCOLS
from onward.types import Array, Benchmark, Card, Period, Protocol, Samples, Stream, Table
from onward_extra.task import TWO_GUESSES

SEASONS = ("winter", "spring", "summer", "autumn")
YEARS = range(2020, 2024)
_EACH = 60
_WIDTH = 6
_SUMMARY = "In which season was a point measured, as the climate changes?"


def load(
    data: str = "made",
    protocol: str = "streaming",
    recipe: str = "cpu",
    *,
    model: str = "linear",
    drift: float = 0.4,
) -> Benchmark:
    """Load it; there is one data edition, which is made from nothing.

    ``drift`` is how far the climate moves in a year.
    """
    if data != "made":
        raise unknown("data of seasons", data, ["made"], "onward list benchmarks")
    return Benchmark(
        name="seasons",
        data="made" if drift == 0.4 else f"made, drift {drift}",
        card=Card(
            "Seasons",
            _SUMMARY,
            "Apache-2.0",
            "onward-extra",
            {"rows": len(YEARS) * _EACH},
            pictures=("next_period", "extra.last_year"),
        ),
        task=TWO_GUESSES,
        protocol=PROTOCOLS[protocol],
        raw=made(drift),
        prepare=prepare,
        cut=cut,
        recipes=recipes_for(model, PROTOCOLS[protocol]),
        recipe=recipe,
    )


def made(speed: float) -> Table:
    """Return the points of all years."""
    rng = np.random.default_rng(0)
    centres, drift = rng.normal(size=(2, len(SEASONS), _WIDTH))
    rows, points = [], []
    for year in YEARS:
        for number in range(_EACH):
            season = number % len(SEASONS)
            day = date(year, 1, 1) + timedelta(91 * season + int(rng.integers(90)))
            rows.append({"id": f"{year}-{number}", "time": day, "label": SEASONS[season]})
            rows[-1]["group"] = f"place-{number}"
            age = year - YEARS[0]
            points.append(centres[season] + speed * age * drift[season] + rng.normal(size=_WIDTH))
    wide: Array = np.array(points, np.float32)
    return Table(pa.Table.from_pylist(rows), {"point": wide}, hashlib.sha256(wide).hexdigest())


def prepare(table: Table) -> Table:
    """Let models see the points: nothing is fitted."""
    return table.with_input(table.wide["point"])


def cut(table: Table, protocol: Protocol, seed: int) -> Stream:
    """Make every year a period."""
    time = table.values("time").astype("datetime64[D]")
    labels = np.array([SEASONS.index(name) for name in table.values("label")])
    test = held_out(table.values("group"), protocol.split, seed)
    order = np.argsort(time, kind="stable")
    periods = []
    for index, year in enumerate(YEARS):
        here = order[time[order].astype("datetime64[Y]").astype(int) + 1970 == year]
        learned, tested = here[~test[here]], here[test[here]]
        periods.append(
            Period(
                index=index,
                name=str(year),
                start=date(year, 1, 1),
                end=date(year, 12, 31),
                train=Samples(learned, labels[learned]),
                test=Samples(tested, labels[tested]),
                classes=SEASONS,
            )
        )
    return Stream(table, tuple(periods))


LISTED = Listed(
    name="seasons",
    load=load,
    summary=_SUMMARY,
    task=TWO_GUESSES,
    data=("made",),
    recipes=("cpu", "paper"),
    protocols=PROTOCOLS,
    usual="made",
    lacks={NEW_CLASSES: "a year has four seasons from the start"},
)
