"""The released rule on cases that fit on a page, and its traps."""

import numpy as np
import pytest

from onward.data.iirc_hierarchy import Flat, Hierarchy
from onward.data.iirc_split import CIFAR, Blocks, Rule, Shares, part
from onward.errors import OnwardError

# Blocks: polar, brown, bee.
ANIMALS = Hierarchy({"bear": ("polar", "brown")}, ("bee",))
ORDER = (("bear",), ("bee", "polar"), ("brown",))
WHOLE = Shares(validation=0.0)


def _blocks(*counts: int, first: int = 0) -> Blocks:
    return Blocks(np.arange(first, first + sum(counts)), np.array(counts))


def test_first_to_the_superclass_and_last_to_the_subclass() -> None:
    rule = Rule(ANIMALS, ORDER, WHOLE)
    train = _blocks(10, 5, 3)
    shown = [rule.shown(train, period, "incomplete") for period in range(3)]
    assert shown[0].rows.tolist() == [0, 1, 2, 3, 10, 11]
    assert shown[1].rows.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17]
    assert shown[2].rows.tolist() == [11, 12, 13, 14]
    # bear 0, bee 1, polar 2, brown 3
    assert shown[0].labels.tolist() == [[0, -1]] * 6
    assert shown[1].labels.tolist() == [[2, -1]] * 8 + [[1, -1]] * 3
    assert shown[2].labels.tolist() == [[3, -1]] * 4


def test_complete_information_shows_what_was_introduced_before() -> None:
    rule = Rule(ANIMALS, ORDER, WHOLE)
    train = _blocks(10, 5, 3)
    assert rule.shown(train, 0, "complete").labels.tolist() == [[0, -1]] * 6
    later = rule.shown(train, 1, "complete").labels.tolist()
    assert later == [[0, 2]] * 8 + [[1, -1]] * 3


def test_tests_own_all_labels_they_will_ever_have() -> None:
    rule = Rule(ANIMALS, ORDER, WHOLE)
    test = _blocks(2, 1, 1, first=100)
    tested = [rule.tested(test, period) for period in range(3)]
    assert [samples.rows.tolist() for samples in tested] == [
        [100, 101, 102],
        [100, 101, 103],
        [102],
    ]
    assert tested[0].labels.tolist() == [[0, 2], [0, 2], [0, 3]]
    assert tested[1].labels.tolist() == [[0, 2], [0, 2], [1, -1]]
    assert rule.all_labels(np.array([2, 0, -1])).tolist() == [[1, -1], [0, 2], [-1, -1]]


def test_two_tenths_are_held_back_in_the_order_of_the_file() -> None:
    parts = part(_blocks(20, 29, 9), _blocks(1, 1, 1), CIFAR)
    assert parts.validation.rows.tolist() == [0, 1, 20, 21]
    assert parts.after.rows.tolist() == [2, 3, 22, 23]
    assert parts.train.counts.tolist() == [16, 25, 9]
    assert parts.train.rows.tolist()[:2] == [4, 5]


def test_samples_keep_the_order_of_their_file_inside_a_block() -> None:
    labels = np.array([2, 0, 1, 0, 2, 0])
    blocks = Blocks.of(labels, np.array([10, 11, 12, 13, 14, 15]), 3)
    assert blocks.rows.tolist() == [11, 13, 15, 12, 10, 14]
    assert blocks.counts.tolist() == [3, 1, 2]


def test_more_than_eight_subclasses_share_the_samples_of_eight() -> None:
    names = tuple(f"c{number}" for number in range(16))
    crowded = Hierarchy({"many": names})
    rule = Rule(crowded, (("many",), names), WHOLE)
    train = _blocks(*[100] * 16)
    assert len(rule.shown(train, 0, "incomplete")) == 16 * 20
    assert len(rule.shown(train, 1, "incomplete")) == 16 * 80
    eight = Hierarchy({"many": names[:8]})
    rule = Rule(eight, (("many",), names[:8]), WHOLE)
    assert len(rule.shown(_blocks(*[100] * 8), 0, "incomplete")) == 8 * 40


def test_the_published_sizes_of_imagenet() -> None:
    # 1,300 images each: 52 and 52 held back, 1,196 left, of which 58 x 65 are a bird.
    names = tuple(f"c{number}" for number in range(58))
    birds = Hierarchy({"bird": names}, ("alone",))
    shares = Shares(validation=0.04)
    parts = part(_blocks(*[1300] * 59), _blocks(*[50] * 59), shares)
    rule = Rule(birds, (("bird",), names[:1], ("alone",)), shares)
    rule.require_samples(parts)
    sizes = [len(rule.shown(parts.train, period, "incomplete")) for period in range(3)]
    assert sizes == [58 * 65, 956, 1196]


def test_a_class_that_never_comes_is_learned_under_its_superclass() -> None:
    rule = Rule(ANIMALS, (("bear",), ("polar",)), WHOLE)
    train = _blocks(10, 5, 3)
    assert rule.shown(train, 0, "incomplete").rows.tolist() == [0, 1, 2, 3, 10, 11]
    assert rule.tested(train, 0).labels[-1].tolist() == [0, -1]


def test_without_superclasses_a_subclass_keeps_its_share_and_its_label() -> None:
    rule = Rule(ANIMALS, (("polar", "bee"),), WHOLE)
    shown = rule.shown(_blocks(10, 5, 3), 0, "incomplete")
    assert shown.rows.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17]
    assert rule.tested(_blocks(1, 1, 1), 0).labels.tolist() == [[0, -1], [1, -1]]


def test_plain_classes_keep_all() -> None:
    rule = Rule(Flat(("a", "b")), (("b",), ("a",)), WHOLE)
    assert rule.shown(_blocks(3, 2), 0, "incomplete").rows.tolist() == [3, 4]
    assert rule.shown(_blocks(3, 2), 1, "incomplete").labels.tolist() == [[1, -1]] * 3


def _require(*counts: int, shares: Shares = CIFAR) -> None:
    rule = Rule(ANIMALS, ORDER, shares)
    rule.require_samples(part(_blocks(*counts), _blocks(1, 1, 1), shares))


def test_the_last_0_of_a_list_is_not_all_of_it() -> None:
    with pytest.raises(OnwardError, match="'polar' for 80% of its training part, found 1 in all"):
        _require(1, 20, 20)
    with pytest.raises(OnwardError, match="at least 2"):
        _require(1, 20, 20)
    # 10 samples: one is held back, of which 80 % rounds to none.
    with pytest.raises(
        OnwardError, match="'brown' for 80% of its validation part, found 10 in all"
    ):
        _require(20, 10, 20)
    with pytest.raises(OnwardError, match="at least 20"):
        _require(20, 10, 20)
    _require(20, 20, 1)
    _require(20, 10, 1, shares=WHOLE)


def test_classes_without_samples() -> None:
    with pytest.raises(OnwardError, match="found none of 'brown' to learn from"):
        _require(20, 0, 20)
    with pytest.raises(OnwardError, match="none for the superclass 'bear'"):
        _require(2, 2, 20, shares=WHOLE)


@pytest.mark.parametrize("shares", [{"validation": 0.6}, {"subclass": 1.1}, {"superclass": -1}])
def test_shares_that_make_no_sense(shares: dict[str, float]) -> None:
    with pytest.raises(OnwardError, match="expected the share"):
        Shares(**shares)


def test_an_order_that_breaks_the_rules_is_refused() -> None:
    with pytest.raises(OnwardError, match="earlier period"):
        Rule(ANIMALS, (("bear", "polar"),), WHOLE)
