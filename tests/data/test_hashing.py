import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onward.data import hashing
from onward.data.hashing import hash_numbers, hash_texts
from onward.data.split import held_out
from onward.data.words import bag_of_words
from onward.types import Folds, Holdout


@given(st.lists(st.text(max_size=6), min_size=1, max_size=30, unique=True), st.integers(1, 40))
def test_a_text_has_one_hash_wherever_it_stands(texts: list[str], cut: int) -> None:
    whole = hash_texts(pa.array(texts, pa.string()))
    assert len(set(whole.tolist())) == len(texts)
    parts = pa.chunked_array([texts[:cut], texts[cut:]], pa.string())
    assert hash_texts(parts).tolist() == whole.tolist()
    assert hash_texts(pa.array(texts, pa.string()).slice(len(texts) // 2)).tolist() == (
        whole[len(texts) // 2 :].tolist()
    )


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pa.array([f"text number {number}" * (number % 5) for number in range(500)])
    whole = hash_texts(texts).tolist()
    monkeypatch.setattr(hashing, "_BLOCK", 64)
    assert hash_texts(texts).tolist() == whole


def in_plain_python(text: str) -> int:
    base, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    content = text.encode()
    value = sum((byte + 1) * base**place for place, byte in enumerate(content))
    value = (value + len(content) * base) & mask
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = (value ^ value >> shift) * factor & mask
    return value ^ value >> 31


def test_hashes_are_what_the_formula_says_and_never_change() -> None:
    texts = ["", "cat", "a longer text, mit Umlauten: äöü"]
    assert hash_texts(pa.array(texts)).tolist() == [in_plain_python(text) for text in texts]
    assert hash_texts(pa.array(["cat", None])).tolist() == [6575400555153770116, 0]


def test_minus_zero_is_zero() -> None:
    assert len(set(hash_numbers(np.array([[0.0], [-0.0]])).tolist())) == 1


def test_groups_given_by_hashes_are_dealt_like_names() -> None:
    groups = hash_texts(pa.array([f"g{i // 3}" for i in range(6000)]))
    held = np.stack([held_out(groups, Folds(5), seed) for seed in range(5)])
    assert (held.sum(0) == 1).all()
    assert (held[:, ::3] == held[:, 2::3]).all()
    shares = [held_out(groups, Holdout(0.3), seed).mean() for seed in range(20)]
    assert np.mean(shares) == pytest.approx(0.3, abs=0.01)
    few = held_out(groups[:900], Holdout(0.3), 4)
    assert few.tolist() == held_out(groups, Holdout(0.3), 4)[:900].tolist()


def test_words_count_without_a_vocabulary() -> None:
    texts = ["The cat sat", "sat, the CAT!", "a dog", "", None]
    bag = bag_of_words({"note": pa.chunked_array([texts])}, 64)
    np.testing.assert_array_equal(bag[0], bag[1])
    assert not np.array_equal(bag[0], bag[2])
    assert np.linalg.norm(bag, axis=1).round(5).tolist() == [1, 1, 1, 0, 0]
    alone = bag_of_words({"note": pa.chunked_array([texts[2:3]])}, 64)
    np.testing.assert_array_equal(alone[0], bag[2])
    other = bag_of_words({"title": pa.chunked_array([texts])}, 64)
    assert not np.array_equal(other[0], bag[0])


def test_a_category_counts_whole() -> None:
    values = pa.chunked_array([pa.array(["New York", "New Jersey", None]).dictionary_encode()])
    bag = bag_of_words({"state": values}, 256)
    assert np.count_nonzero(bag, axis=1).tolist() == [1, 1, 0]
