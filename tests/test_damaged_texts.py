"""Readers of small text and JSON files say what is wrong with them."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damaged import LATIN
from small_words import write_wordnet

from onward.binary_files import read_parquet
from onward.cli.options import parse_pairs
from onward.curate.dated_classes import read_classes
from onward.curate.stage import open_stage
from onward.data.task_folder import read_shards
from onward.data.wordnet import find_nouns
from onward.errors import OnwardError
from onward.models.weights_folder import read_card
from onward.planning.drift import read_drift

DEEP = b"[" * 100_000


def stage(path: Path) -> object:
    return open_stage(path.parent, "pool")


def card(path: Path) -> object:
    (path.parent / "weights.safetensors").touch()
    return read_card(path.parent)


def drift(path: Path) -> object:
    return read_drift(path, ["2010", "2011"])


def shards(path: Path) -> object:
    return read_shards(path.parent)


def classes(path: Path) -> object:
    words = path.parent / "wordnet"
    return read_classes(str(path), find_nouns(words if words.is_dir() else write_wordnet(words)))


@pytest.mark.parametrize(
    ("read", "name", "contents"),
    [
        (stage, "stage.json", (DEEP, LATIN, b"null", b'{"version": 1, "kind": "pool"}')),
        (card, "card.json", (DEEP, LATIN, b"null", b"[]")),
        (drift, "drift.json", (DEEP, LATIN, b"null", b"[" * 900 + b"]" * 900)),
        (shards, "nshards.txt", (LATIN, "²".encode())),
        (classes, "classes.json", (DEEP, LATIN, b'{"classes": [7]}', b'{"classes": [{}]}')),
    ],
)
def test_damaged_text_is_refused(
    tmp_path: Path, read: Callable[[Path], object], name: str, contents: tuple[bytes, ...]
) -> None:
    path = tmp_path / name
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(OnwardError) as error:
            read(path)
        assert str(tmp_path) in str(error.value)


def test_deeply_nested_option_is_taken_as_text() -> None:
    assert parse_pairs([f"name={DEEP.decode()}"], "option") == {"name": DEEP.decode()}


def test_missing_column_of_a_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(OnwardError, match=r"expected a column 'b' in .*votes.parquet, found a"):
        read_parquet(path, ["b"])


def test_missing_file_with_utf8_in_its_name_is_no_problem_of_encoding(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="found no such file"):
        read_parquet(tmp_path / "votes_UTF8.parquet")
