import io
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from your_tables import drawings

from onward.checks import tiny_benchmark
from onward.data.near_duplicates import clusters, difference_hash, fingerprints, seen_before
from onward.types import Table


def square(picture: Image.Image) -> np.ndarray:
    white = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(white, picture).convert("RGB").resize((32, 32)))


def test_a_picture_is_recognised_after_it_was_compressed_and_resized() -> None:
    # Of one snapshot: the same emoji in another one may well be nearly the same.
    pictures = [square(picture) for picture, _, _ in drawings(192)[:48]]
    again = []
    for picture in pictures:
        sink = io.BytesIO()
        Image.fromarray(picture).resize((64, 64)).save(sink, "JPEG", quality=92)
        again.append(np.asarray(Image.open(sink).resize((32, 32))))
    hashes = difference_hash(np.stack(pictures + again))
    label = clusters(hashes)
    assert (label[: len(pictures)] == label[len(pictures) :]).mean() > 0.9
    # Other pictures are other.
    assert len(np.unique(label)) > 0.85 * len(pictures)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=12), st.integers(0, 63))
def test_hashes_that_differ_in_a_few_bits_are_one(numbers: list[int], bit: int) -> None:
    close = numbers[0] ^ (1 << bit) ^ (1 << (bit + 9) % 64)
    hashes = np.array([*numbers, close], np.uint64)
    label = clusters(hashes)
    assert label[0] == label[-1]
    for one, other in itertools.combinations(range(len(hashes)), 2):
        if hashes[one] == hashes[other]:
            assert label[one] == label[other]


def test_equal_rows_share_both_hashes_and_near_ones_the_second() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 4))
    points = np.concatenate([points, points[:5], points[:5] + 1e-7])
    found = fingerprints(Table(pa.table({"id": range(60)}), {"numbers": points}, "points"))
    assert found.different == 55
    assert (found.exact[:5] == found.exact[50:55]).all()
    assert not (found.exact[:5] == found.exact[55:]).any()
    assert (found.near[:5] == found.near[55:]).all()


@pytest.mark.parametrize("protocol", ["iid", "streaming"])
def test_only_what_was_learned_before_its_test_counts(protocol: str) -> None:
    benchmark = tiny_benchmark(protocol)
    stream = benchmark.stream(0)
    hashes = np.arange(len(stream.table)).astype(np.uint64)
    assert seen_before(stream, hashes, future_only=True) == 0
    early, late = stream[0], stream[2]
    hashes[late.test.rows[0]] = hashes[early.train.rows[0]]
    hashes[early.test.rows[0]] = hashes[late.train.rows[0]]
    assert seen_before(stream, hashes, future_only=True) == 1
    assert seen_before(stream, hashes, future_only=False) == 2
