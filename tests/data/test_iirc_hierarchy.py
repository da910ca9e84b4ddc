"""Hierarchies and orders of classes: what is right, and what is said about the rest."""

import json
from pathlib import Path
from typing import Any

import pytest

from onward.data.iirc_hierarchy import Hierarchy, as_hierarchy, read_hierarchy
from onward.data.iirc_orders import draw_order, require_order, without_superclasses
from onward.errors import OnwardError

ANIMALS = Hierarchy({"bear": ("polar", "brown"), "fish": ("ray", "eel", "cod")}, ("bee", "ant"))


def test_blocks_are_in_the_order_of_the_hierarchy() -> None:
    assert list(ANIMALS.parent) == ["polar", "brown", "ray", "eel", "cod", "bee", "ant"]
    assert ANIMALS.parent["cod"] == "fish"
    assert ANIMALS.parent["ant"] is None
    assert ANIMALS.classes[:2] == ("bear", "fish")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "one superclass or more"),
        ({"bear": []}, "found none under 'bear'"),
        ({"bear": ["bear"]}, "'bear' below itself"),
        ({"a": ["b"], "b": ["a"]}, "a cycle: 'a' under 'b' under 'a'"),
        ({"a": ["b"], "b": ["c"]}, "'b' under 'a', which is a third level"),
        ({"a": ["c"], "b": ["c"]}, "'c' under 'a' and under 'b'"),
        ({"a": ["c", "c"]}, "'c' twice under 'a'"),
        ({"a": "bcd"}, "expected a list of classes in 'a'"),
        ({"a": [1]}, "expected names of classes"),
        ({"a": [""]}, "expected names of classes"),
        (["a"], "found list"),
        ({"super_classes": {"a": ["b"]}, "other": []}, "unknown entry of the hierarchy 'other'"),
        (
            {"super_classes": {"a": ["b"]}, "other_sub_classes": ["b"]},
            "'b' under 'a' and without a superclass",
        ),
        (
            {"super_classes": {"a": ["b"]}, "other_sub_classes": ["a"]},
            "'a', which has subclasses, among those that have no superclass",
        ),
        (
            {"super_classes": {"a": ["b"]}, "other_sub_classes": ["c", "c"]},
            "'c' twice without a superclass",
        ),
    ],
)
def test_what_is_wrong_with_a_hierarchy(given: Any, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        as_hierarchy(given)


def test_a_file_in_either_layout(tmp_path: Path) -> None:
    path = tmp_path / "hierarchy.json"
    path.write_text(json.dumps({"bear": ["polar", "brown"]}))
    assert read_hierarchy(path) == (Hierarchy({"bear": ("polar", "brown")}), None)
    periods = [["bear"], ["polar", "bee"]]
    released = {"super_classes": {"bear": ["polar"]}, "other_sub_classes": ["bee"]}
    path.write_text(json.dumps(released | {"periods": periods}))
    hierarchy, order = read_hierarchy(path)
    assert hierarchy.others == ("bee",)
    assert order == (("bear",), ("polar", "bee"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "as JSON"),
        ('{"a": ["b"], "a": ["c"]}', "found 'a' twice"),
        ('{"super_classes": {"a": ["b"]}, "periods": 3}', "a list of periods"),
        ('{"super_classes": {"a": ["b"]}, "periods": ["ab"]}', "a list of classes in a period"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "hierarchy.json"
    path.write_text(text)
    with pytest.raises(OnwardError, match=message):
        read_hierarchy(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="No such file"):
        read_hierarchy(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("periods", "message"),
    [
        ((), "one period or more"),
        ((("bear",), ()), "none in period 1"),
        ((("bear",), ("polr",)), "Did you mean 'polar'"),
        ((("bear",), ("polar",), ("polar",)), "'polar' in period 1 and in period 2"),
        ((("polar",), ("bear",)), "'polar' in period 0 and its superclass 'bear' in period 1"),
        ((("bear", "polar"),), "'polar' in period 0 and its superclass 'bear' in period 0"),
    ],
)
def test_what_is_wrong_with_an_order(periods: Any, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        require_order(periods, ANIMALS)


def test_a_subclass_without_its_superclass_may_come() -> None:
    require_order((("polar",), ("bee",)), ANIMALS)
    order = (("bear", "fish"), ("polar", "bee"), ("brown",))
    assert without_superclasses(order, ANIMALS) == (("polar", "bee"), ("brown",))


@pytest.mark.parametrize("seed", range(20))
def test_drawn_orders_keep_the_rules(seed: int) -> None:
    many = Hierarchy({f"s{n}": tuple(f"s{n}-{k}" for k in range(n + 2)) for n in range(6)}, ("x",))
    order = draw_order(many, seed, first=4, each=3)
    require_order(order, many)
    assert sorted(name for names in order for name in names) == sorted(many.classes)
    assert len(order[0]) == 4
    assert set(order[0]) <= set(many.superclasses)
    assert {len(names) for names in order[1:-1]} == {3}
    assert len(order[-1]) > 1
    assert order == draw_order(many, seed, first=4, each=3)


def test_seeds_draw_other_orders() -> None:
    assert len({draw_order(ANIMALS, seed) for seed in range(10)}) > 5


def test_a_single_last_class_joins_the_period_before() -> None:
    small = Hierarchy({"a": ("b", "c", "d")})
    assert [len(names) for names in draw_order(small, 0)] == [1, 3]
    assert [len(names) for names in draw_order(small, 0, each=1)] == [1, 1, 1, 1]


@pytest.mark.parametrize(("first", "each"), [(0, 2), (3, 2), (1, 0)])
def test_numbers_that_make_no_order(first: int, each: int) -> None:
    with pytest.raises(OnwardError, match="expected 1"):
        draw_order(ANIMALS, 0, first=first, each=each)
