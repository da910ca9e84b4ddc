"""Periods for labels of one's own."""

from typing import Any

import numpy as np
import pytest

from onward.benchmarks.iirc import split
from onward.data.iirc_hierarchy import Hierarchy
from onward.data.iirc_split import Shares
from onward.errors import OnwardError

TREE = {"bear": ["polar", "brown"], "fish": ["ray", "eel", "cod"], "bird": ["owl", "tit"]}
NAMES = [name for names in TREE.values() for name in names] + ["bee"]


def _labels(each: int = 20) -> list[str]:
    return np.random.default_rng(0).permutation(np.repeat(NAMES, each)).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_every_superclass_comes_before_its_subclasses(seed: int) -> None:
    stream = split(_labels(), TREE, seed=seed)
    place = {name: number for number, name in enumerate(stream[-1].classes)}
    assert sorted(place) == sorted([*TREE, *NAMES])
    assert set(stream[0].classes) <= set(TREE)
    arrival = {name: period.index for period in reversed(tuple(stream)) for name in period.classes}
    assert all(arrival[up] < arrival[name] for up, names in TREE.items() for name in names)


def test_the_rule_is_the_released_one() -> None:
    labels = _labels(100)
    stream = split(labels, TREE, seed=1)
    for name, up in ((name, up) for up, names in TREE.items() for name in names):
        rows = np.flatnonzero(np.array(labels) == name)
        number = stream[-1].classes.index(name), stream[-1].classes.index(up)
        own, above = (
            np.concatenate([p.train.rows[(p.train.labels == n).any(1)] for p in stream])
            for n in number
        )
        # 10 and 10 held back, the first 32 of 80 to the superclass, the last 64 to the subclass.
        assert own.tolist() == rows[20:][-64:].tolist()
        assert above[np.isin(above, rows)].tolist() == rows[20:][:32].tolist()
        tested = np.concatenate([p.test.rows[(p.test.labels == number[0]).any(1)] for p in stream])
        assert np.unique(tested).tolist() == rows[10:20].tolist()


def test_samples_for_testing_may_be_given() -> None:
    labels = np.array(_labels(30))
    test = np.arange(len(labels)) % 5 == 0
    stream = split(labels, TREE, seed=0, test=test)
    tested = np.unique(np.concatenate([period.test.rows for period in stream]))
    assert np.array_equal(tested, np.flatnonzero(test))
    learned = np.concatenate([np.r_[p.train.rows, p.validation.rows] for p in stream])
    assert not test[learned].any()


def test_inputs_numbers_of_classes_and_information() -> None:
    labels = _labels()
    inputs = np.arange(2.0 * len(labels)).reshape(-1, 2)
    stream = split(labels, TREE, inputs=inputs, first=1, each=3, complete=True)
    assert [len(period.classes) for period in stream] == [1, 4, 7, 11]
    assert stream.complete is not None
    rows = stream[1].train.rows
    assert np.array_equal(stream.table.wide["input"][rows], inputs[rows])
    alone = split(labels, TREE, subclasses_only=True)
    assert set(alone[-1].classes) == set(NAMES)


def test_seeds_draw_orders() -> None:
    orders = {split(_labels(), TREE, seed=seed)[-1].classes for seed in range(6)}
    assert len(orders) == 6
    assert split(_labels(), TREE, seed=3)[-1].classes == split(_labels(), TREE, seed=3)[-1].classes


@pytest.mark.parametrize(
    ("labels", "hierarchy", "options", "message"),
    [
        ([*_labels(), "bear"], TREE, {}, "found 'bear', which has subclasses"),
        (_labels(), {**TREE, "bug": ["wasp"]}, {}, "found none of 'wasp' to learn from"),
        ([*_labels(), "cod"], {**TREE, "bug": ["cod"]}, {}, "'cod' under 'fish' and under 'bug'"),
        (_labels(), {"a": ["b"], "b": ["a"]}, {}, "a cycle"),
        (_labels(), {**TREE, "bug": []}, {}, "found none under 'bug'"),
        (_labels(1), TREE, {}, "the last 0"),
        (
            _labels(),
            Hierarchy({"bear": ("polar",)}, ("brown",)),
            {},
            "expected labels out of the 2",
        ),
        ([], TREE, {}, "found no labels"),
        ([1, 2], TREE, {}, "the name of a class for every sample, found 1"),
        (_labels(), TREE, {"test": np.zeros(3, bool)}, "160 yes or no"),
        (_labels(), TREE, {"test": np.zeros(160)}, "160 yes or no"),
        (_labels(), TREE, {"inputs": np.zeros((3, 2))}, "one of 160 inputs in each row, found"),
        (_labels(), TREE, {"first": 4}, "1 to 3 superclasses"),
        (_labels(), TREE, {"inputs": [1, 2]}, "in each row, found list"),
        (_labels(), TREE, {"seed": -1}, "seed of 0 or more, found -1"),
        (None, TREE, {}, "found no labels"),
        (_labels(), TREE, {"shares": Shares(validation=0.5)}, "are held back for validation"),
    ],
)
def test_what_is_wrong(labels: Any, hierarchy: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        split(labels, hierarchy, **options)


def test_tiny_classes_without_validation() -> None:
    labels, none = np.repeat(NAMES, 6), Shares(validation=0)
    test = np.arange(len(labels)) % 6 == 0
    stream = split(labels, TREE, shares=none, test=test)
    assert sum(len(period.train) for period in stream) == 7 * (2 + 4) + 5
    with pytest.raises(OnwardError, match="of every class to test, found none of"):
        split(labels, TREE, shares=none)


def test_periods_that_come_with_the_hierarchy_are_taken() -> None:
    periods = [["bear"], ["polar bear"], ["brown bear", "bee"]]
    tree = {
        "super_classes": {"bear": ["polar bear", "brown bear"]},
        "other_sub_classes": ["bee"],
        "periods": periods,
    }
    labels = np.repeat(["polar bear", "brown bear", "bee"], 20)
    stream = split(labels, tree, seed=5)
    before = [(), *(period.classes for period in stream)]
    found = [
        list(period.classes[len(seen) :]) for period, seen in zip(stream, before, strict=False)
    ]
    assert found == periods


def test_a_class_that_is_never_tested_is_named() -> None:
    labels = np.repeat(NAMES, 40)
    with pytest.raises(OnwardError, match=f"found none of {NAMES[-1]!r} that are for tests"):
        split(labels, TREE, test=(np.arange(len(labels)) % 4 == 0) & (labels != NAMES[-1]))
