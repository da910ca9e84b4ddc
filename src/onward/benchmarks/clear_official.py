"""CLEAR on its official data, as the paper runs it: buckets, released splits, raw features."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onward.benchmarks.parts import both_sides, in_order_of_time, numbers_of_classes
from onward.data.clear_features import feature_types
from onward.data.clear_folder import ClearFolder, read_clear
from onward.data.clear_listing import list_clear
from onward.data.split import shuffled_out
from onward.errors import OnwardError
from onward.tasks.one_label import OneLabel
from onward.train.recipe import Recipe
from onward.types import (
    Benchmark,
    Card,
    Period,
    Protocol,
    Released,
    Split,
    Stream,
    Table,
    Undivided,
)

IMAGE = "image"
_FEATURES = "moco_b0"
# Supplement, section 6: the one kind of features that is learned at another rate.
_RATES = {"imagenet": 0.1}
_TEST_SHARE = 0.3
# The seeds that the paper reports.
_SEEDS = 5
# First and last day of buckets 1 to 10, supplement, Table 1.
_PUBLISHED = (
    (date(2007, 4, 9), date(2008, 3, 21)),
    (date(2008, 3, 21), date(2008, 12, 23)),
    (date(2008, 12, 23), date(2009, 9, 7)),
    (date(2009, 9, 7), date(2010, 6, 3)),
    (date(2010, 6, 3), date(2011, 2, 5)),
    (date(2011, 2, 5), date(2011, 9, 24)),
    (date(2011, 9, 24), date(2012, 6, 5)),
    (date(2012, 6, 5), date(2013, 2, 3)),
    (date(2013, 2, 3), date(2013, 9, 8)),
    (date(2013, 9, 8), date(2014, 4, 28)),
)


def load_official(
    folder: Path,
    protocol: Protocol,
    recipes: Mapping[str, Recipe],
    recipe: str,
    *,
    features: str,
    size: int,
    missing: Literal["stop", "skip"],
) -> Benchmark:
    """Load CLEAR from a download, unpacked in either layout.

    The split is the release's own; streaming has none, since all of a bucket is learned and all of
    the later ones are tested. A type of features of the download is used as it is; ``image`` is
    its images. Where some are not there, ``stop`` with a list, or ``skip`` their samples and record
    it.
    """
    kind = None if features == IMAGE else features
    found = read_clear(folder, _read_tensors, features=kind, size=size, missing=missing)
    if IMAGE not in found.table.wide and kind is None:
        raise OnwardError(f"expected images in {folder}, found features only. Name their type")
    column = "features" if kind else IMAGE
    name = f"{folder.resolve().name}:{kind or f'{IMAGE}-{size}'}"
    if found.missing:
        # In the spec, where two people who compare their numbers look.
        name += f" without {len(found.missing)} images (manifest {found.manifest})"
    split: Split = Undivided() if protocol.tests == "future" else Released(found.splits or None)
    own = replace(protocol, split=split, summary=_summary(protocol))
    _require_trained_classes(found, split)
    return Benchmark(
        name="clear",
        data=name,
        card=Card(
            title="CLEAR, official data",
            summary=f"Which of {len(found.classes)} classes does a photo show, as photos change?",
            licence="photos of YFCC100M, each under the Creative Commons licence of its author",
            citation="Lin et al., The CLEAR Benchmark, NeurIPS 2021 Datasets and Benchmarks",
            numbers=_numbers(found),
            pictures=("class_decay", "next_period"),
        ),
        task=OneLabel(),
        protocol=own,
        raw=found.table,
        prepare=partial(_prepare, column=column),
        cut=partial(cut_official, classes=found.classes),
        recipes=at_rate_of(features, recipes),
        recipe=recipe,
        files=(folder,),
    )


def default_features(folder: Path) -> str:
    """Return ``moco_b0``, or the first by name of the types of features that a download has."""
    homes = ("training_folder/features", "train/features")
    if not any((folder / home).is_dir() for home in homes):
        return _FEATURES
    types = feature_types(list_clear(folder))
    return _FEATURES if _FEATURES in types or not types else types[0]


def at_rate_of(features: str, recipes: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """Return recipes at the rate that the paper learns these features with."""
    return {
        name: replace(values, lr=_RATES.get(features, values.lr))
        for name, values in recipes.items()
    }


def cut_official(
    table: Table, protocol: Protocol, seed: int, *, classes: tuple[str, ...]
) -> Stream:
    """Cut a download into periods, one per bucket. All classes are known from the start."""
    bucket = table.values("bucket")
    labels = numbers_of_classes(table.values("label"), classes)
    order = in_order_of_time(table, seed)
    test = held_out_rows(table, protocol.split, seed)
    numbers = np.unique(bucket).tolist()
    periods = []
    for place, (number, days) in enumerate(zip(numbers, _days(table, numbers), strict=True)):
        here = order[bucket[order] == number]
        learned, tested = both_sides(here, labels, test, protocol.split)
        periods.append(
            Period(
                index=place,
                name=f"bucket {number}",
                start=days[0],
                end=days[1],
                train=learned,
                test=tested,
                classes=classes,
            )
        )
    return Stream(table, tuple(periods))


def held_out_rows(table: Table, split: Split, seed: int) -> NDArray[np.bool_]:
    """Say which rows a published split holds out for testing; all of them if there is none."""
    if isinstance(split, Undivided):
        return np.ones(len(table), np.bool_)
    if not isinstance(split, Released):
        raise OnwardError(
            f"expected a released split or none on the official data of CLEAR, found {split}"
        )
    if split.splits is not None:
        return np.asarray(table.values(f"test_{seed % split.splits}"), np.bool_)
    bucket = table.values("bucket")
    test = np.zeros(len(table), np.bool_)
    for number in np.unique(bucket):
        rows = np.flatnonzero(bucket == number)
        test[rows] = shuffled_out(len(rows), _TEST_SHARE, seed)
    return test


def _prepare(table: Table, column: str) -> Table:
    """Take the inputs as they were released: the paper does not rescale features."""
    return table.with_input(table.wide[column])


def _summary(protocol: Protocol) -> str:
    if protocol.tests == "future":
        return "learn all of a bucket, test all of those that have not come yet"
    if protocol.batch is not None:
        return f"{protocol.summary}; released split"
    return "learn the training part of each bucket as released, test the test part of every bucket"


def _days(table: Table, buckets: list[int]) -> list[tuple[date, date]]:
    """Return the first and the last day of each bucket.

    Without upload times these are the published ones. Buckets beyond those have no known date:
    they stand in the year of their own number, which nobody can take for a real one.
    """
    bucket, days = table.values("bucket"), table.values("time").astype("datetime64[D]")
    dated = [days[(bucket == number) & ~np.isnat(days)] for number in buckets]
    if all(len(found) for found in dated):
        return [(found.min().item(), found.max().item()) for found in dated]
    if buckets[-1] <= len(_PUBLISHED):
        return [_PUBLISHED[number - 1] for number in buckets]
    return [(date(number, 1, 1), date(number, 12, 31)) for number in buckets]


def _require_trained_classes(found: ClearFolder, split: Split) -> None:
    labels = found.table.values("label")
    seeds = split.splits or _SEEDS if isinstance(split, Released) else 0
    for seed in range(seeds):
        test = held_out_rows(found.table, split, seed)
        strangers = sorted(set(labels[test]) - set(labels[~test]))
        if strangers:
            raise OnwardError(
                f"expected every tested class to be learned in some bucket, found "
                f"{', '.join(strangers[:3])} ({len(strangers)} in all) in the test part of split "
                f"{seed} only. Is the training part complete?"
            )


def _numbers(found: ClearFolder) -> dict[str, Any]:
    table = found.table
    return {
        "rows": len(table),
        "buckets": len(np.unique(table.values("bucket"))),
        "classes": len(found.classes),
        "layout": found.layout,
        "released_splits": found.splits,
        "without_time": int(table.columns.column("time").null_count),
        "repeated_ids": len(table) - len(np.unique(table.values("id").astype(str))),
        "missing_images": len(found.missing),
        "missing_manifest": found.manifest if found.missing else None,
    }


def _read_tensors(path: Path) -> Any:
    # Imported here: a stream is listed and described without the learning framework.
    from onward.models.weights import read_tensors

    return read_tensors(path)
