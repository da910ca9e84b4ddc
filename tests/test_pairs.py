from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from onward.errors import OnwardError
from onward.pairs import PairLayout, as_bytes, cut_text, made_pairs, pair_type
from onward.types import Array

KIND = pair_type((4, 6, 3), 12)


def pairs() -> Array:
    images = np.random.default_rng(0).integers(0, 256, (3, 4, 6, 3), np.uint8)
    return made_pairs(KIND, images, ["a fox", "café", "a\nb"])


@pytest.mark.parametrize("as_rows", [as_bytes, lambda p: torch.from_numpy(as_bytes(p))])
def test_a_layout_finds_everything_again(as_rows: Callable[[Array], Any]) -> None:
    rows, layout = as_rows(pairs()), PairLayout((4, 6, 3))
    assert np.array_equal(np.asarray(layout.images(rows)), pairs()["image"])
    assert layout.texts(rows) == ["a fox", "café", "a\nb"]
    assert layout.has_image(rows).tolist() == layout.has_text(rows).tolist() == [1, 1, 1]


def test_rows_of_bytes_are_no_copy_and_other_arrays_stay() -> None:
    whole = pairs()
    assert np.shares_memory(as_bytes(whole), whole)
    numbers = np.zeros((2, 3))
    assert as_bytes(numbers) is numbers


def test_texts_are_cut_between_letters_and_end_at_no_zero() -> None:
    assert cut_text("é" * 9, 5) == "éé".encode()
    assert cut_text("a\0b", 9) == b"a b"
    assert made_pairs(KIND, None, ["x" * 99])["text"][0] == b"x" * 12


def test_features_are_no_pairs() -> None:
    with pytest.raises(OnwardError, match=r"found inputs of the shape \(497,\)"):
        PairLayout((497,))
