"""The nearest rows: exact, ties by row, whatever the block and the number of threads."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onward.curate import survivors, top_k
from onward.curate.looking import Groups, Scan
from onward.curate.scan import scan
from onward.curate.store import Store, as_store
from onward.errors import OnwardError
from onward.table import Array


def brute(queries: Array, pool: Array, k: int) -> tuple[Array, Array]:
    """Every score in float64, rounded as is said, and sorted."""
    products = np.asarray(queries, np.float64)[:, None] * np.asarray(pool, np.float64)
    scores = products.sum(2).astype(np.float32)
    rows = np.stack([np.lexsort((np.arange(len(pool)), -one))[:k] for one in scores])
    return np.take_along_axis(scores, rows, 1), rows


def tied(rng: np.random.Generator, rows: int, width: int, distinct: int) -> Array:
    """Many rows that are equal, so that ties decide."""
    held = rng.standard_normal((distinct, width)).astype(np.float16)
    return held[rng.integers(0, distinct, rows)]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 300),
    width=st.sampled_from([1, 3, 64, 130]),
    distinct=st.integers(1, 300),
    k=st.integers(1, 320),
    block=st.integers(1, 97),
    threads=st.integers(1, 3),
    kind=st.sampled_from([np.float16, np.float32, np.float64, ">f2"]),
)
def test_exact_whatever_the_block(
    seed: int, rows: int, width: int, distinct: int, k: int, block: int, threads: int, kind: Any
) -> None:
    rng = np.random.default_rng(seed)
    pool = tied(rng, rows, width, distinct).astype(kind)
    queries = rng.standard_normal((4, width)) * [[1], [1e-30], [1e30], [0]]
    expected = brute(queries, pool, k)
    found = scan(
        as_store(pool), Scan(queries[:, None], min(k, rows)), threads=threads, block_rows=block
    )
    for at in range(4):
        np.testing.assert_array_equal(found.best[0, at][1], expected[1][at])
        np.testing.assert_array_equal(found.best[0, at][0], expected[0][at])
    scores, numbers = top_k(queries, pool, k)
    np.testing.assert_array_equal(numbers, expected[1])
    assert scores.dtype == np.float32
    assert numbers.dtype == np.int64


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_rows_are_looked_at_again_before_they_pile_up(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(survivors, "_WAITING", 40)
    most = 0
    sift = survivors.Survivors._sift

    def watched(self: survivors.Survivors, most_: int) -> None:
        nonlocal most
        sift(self, most_)
        most = max(most, len(self._held.rows))

    monkeypatch.setattr(survivors.Survivors, "_sift", lambda self, most: watched(self, most))
    rng = np.random.default_rng(1)
    pool = tied(rng, 3000, 16, 2)
    queries = rng.standard_normal((3, 16))
    found = scan(as_store(pool), Scan(queries[:, None], 7), threads=threads, block_rows=10)
    expected = brute(queries, pool, 7)
    for at in range(3):
        np.testing.assert_array_equal(found.best[0, at][1], expected[1][at])
    assert most <= 3 * (2 * 7 + 40)


def test_scores_that_float32_cannot_tell_apart_are_told_apart() -> None:
    # In float32 the large numbers swallow the small ones, in one order of summation or another.
    rng = np.random.default_rng(2)
    pool = np.zeros((400, 64), np.float32)
    pool[:, 0], pool[:, 1] = 1, -1
    pool[:, 2] = rng.permutation(400) * 2.0**-26
    query = np.ones((1, 64))
    np.testing.assert_array_equal(top_k(query, pool, 50)[1], brute(query, pool, 50)[1])


def test_shards_are_one_pool(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    pool = tied(rng, 500, 24, 90)
    for name, part in (("b", pool[200:201]), ("a", pool[:200]), ("c", pool[201:])):
        np.save(tmp_path / f"{name}.npy", part)
    np.save(tmp_path / "empty.npy", pool[:0])
    queries = rng.standard_normal((2, 24)).astype(np.float32)
    expected = top_k(queries, pool, 60)
    for held in (tmp_path, str(tmp_path), Store.open(tmp_path)):
        for one, other in zip(top_k(queries, held, 60), expected, strict=True):
            np.testing.assert_array_equal(one, other)
    np.save(tmp_path / "all.npy", pool)
    mapped = np.load(tmp_path / "all.npy", mmap_mode="r")
    for held in (mapped, tmp_path / "all.npy", pool[::-1][::-1], np.asfortranarray(pool)):
        np.testing.assert_array_equal(top_k(queries, held, 60)[1], expected[1])


def test_groups_sub_queries_and_the_lowest() -> None:
    rng = np.random.default_rng(4)
    pool = tied(rng, 700, 12, 150)
    groups = rng.integers(-1, 3, 700)
    queries = rng.standard_normal((2, 3, 12))
    queries /= np.linalg.norm(queries, axis=2, keepdims=True)
    wanted = Scan(queries, 9, 5, Groups(groups, 3), histogram=20)
    found = scan(as_store(pool / np.float16(8)), wanted, threads=2, block_rows=33)
    scores = (queries[:, :, None] * (pool / np.float16(8)).astype(np.float64)).sum(3).max(1)
    scores = scores.astype(np.float32)
    for group in range(3):
        rows = np.flatnonzero(groups == group)
        for concept in range(2):
            mine = scores[concept, rows]
            best = rows[np.lexsort((rows, -mine))][:9]
            worst = rows[np.lexsort((rows, mine))][:5]
            np.testing.assert_array_equal(found.best[group, concept][1], best)
            np.testing.assert_array_equal(found.worst[group, concept][1], worst)
            np.testing.assert_array_equal(found.worst[group, concept][0], scores[concept, worst])
            counts, _ = np.histogram(mine.clip(-1, 1), 20, (-1, 1))
            np.testing.assert_array_equal(found.histogram[group, concept], counts)


def test_nothing_asked_or_nothing_there() -> None:
    pool = np.ones((3, 2), np.float16)
    assert top_k(np.empty((0, 2)), pool, 2)[0].shape == (0, 2)
    assert top_k([[1, 0]], pool, 0)[1].shape == (1, 0)
    assert top_k([[1, 0]], pool[:0], 5)[1].shape == (1, 0)


@pytest.mark.parametrize(
    ("queries", "pool", "k", "message"),
    [
        ([[1, np.nan]], np.ones((3, 2)), 1, "NaN or infinity in row 0"),
        ([[1, 2, 3]], np.ones((3, 2)), 1, "expected queries of 2 numbers"),
        ([1, 2], np.ones((3, 2)), 1, "the shape (2,)"),
        ([["a", "b"]], np.ones((3, 2)), 1, "expected numbers"),
        ([[1, 2]], np.ones(3), 1, "of the shape (3,)"),
        ([[1, 2]], np.ones((3, 2), int), 1, "found int64"),
        ([[1, 2]], np.ones((3, 2)), -1, "k = -1"),
        ([[1, 2]], np.ones((3, 2)), 1.5, "k = 1.5"),
        ([[1, 2]], np.array([[1, 1], [np.nan, 1]], np.float16), 1, "NaN or infinity in row 1"),
        ([[0, 0]], np.array([[1, 1], [1, -np.inf]], np.float16), 1, "NaN or infinity in row 1"),
        ([[1, 2]], np.full((3, 2), 1e30, np.float32), 1, "numbers too large"),
        ([[1, 2]], "no/such/place", 1, "found none at no/such/place"),
    ],
)
def test_mistakes(queries: Any, pool: Any, k: Any, message: str) -> None:
    with pytest.raises(OnwardError) as error:
        top_k(queries, pool, k)
    assert message in str(error.value)


def test_stores_that_do_not_fit(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((2, 3), np.float16))
    np.save(tmp_path / "b.npy", np.ones((2, 4), np.float16))
    with pytest.raises(OnwardError, match=r"one width .* 3 in a\.npy, 4 in b\.npy"):
        Store.open(tmp_path)
    (tmp_path / "b.npy").write_bytes(b"no array")
    with pytest.raises(OnwardError, match="cannot be read as that"):
        Store.open(tmp_path)


def test_import_is_light() -> None:
    code = (
        "import sys, onward.curate as c; c.top_k; "
        "print([m for m in ('torch', 'polars', 'narwhals', 'fastapi') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
