"""CLAD's published counts, beside those of the data at hand."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from onward.data.clad_sets import clad_c, clad_d
from onward.data.counts import Count
from onward.data.soda import Soda
from onward.data.soda_words import CATEGORIES

_TABLES = Path(__file__).parent / "clad"
_TABLE_OF_SET = {"train": "tableB3_train", "validation": "tableB4_val", "test": "tableB5_test"}
# Columns of Tables B.3 to B.5 and what they are in the annotation files.
_SPOKEN = {"Day": "Daytime"}
_DOMAINS = ("period", "city", "weather", "location")
_IMAGES = {"train": 3841, "validation": 1590}
_DETECTION_IMAGES = {
    "train": (4470, 1329, 1480, 524),
    "validation": (497, 148, 165, 59),
    "test": (2433, 3126, 2968, 1442),
}


def counts(
    soda: Soda, *, min_area: float = 1024, drop_occluded: int | None = 0
) -> tuple[Count, ...]:
    """Return every count of CLAD's Tables B.3 to B.7 and of its numbers of images.

    What is left out is as in `clad_c`. If the counts of Tables B.3 to B.6 are not met, try 1 or
    ``None`` for `drop_occluded`.
    """
    objects = clad_c(soda, min_area=min_area, drop_occluded=drop_occluded)
    images = clad_d(soda)
    return tuple(
        chain(_by_domain(objects), _by_day(objects), _images_of(objects), _detection(images))
    )


def _by_domain(objects: pa.Table) -> Iterator[Count]:
    for name, table in _TABLE_OF_SET.items():
        found = Counter(
            (label, place)
            for domain in _DOMAINS
            for part, label, place in _rows(objects, ("set", "label", domain))
            if part == name
        )
        source = f"Table B.{table[6]}"
        for row in _read(table):
            label = row.pop("cls")
            for place, count in row.items():
                there = found[label, _SPOKEN.get(place, place)]
                yield Count(source, f"{name}, {label}, {place}", int(count), there)


def _by_day(objects: pa.Table) -> Iterator[Count]:
    found = Counter(
        (part, time.date().isoformat(), period)
        for part, time, period in _rows(objects, ("set", "time", "period"))
    )
    published = {
        (r["split"], r["date"], r["period"]): int(r["objects"]) for r in _read("tableB6_dates")
    }
    # What was found on a day that the table does not have is wrong too.
    for key in sorted({*published, *found}):
        yield Count("Table B.6", ", ".join(key), published.get(key, 0), found[key])


def _images_of(objects: pa.Table) -> Iterator[Count]:
    found = Counter(part for part, _ in set(_rows(objects, ("set", "path"))))
    for name, expected in _IMAGES.items():
        yield Count("section 3.3", f"{name}, images", expected, found[name])


def _detection(images: pa.Table) -> Iterator[Count]:
    found = Counter(
        (part, domain, CATEGORIES[label])
        for part, domain, labels in _rows(images, ("set", "domain", "labels"))
        for label in labels
    )
    for row in _read("tableB7_detection"):
        part, domain = row.pop("split").lower(), int(row.pop("task"))
        for label, count in row.items():
            what = f"{part}, domain {domain}, {label}"
            yield Count("Table B.7", what, int(count), found[part, domain - 1, label])
    seen = Counter(_rows(images, ("set", "domain")))
    for part, numbers in _DETECTION_IMAGES.items():
        for domain, expected in enumerate(numbers):
            what = f"{part}, domain {domain + 1}, images"
            yield Count("released code", what, expected, seen[part, domain])


def _rows(table: pa.Table, names: Iterable[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _read(name: str) -> list[dict[str, str]]:
    with (_TABLES / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))
