"""Recall at k: the same as ranking the whole similarity matrix, block borders and ties included."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from onward.metrics import retrieval
from onward.metrics.retrieval import recall_at_k
from onward.tasks.image_text import ImageText
from onward.types import Array

KS = (1, 5, 10)


def by_ranking(images: Array, texts: Array) -> dict[str, dict[int, float]]:
    """Sort every row, equal scores by their place."""
    images, texts = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (images, texts))
    found = {}
    for way, scores in (("image_to_text", images @ texts.T), ("text_to_image", texts @ images.T)):
        order = np.argsort(-scores, axis=1, kind="stable")
        place = np.argmax(order == np.arange(len(scores))[:, None], axis=1)
        found[way] = {k: float((place < k).mean()) for k in KS}
    return found


def pairs(seed: int, number: int, noise: float) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    texts = rng.integers(-3, 4, (number, 6)) + 0.5
    return texts + noise * rng.integers(-2, 3, texts.shape), texts


@pytest.mark.parametrize("number", [1, 2, 15, 16, 17, 100])
@pytest.mark.parametrize("noise", [0.0, 1.0, 100.0])
def test_it_is_the_ranking(monkeypatch: pytest.MonkeyPatch, number: int, noise: float) -> None:
    monkeypatch.setattr(retrieval, "_BLOCK", 16)
    for seed in range(5):
        images, texts = pairs(seed, number, noise)
        rng = np.random.default_rng(seed)
        # Lengths do not matter, and no two scores are equal by chance.
        images = (images + 1e-3 * rng.normal(size=images.shape)) * rng.uniform(0.1, 9, (number, 1))
        # At 1, 5 and 10, as is usual.
        assert recall_at_k(images, texts) == by_ranking(images, texts)


@pytest.mark.parametrize("number", [10, 40])
def test_a_model_that_says_the_same_of_everything_is_right_once(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(retrieval, "_BLOCK", 16)
    same = np.ones((number, 4))
    chance = {k: min(k / number, 1.0) for k in KS}
    assert recall_at_k(same, same, KS) == {"image_to_text": chance, "text_to_image": chance}


def test_duplicates_in_another_block_count_by_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "_BLOCK", 4)
    rows = np.eye(8)
    rows[6] = rows[1]
    found = recall_at_k(rows, rows, (1, 2))
    assert found["image_to_text"] == found["text_to_image"] == {1: 7 / 8, 2: 1.0}


def test_it_takes_little_memory() -> None:
    rng = np.random.default_rng(0)
    images, texts = (rng.normal(size=(6000, 64)).astype(np.float32) for _ in range(2))
    tracemalloc.start()
    recall_at_k(images, texts)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 32 * 2**20 < 4 * 6000**2


@pytest.mark.parametrize(
    ("images", "texts", "options", "message"),
    [
        (np.ones((2, 3)), np.ones((3, 3)), {}, "one shape"),
        (np.ones((0, 3)), np.ones((0, 3)), {}, "one shape"),
        (np.full((2, 3), np.nan), np.ones((2, 3)), {}, "finite image"),
        (np.ones((2, 3)), np.ones((2, 3)), {"ks": (0, 1)}, "1 or more"),
    ],
)
def test_bad_input(images: Array, texts: Array, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recall_at_k(images, texts, **options)


@pytest.mark.parametrize(
    ("kind", "scale"), [("f2", 3e3), ("f4", 1e30), ("f4", 1e-30), ("f8", 1e200)]
)
def test_how_long_embeddings_are_does_not_matter(kind: str, scale: float) -> None:
    images, texts = (each.astype(kind) for each in pairs(0, 60, 1.0))
    long = images * np.asarray(scale, kind)
    assert recall_at_k(long, texts, KS) == recall_at_k(images, texts, KS)


def test_what_runs_score_is_the_same_recall() -> None:
    images, texts = (each.astype(np.float32) for each in pairs(1, 60, 2.0))
    images += np.random.default_rng(0).normal(size=images.shape).astype(np.float32) / 100
    images, texts = (e / np.linalg.norm(e, axis=1, keepdims=True) for e in (images, texts))
    task, asked = ImageText(), np.stack([images, texts], 1)
    bag, answers = task.as_test(asked, np.zeros(len(asked)))
    scores = task.score(task.decode(bag, ("pair",), len(bag)), answers)
    found = recall_at_k(images, texts, KS)
    for way, shares in found.items():
        for k, share in shares.items():
            assert scores[f"{way}{k}"] == pytest.approx(share)
