"""Samples as numbers: of images, of files, narrowed."""

from pathlib import Path

import numpy as np
import pytest

import onward
from onward.drift.embedding import Embedding, clip_embedding, given_embedding, own_embedding
from onward.errors import OnwardError
from onward.models.clip_choice import chosen_clip
from onward.types import Rows, Table


@pytest.fixture(scope="module")
def table() -> Table:
    return onward.load("clear", data="emoji").table


def _rows(count: int = 12) -> Rows:
    return np.arange(0, 40 * count, 40)


def test_numbers_are_as_learners_see_them(table: Table) -> None:
    found = own_embedding(table, _rows())
    assert found.width == 497
    np.testing.assert_array_equal(
        found.of(_rows()[::-1]), np.asarray(table.wide["input"])[_rows()[::-1]]
    )


def test_pairs_are_described_by_their_images() -> None:
    pairs = onward.load("tic", data="emoji").table
    found = own_embedding(pairs, np.arange(6))
    assert found.values.shape == (6, 497)
    assert "fitted on nothing" in found.words


def test_large_images_are_made_small(table: Table) -> None:
    images = np.random.default_rng(0).integers(0, 255, (5, 40, 70, 3), np.uint8)
    found = own_embedding(Table(table.columns.slice(0, 5), {"input": images}, "x"), np.arange(5))
    assert found.values.shape == (5, 497)


def test_narrowing_keeps_distances_of_what_it_keeps() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20))
    narrow, share = Embedding("", flat, np.arange(50)).narrowed(3)
    assert share == pytest.approx(1)
    assert np.linalg.norm(narrow.values[0] - narrow.values[1]) == pytest.approx(
        np.linalg.norm(flat[0] - flat[1])
    )
    same, share = narrow.narrowed(5)
    assert (same, share) == (narrow, 1.0)


def test_given_embeddings_are_found_by_id(table: Table, tmp_path: Path) -> None:
    rows = _rows()
    ids = [str(one) for one in table.columns.column("id").take(rows).to_pylist()]
    vectors = np.random.default_rng(0).normal(size=(len(ids), 8)).astype(np.float32)
    np.save(tmp_path / "v.npy", vectors[::-1])
    (tmp_path / "v.txt").write_text("\n".join(ids[::-1]), "utf-8")
    found = given_embedding(tmp_path / "v.npy", table, rows)
    np.testing.assert_array_equal(found.of(rows), vectors)
    with pytest.raises(OnwardError, match="found none of 1 of 13"):
        given_embedding(tmp_path / "v.npy", table, _rows(13))
    np.save(tmp_path / "w.npy", vectors[:, :5])
    (tmp_path / "w.txt").write_text("\n".join(ids), "utf-8")
    with pytest.raises(OnwardError, match="one width"):
        given_embedding(tmp_path, table, rows)


def test_a_clip_sees_images(table: Table) -> None:
    chosen = chosen_clip("clip_small")
    found = clip_embedding(chosen.clip, "clip_small", table, _rows(3))
    assert found.values.shape[0] == 3
    assert np.isfinite(found.values).all()
    numbers = Table(table.columns, {"input": table.wide["input"]}, "x")
    with pytest.raises(OnwardError, match="expected images for clip_small"):
        clip_embedding(chosen.clip, "clip_small", numbers, _rows(3))
