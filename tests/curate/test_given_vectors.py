"""Vectors that somebody has computed already."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curated_miniature import write_vectors

from onward.curate.embed import Loaded
from onward.curate.given_vectors import given_digest, given_files, given_parts
from onward.errors import OnwardError


def read(place: Path, ids: Path | None = None, rows: int = 100) -> dict[str, Loaded]:
    return {part.name: part.load() for part in given_parts(given_files(place, ids), rows)}


@pytest.mark.parametrize("way", ["parquet", "txt", "npy", "given"])
def test_an_array_with_ids_beside_it(tmp_path: Path, way: str) -> None:
    held = write_vectors(tmp_path / "v.npy", 5, 3)
    names, ids = [f"n{at}" for at in range(5)], None
    if way == "parquet":
        pq.write_table(pa.table({"caption": names, "key": names}), tmp_path / "v.parquet")
    elif way == "npy":
        np.save(tmp_path / "v.ids.npy", np.array(names))
    else:
        ids = tmp_path / ("v.txt" if way == "txt" else "elsewhere.txt")
        ids.write_text("\n".join(names) + "\n")
    found = read(tmp_path / "v.npy", ids if way == "given" else None)["v"]
    assert list(found.ids) == names
    np.testing.assert_array_equal(found.vectors, held)
    if way != "given":
        assert list(read(tmp_path)["v"].ids) == names


def test_numbers_as_ids_become_texts(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npy", 2, 3)
    np.save(tmp_path / "v.ids.npy", np.array([7, 12]))
    assert list(read(tmp_path)["v"].ids) == ["7", "12"]


def test_large_files_become_several_parts(tmp_path: Path) -> None:
    held = write_vectors(tmp_path / "v.npy", 7, 3)
    (tmp_path / "v.txt").write_text("\n".join("abcdefg"))
    found = read(tmp_path, rows=3)
    assert {name: "".join(part.ids) for name, part in found.items()} == {
        "v-00000": "abc",
        "v-00001": "def",
        "v-00002": "g",
    }
    np.testing.assert_array_equal(found["v-00002"].vectors, held[6:])


def test_what_clip_retrieval_writes(tmp_path: Path) -> None:
    for folder in ("img_emb", "metadata"):
        (tmp_path / folder).mkdir()
    for shard in (0, 1):
        np.save(tmp_path / "img_emb" / f"img_emb_{shard}.npy", np.ones((2, 4), np.float16))
        paths = [f"/data/{shard}/one.jpg", f"/data/{shard}/two.jpg"]
        table = pa.table({"image_path": paths, "caption": ["a", "b"]})
        pq.write_table(table, tmp_path / "metadata" / f"metadata_{shard}.parquet")
    assert {name: list(part.ids) for name, part in read(tmp_path).items()} == {
        "img_emb_0": ["one", "two"],
        "img_emb_1": ["one", "two"],
    }
    (tmp_path / "metadata" / "metadata_1.parquet").unlink()
    with pytest.raises(OnwardError, match=r"expected the ids of .*img_emb_1\.npy"):
        read(tmp_path)


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.large_list(pa.float64()), "fixed"])
def test_a_table_of_ids_and_vectors(tmp_path: Path, kind: Any) -> None:
    # Arrow does not read gaps back where lists have a fixed size.
    held = [[1.0, 2.0], [5.0, 6.0] if kind == "fixed" else None, [3.0, 4.0]]
    gap = [5, 6] if kind == "fixed" else [np.nan, np.nan]
    kind = pa.list_(pa.float32(), 2) if kind == "fixed" else kind
    table = pa.table({"uid": ["a", "b", "c"], "text": ["x"] * 3, "emb": pa.array(held, kind)})
    pq.write_table(table, tmp_path / "v.parquet")
    found = read(tmp_path / "v.parquet")["v"]
    assert list(found.ids) == ["a", "b", "c"]
    np.testing.assert_array_equal(found.vectors, [[1, 2], gap, [3, 4]])


def test_a_changed_file_has_another_digest(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.npy", 5, 3)
    (tmp_path / "v.txt").write_text("\n".join("abcde"))
    before = given_digest(given_files(tmp_path))
    assert given_digest(given_files(tmp_path)) == before
    (tmp_path / "v.txt").write_text("\n".join("abcdef"))
    assert given_digest(given_files(tmp_path)) != before


def _no_ids(folder: Path) -> None:
    write_vectors(folder / "v.npy", 2, 3)


def _too_few_ids(folder: Path) -> None:
    write_vectors(folder / "v.npy", 2, 3)
    (folder / "v.txt").write_text("a\n")


def _null_id(folder: Path) -> None:
    write_vectors(folder / "v.npy", 2, 3)
    pq.write_table(pa.table({"id": ["a", None]}), folder / "v.parquet")


def _two_widths(folder: Path) -> None:
    for name, width in (("a", 3), ("b", 4)):
        write_vectors(folder / f"{name}.npy", 2, width)
        (folder / f"{name}.txt").write_text("x\ny\n")


def _whole_numbers(folder: Path) -> None:
    np.save(folder / "v.npy", np.ones((2, 3), int))
    (folder / "v.txt").write_text("x\ny\n")


def _uneven(folder: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "v": [[1.0], [1.0, 2.0]]}), folder / "v.parquet")


def _no_vectors(folder: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "text": ["b"]}), folder / "v.parquet")


def _no_id_column(folder: Path) -> None:
    table = pa.table({"one": ["a"], "two": ["b"], "v": [[1.0]]})
    pq.write_table(table, folder / "v.parquet")


def _damaged(folder: Path) -> None:
    (folder / "v.npy").write_bytes(b"\x93NUMPY")
    (folder / "v.txt").write_text("a")


def _pickled(folder: Path) -> None:
    np.save(folder / "v.npy", np.array([{}], object), allow_pickle=True)
    (folder / "v.txt").write_text("a")


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (_no_ids, "v.parquet or v.txt or v.ids.npy, found none"),
        (_too_few_ids, "for each of the 2 vectors"),
        (_null_id, "found none in row 1"),
        (_two_widths, "3 numbers in a.npy, 4 numbers in b.npy"),
        (_whole_numbers, "found int64"),
        (_uneven, "found 1 and 2 numbers"),
        (_no_vectors, "one column with lists of floats"),
        (_no_id_column, "found one, two"),
        (_damaged, "cannot be read as that"),
        (_pickled, "cannot be read as that"),
        (lambda folder: None, "found none at"),
    ],
)
def test_mistakes(tmp_path: Path, prepare: Any, message: str) -> None:
    prepare(tmp_path)
    with pytest.raises(OnwardError) as error:
        read(tmp_path)
    assert message in str(error.value)
