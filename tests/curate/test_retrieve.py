"""Candidates: the best of one concept only, the next best in their place, and a background."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onward.curate.candidates import Search, make_candidates
from onward.curate.choose import Wanted
from onward.curate.concepts import Concept, Concepts, read_concepts
from onward.curate.queries import find_concepts, given_queries, text_queries
from onward.curate.refill import lowest, of_one_concept_only
from onward.curate.retrieve import retrieve
from onward.curate.retrieve_words import told
from onward.curate.stage import Stage, making, open_stage
from onward.curate.store import Store
from onward.errors import OnwardError
from onward.models.clip_choice import named_clip
from onward.table import Array


def concepts(*names: str) -> Concepts:
    return Concepts(tuple(Concept(name, (name,)) for name in names))


def stored(folder: Path, vectors: Array, buckets: list[int], ids: list[str] | None = None) -> Store:
    folder.mkdir()
    ids = ids or [f"i{row:03d}" for row in range(len(vectors))]
    half = len(ids) // 2
    for name, rows in (("a", slice(0, half)), ("b", slice(half, None))):
        np.save(folder / f"{name}.npy", vectors[rows].astype(np.float16))
        table = pa.table({"id": ids[rows], "bucket": pa.array(buckets[rows], pa.int32())})
        pq.write_table(table, folder / f"{name}.parquet")
    return Store.open(folder)


def retrieved(out: Path, store: Store, wanted: Wanted) -> Stage:
    with making(out, "retrieve", {}) as folder:
        folder.finish(retrieve(store, wanted, out))
    return open_stage(out, "retrieve")


def chosen(stage: Stage, bucket: int) -> dict[str, list[str]]:
    rows = pq.read_table(stage.folder / "candidates.parquet").to_pylist()
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["bucket"] == bucket:
            assert row["rank"] == len(found.setdefault(row["concept"], []))
            found[row["concept"]].append(row["id"])
    return found


def plane(*scores: tuple[float, float]) -> Array:
    """Vectors with these scores for two concepts, which ask along the first two axes."""
    return np.array([[x, y, np.sqrt(max(1 - x * x - y * y, 0))] for x, y in scores])


def test_a_worked_example(tmp_path: Path) -> None:
    vectors = plane(
        *((0.9, -0.1), (0.8, 0.58), (0.7, -0.2), (-0.1, 0.9), (0.6, 0.55), (-0.2, 0.5)),
        *((0.5, -0.3), (-0.3, 0.45), (0, -0.4), (-0.4, -0.1), (-0.35, -0.35)),
    )
    store = stored(tmp_path / "store", vectors, [3] * 11)
    wanted = Wanted(concepts("red", "blue"), np.eye(3)[:2, None], top=3, background=2)
    stage = retrieved(tmp_path / "out", store, wanted)
    # Red asks for 0, 1, 2 and blue for 3, 1, 4: 1 goes. Then 0, 2, 4 and 3, 4, 5: 4 goes.
    # Lowest for red are 9 and 10, for blue 8, and 10 is taken.
    assert chosen(stage, 3) == {
        "BACKGROUND": ["i009", "i010", "i008"],
        "red": ["i000", "i002", "i006"],
        "blue": ["i003", "i005", "i007"],
    }
    assert pq.read_table(stage.folder / "removed.parquet").to_pylist() == [
        {"bucket": 3, "id": "i001", "concepts": ["red", "blue"]},
        {"bucket": 3, "id": "i004", "concepts": ["red", "blue"]},
    ]
    assert stage.counts["short"] == [
        {"bucket": 3, "concept": "BACKGROUND", "found": 3, "wanted": 4}
    ]
    assert stage.counts["unmatched"] == stage.counts["small_buckets"] == []


def test_rounds_of_refilling() -> None:
    red, blue = np.array([0, 1, 2, 4, 6, 8]), np.array([3, 1, 4, 5, 7, 9])
    found = of_one_concept_only([red, blue], 3)
    assert [rows.tolist() for rows in found.rows] == [[0, 2, 6], [3, 5, 7]]
    assert found.removed == {1: (0, 1), 4: (0, 1)}
    assert not found.ran_out
    short = of_one_concept_only([red[:4], blue[:4]], 3)
    assert short.ran_out
    assert [rows.tolist() for rows in short.rows] == [[0, 2], [3, 5]]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 8), st.integers(1, 40))
def test_no_candidate_is_shared_and_all_that_is_better_was_removed(
    seed: int, concepts: int, wanted: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    ranked = [rng.permutation(rows) for _ in range(concepts)]
    found = of_one_concept_only(ranked, wanted)
    every = np.concatenate(found.rows)
    assert len(set(every.tolist())) == len(every)
    for concept, mine in enumerate(found.rows):
        left = [row for row in ranked[concept].tolist() if row not in found.removed]
        assert mine.tolist() == left[:wanted]
    for owners in found.removed.values():
        assert len(owners) > 1
    low = lowest(ranked, wanted, every)
    under = np.concatenate([*low.rows, every])
    assert len(set(under.tolist())) == len(under)


def test_scans_again_where_a_ranking_ran_out(tmp_path: Path) -> None:
    # The two concepts are alike: many images are among the best of both.
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((400, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = np.zeros((2, 1, 8))
    queries[:, 0, 0], queries[1, 0, 1] = 1, 0.5
    queries /= np.linalg.norm(queries, axis=2, keepdims=True)
    buckets = [0] * 200 + [1] * 200
    store = stored(tmp_path / "store", vectors, buckets)
    passes = []
    with making(tmp_path / "out", "retrieve", {}) as folder:
        wanted = Wanted(concepts("a", "b"), queries, top=4, background=5)
        folder.finish(retrieve(store, wanted, folder.folder, passes.append))
    stage = open_stage(folder.folder, "retrieve")
    assert sum(passes) > len(store)
    scores = np.einsum("cw,nw->cn", queries[:, 0], vectors.astype(np.float16).astype(np.float64))
    for bucket in (0, 1):
        rows = np.arange(200 * bucket, 200 * bucket + 200)
        ranked = [rows[np.lexsort((rows, -one[rows]))] for one in scores]
        expected = of_one_concept_only(ranked, 4)
        found = chosen(stage, bucket)
        for name, mine in zip("ab", expected.rows, strict=True):
            assert found[name] == [f"i{row:03d}" for row in mine]
        taken = np.concatenate([*expected.rows, np.array([*expected.removed], int)])
        low = lowest([one[::-1] for one in ranked], 5, taken)
        assert found["BACKGROUND"] == [f"i{row:03d}" for rows in low.rows for row in rows]
    assert stage.counts["short"] == []
    counted = pq.read_table(stage.folder / "scores.parquet")
    assert sum(counted.column("images").to_pylist()) == 2 * len(store)


def test_a_small_bucket_and_a_concept_that_matches_nothing_are_named(tmp_path: Path) -> None:
    first = [(1, 0), (0.9, 0.1), (0, 1), (0.1, 0.9)]
    second = [(0.9, 0), (0.8, 0.1), (0.7, 0.2), (0.6, 0.3), (0.5, 0.35), (0.45, 0.4)]
    vectors = plane(*first, *second)
    store = stored(tmp_path / "store", vectors, [0] * 4 + [1] * 6)
    wanted = Wanted(concepts("red", "blue"), np.eye(3)[:2, None], top=3, background=0)
    stage = retrieved(tmp_path / "out", store, wanted)
    assert stage.counts["small_buckets"] == [{"bucket": 0, "images": 4, "top": 2}]
    assert {"bucket": 1, "concept": "blue"} in stage.counts["unmatched"]
    assert {"bucket": 0, "concept": "red"} not in stage.counts["unmatched"]
    assert {"bucket": 0, "concept": "red", "found": 2, "wanted": 3} in stage.counts["short"]
    words = "\n".join(told(stage.counts))
    assert "bucket 0 has 4 images, too few that are of one concept only: 2 of each" in words
    assert "blue matches nothing in bucket 1" in words
    assert "red in bucket 0: 2 of 3" in words


def test_one_concept_takes_what_there_is(tmp_path: Path) -> None:
    store = stored(tmp_path / "store", plane((0.9, 0), (0.5, 0), (0.7, 0)), [0, 0, 0])
    wanted = Wanted(concepts("red"), np.eye(3)[:1, None], top=600, background=60)
    stage = retrieved(tmp_path / "out", store, wanted)
    assert chosen(stage, 0) == {"red": ["i000", "i002", "i001"]}
    assert stage.counts["background"] == 0


def test_skipped_buckets_strangers_and_stores_without_any(tmp_path: Path) -> None:
    vectors = plane((0.9, 0), (0.5, 0), (0.7, 0), (0.6, 0))
    asked = Wanted(concepts("red"), np.eye(3)[:1, None], top=2, background=0, skip=(0,))
    stage = retrieved(tmp_path / "a", stored(tmp_path / "one", vectors, [0, 1, -1, 1]), asked)
    assert chosen(stage, 1) == {"red": ["i003", "i001"]}
    assert (stage.counts["passed_over"], stage.counts["buckets"]) == (2, 1)
    assert "2 images are in no bucket" in "\n".join(told(stage.counts))
    without = stored(tmp_path / "two", vectors, [-1] * 4)
    free = Wanted(asked.concepts, asked.queries, top=2, background=0)
    assert chosen(retrieved(tmp_path / "b", without, free), 0) == {"red": ["i000", "i002"]}
    with pytest.raises(OnwardError, match=r"found \[0\] in all"):
        retrieved(tmp_path / "c", without, asked)


def test_a_bucket_to_skip_that_is_not_there(tmp_path: Path) -> None:
    pool, queries, out = tmp_path / "pool.npy", tmp_path / "q.npy", tmp_path / "out"
    np.save(pool, plane((0.9, 0), (0.5, 0)))
    np.save(queries, np.eye(3)[:1])
    with pytest.raises(OnwardError, match="to skip among 0, found 7"):
        make_candidates(pool, concepts("red"), out, Search(queries, top=1, skip=(7,)))
    # Nothing was begun: the same folder takes the command that was meant.
    counts = make_candidates(pool, concepts("red"), out, Search(queries, top=1, background=0))
    assert counts["candidates"] == 1


def test_copies_count_once(tmp_path: Path) -> None:
    vectors = plane((0.9, 0), (0.8, 0), (0.9, 0), (0.7, 0), (0.1, 0.1), (0.1, 0.1))
    store = stored(tmp_path / "store", vectors, [0] * 6, ["x", "y", "x", "z", "u", "u"])
    wanted = Wanted(concepts("red"), np.eye(3)[:1, None], top=3, background=2)
    stage = retrieved(tmp_path / "out", store, wanted)
    assert chosen(stage, 0) == {"BACKGROUND": ["u"], "red": ["x", "y", "z"]}


def test_concepts_that_are_nowhere_are_named() -> None:
    with pytest.raises(OnwardError, match="or clear10, found no file at clear12"):
        find_concepts("clear12")


def test_the_packaged_concepts_are_those_of_the_supplement() -> None:
    found = find_concepts("clear10")
    assert found.names == (
        *("BACKGROUND", "computer", "camera", "bus", "pullover", "dress"),
        *("racing", "cosplay", "baseball", "soccer", "hockey"),
    )
    assert found.found[0].prompts == ("laptop",)
    assert found.found[3].option == "sweater (sweater/sweatshirt/hoodies/etc.)"
    assert all(one.sub_queries and one.super for one in found.found)


def test_queries_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "q.npy"
    np.save(path, np.array([[3.0, 4.0], [0.0, 2.0]]))
    np.testing.assert_allclose(given_queries(path, concepts("a", "b"))[:, 0], [[0.6, 0.8], [0, 1]])
    with pytest.raises(OnwardError, match="each of the 3 concepts, found 2"):
        given_queries(path, concepts("a", "b", "c"))
    np.save(path, np.array([[3.0, 4.0], [0.0, 0.0]]))
    with pytest.raises(OnwardError, match=r"zeros in row 1 of .*, for 'b'"):
        given_queries(path, concepts("a", "b"))
    np.save(path, np.array([[3.0, np.inf]]))
    with pytest.raises(OnwardError, match="NaN or infinity in row 0"):
        given_queries(path, concepts("a"))
    path.write_text("no array")
    with pytest.raises(OnwardError, match="expected an array of queries"):
        given_queries(path, concepts("a"))


def test_texts_become_queries() -> None:
    clip = named_clip("clip_small")
    asked = Concepts(
        (
            Concept("red", ("a red one", "something\nred"), ("scarlet",)),
            Concept("blue", ("blue",), ("navy", "cyan", "teal")),
            Concept("none", ("nothing",)),
        )
    )

    def alone(text: str) -> Array:
        with torch.no_grad():
            return clip.net.encode_text(clip._tokens([text]), normalize=True)[0].numpy()

    queries = text_queries(clip, asked)
    assert queries.shape == (3, 1, 128)
    both = alone("a red one") + alone("something red")
    np.testing.assert_allclose(queries[0, 0], both / np.linalg.norm(both), atol=1e-6)
    narrow = text_queries(clip, asked, sub_queries=True)
    assert narrow.shape == (3, 3, 128)
    for row, texts in enumerate((["scarlet"] * 3, ["navy", "cyan", "teal"], ["nothing"] * 3)):
        for place, text in enumerate(texts):
            np.testing.assert_allclose(narrow[row, place], alone(text), atol=1e-6)


def test_concepts_are_written_beside_the_candidates(tmp_path: Path) -> None:
    store = stored(tmp_path / "store", plane((0.9, 0), (0.5, 0)), [0, 0])
    asked = Concepts((Concept("red", ("a red one",), ("scarlet",), "red (any)", "Colour"),), "NONE")
    stage = retrieved(tmp_path / "out", store, Wanted(asked, np.eye(3)[:1, None], 1, 1))
    assert read_concepts(stage.folder / "concepts.json") == asked
    assert chosen(stage, 0) == {"NONE": ["i001"], "red": ["i000"]}
