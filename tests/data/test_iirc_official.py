"""The released hierarchies and configurations, against counts that were taken independently."""

import json
from pathlib import Path
from typing import Any

import pytest

from onward.data.iirc_official import (
    class_words,
    official_classes,
    official_hierarchy,
    official_orders,
)
from onward.data.iirc_orders import require_order

COUNTS = json.loads((Path(__file__).parents[1] / "golden" / "iirc_configurations.json").read_text())
RELEASED = {
    "cifar": ("cifar", "full"),
    "imagenet_full": ("imagenet", "full"),
    "imagenet_lite": ("imagenet", "lite"),
}


@pytest.mark.parametrize("name", RELEASED)
def test_hierarchies_have_the_published_sizes(name: str) -> None:
    hierarchy, counts = official_hierarchy(RELEASED[name][0]), COUNTS[name]
    sizes = [len(subclasses) for subclasses in hierarchy.superclasses.values()]
    assert len(sizes) == counts["superclasses"]
    assert sum(sizes) == counts["subclasses_under_super"]
    assert len(hierarchy.others) == counts["subclasses_no_super"]
    assert len(hierarchy.classes) == counts["total"]
    assert (min(sizes), max(sizes)) == (counts["min_subs"], counts["max_subs"])
    assert sum(size > 8 for size in sizes) == counts["n_super_more_than_8"]


@pytest.mark.parametrize("name", RELEASED)
def test_configurations_have_the_published_structure(name: str) -> None:
    data, edition = RELEASED[name]
    hierarchy, counts = official_hierarchy(data), COUNTS[name]
    orders = official_orders(data, edition=edition)
    assert len(orders) == counts["n_configs"] == len(counts["configs"])
    for number, order in enumerate(orders):
        expected: dict[str, Any] = counts["configs"][f"configuration_{number}"]
        require_order(order, hierarchy)
        assert [len(names) for names in order] == expected["sizes"]
        assert len(order) == expected["n_tasks"]
        classes = {name for names in order for name in names}
        assert len(classes) == expected["n_classes"]
        assert set(order[0]) <= set(hierarchy.superclasses)
        supers = classes & set(hierarchy.superclasses)
        assert len(supers) == expected["n_super"]
        assert len(classes & set(hierarchy.others)) == expected["n_sub_no_super"]
        later = [i for i, names in enumerate(order) for name in names if name in supers and i]
        assert later == expected["supers_after_task0_at"]
        parents = {hierarchy.parent[name] for name in classes - supers} - {None}
        assert parents <= supers


@pytest.mark.parametrize(
    ("data", "edition", "count", "periods", "classes"),
    [
        ("cifar", "full", 10, 11, 100),
        ("imagenet", "full", 5, 29, 1000),
        ("imagenet", "lite", 5, 10, 430),
    ],
)
def test_the_class_incremental_ones(
    data: str, edition: str, count: int, periods: int, classes: int
) -> None:
    orders = official_orders(data, edition=edition, incremental=True)
    assert len(orders) == count
    for order in orders:
        require_order(order, official_classes(data, incremental=True))
        assert len(order) == periods
        assert sum(map(len, order)) == classes


def test_two_classes_of_imagenet_are_left_out_and_all_others_have_words() -> None:
    known = set(official_hierarchy("imagenet").parent)
    every = set(official_classes("imagenet", incremental=True).parent)
    assert sorted(every - known) == COUNTS["imagenet_dropped_wnids"]
    assert set(class_words()) == known
    assert class_words()["n02110341"] == "dalmatian"
