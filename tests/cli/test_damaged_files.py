"""Damaged files of users end a command with exit code 2 and a message that names the file."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clear_miniature import write_new, write_old
from damaged import LATIN, corrupt_offset, latin_column
from soda_miniature import box, frame, write_soda
from stopped import StopError, stop_after
from terminal import Terminal
from tic_miniature import made
from your_tables import points, write_hugging_face

import onward as package

COLUMNS = ("--time-column", "taken", "--label-column", "kind")
ROWS = pa.table(points())
Words = tuple[str | Path, ...]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path_factory.mktemp("cache")))


def require_message(end: tuple[int, str, str], *parts: str) -> None:
    code, out, err = end
    assert (code, "Traceback" in err) == (2, False), err
    said = " ".join((out + err).split())
    for part in parts:
        assert part in said, said


def in_own_process(*words: str | Path) -> tuple[int, str, str]:
    """Run a command that may crash Python."""
    command = [sys.executable, "-m", "onward", *map(str, words)]
    end = subprocess.run(command, capture_output=True, text=True, check=False)
    return end.returncode, end.stdout, end.stderr


def hugging_face(folder: Path) -> Path:
    return write_hugging_face(folder / "dataset", ROWS, {})


def test_wrong_offset_in_an_arrow_file_is_refused(tmp_path: Path) -> None:
    folder = hugging_face(tmp_path)
    part = folder / "data-00001-of-00002.arrow"
    corrupt_offset(part, ROWS.column("kind").to_pylist()[ROWS.num_rows // 2 :])
    for words in (("data", "describe"), ("run", "yours", "--method", "nap", "--data")):
        end = in_own_process(*words, folder, *COLUMNS)
        require_message(end, str(part), "column 'kind'", "Save the dataset again")


def latin_json_lines(folder: Path) -> Path:
    path = folder / "table.jsonl"
    lines = [json.dumps(row).encode() for row in ROWS.to_pylist()]
    path.write_bytes(b"\n".join(line.replace(b'"low"', b'"' + LATIN + b'"') for line in lines))
    return path


def latin_names(folder: Path) -> Path:
    path = folder / "names.jsonl"
    lines = [json.dumps(row).encode() for row in ROWS.to_pylist()]
    path.write_bytes(b"\n".join(line.replace(b'"who"', b'"' + LATIN + b'"') for line in lines))
    return path


def latin_parquet(folder: Path) -> Path:
    place = ROWS.column_names.index("kind")
    pq.write_table(
        ROWS.set_column(place, "kind", latin_column(ROWS.num_rows)), folder / "table.parquet"
    )
    return folder / "table.parquet"


def latin_hugging_face(folder: Path) -> Path:
    place = ROWS.column_names.index("kind")
    rows = ROWS.set_column(place, "kind", latin_column(ROWS.num_rows))
    return write_hugging_face(folder / "dataset", rows, {}) / "data-00000-of-00002.arrow"


@pytest.mark.parametrize(
    "write", [latin_json_lines, latin_names, latin_parquet, latin_hugging_face]
)
def test_text_in_another_encoding_is_refused(
    onward: Terminal, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path)
    table = path.parent if path.suffix == ".arrow" else path
    end = onward("data", "describe", table, *COLUMNS)
    require_message(end, f"expected text in UTF-8 in {path}, found", "Save it with the encoding")


def test_curation_refuses_parquet_in_another_encoding(onward: Terminal, tmp_path: Path) -> None:
    pool, out = tmp_path / "2016-03.parquet", tmp_path / "out"
    columns = {
        "id": [f"{number:032x}" for number in range(5)],
        "url": [f"https://example.org/{number}.jpg" for number in range(5)],
        "time": ["2016-01-01"] * 5,
        "title": latin_column(5),
        "caption": latin_column(5),
    }
    pq.write_table(pa.table(columns), pool)
    for words in (
        ("curate", "pool", pool, "--buckets", "1", "--out", out / "pool"),
        ("curate", "date", pool, "--snapshots", pool, "--out", out / "date"),
    ):
        require_message(onward(*words), f"expected text in UTF-8 in {pool}, found")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lists.json", "[" * 100_000 + "]" * 100_000),
        ("values.json", '[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]"),
        ("lines.jsonl", '{"a": ' * 100_000 + "1" + "}" * 100_000),
        ("broken_lines.jsonl", '{"a":\n' * 100_000 + "1" + "}" * 100_000),
    ],
)
def test_deeply_nested_json_is_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    end = in_own_process("data", "describe", path, *COLUMNS)
    require_message(end, f"expected JSON with at most 64 levels of lists and objects in {path}")


SHAPES = (b"null", b"7", b"[]", b'{"1": null}', b'{"1": {"travel": 5}}', b"[" * 100_000, LATIN)


@pytest.mark.parametrize(
    ("write", "name", "contents"),
    [
        (write_old, "class_names.txt", (LATIN,)),
        (write_old, "labeled_metadata.json", SHAPES),
        (write_old, "labeled_metadata/1/travel.json", SHAPES[:4]),
        (write_old, "training_folder/bucket_indices.json", (b"7", b"null", b"{}", b"[[1]]", LATIN)),
        (write_old, "training_folder/filelists/1/all.txt", (LATIN,)),
        (write_new, "train/class_names.txt", (LATIN,)),
        (write_new, "train/labeled_metadata.json", SHAPES),
    ],
)
def test_damaged_lists_of_clear_are_refused(
    onward: Terminal,
    tmp_path: Path,
    write: Callable[..., Path],
    name: str,
    contents: tuple[bytes, ...],
) -> None:
    root = write(tmp_path / "clear", per_class=1, features=())
    for content in contents:
        (root / name).write_bytes(content)
        require_message(onward("check", "data", root), str(root / name), "expected")


def test_damaged_index_of_clear_features_is_refused(onward: Terminal, tmp_path: Path) -> None:
    root = write_new(tmp_path / "clear", per_class=3)
    index = root / "train/features/moco_b0/features.json"
    words = ("run", "clear", "--data", root, "--features", "moco_b0", "--method", "nap")
    for content in SHAPES:
        index.write_bytes(content)
        require_message(onward(*words, "--jobs", "1", "--out", tmp_path / "out"), str(index))


HEADERS = {
    "open bracket": (b"), ", b" , "),
    "leading zero": (b"(4,)", b"(04)"),
    "bytes as a key": (b", 'shape'", b",b'shape'"),
    "negative shape": (b"(4,), ", b"(-4,),"),
    "enormous shape": (b"(4,), }        ", b"(9" + b"9" * 5 + b"99999,)}"),
    "made-up length": (b"NUMPY\x01\x00", b"NUMPY\x02\x00"),
}


@pytest.mark.parametrize("damage", HEADERS)
def test_damaged_header_of_a_uid_list_is_refused(
    onward: Terminal, tmp_path: Path, damage: str
) -> None:
    root = made(tmp_path / "ids", "ids")
    path = root / "tic-datacomp_training_yearly_noeval" / "2016.npy"
    np.save(path, np.load(path)[:4])
    right, wrong = HEADERS[damage]
    assert right in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(right, wrong, 1))
    words = ("check", "data", "tic", "--root", root, "--shards", root / "commonpool")
    require_message(onward(*words), str(path), "Fetch it again")


def test_resume_names_the_damaged_file_of_a_checkpoint(onward: Terminal, tmp_path: Path) -> None:
    table, out = tmp_path / "table.parquet", tmp_path / "results"
    pq.write_table(ROWS, table)
    options = {"time_column": "taken", "label_column": "kind"}
    with pytest.raises(StopError):
        package.run(
            package.load("yours", data=str(table), **options), "nap", out=out, watch=stop_after(1)
        )
    (progress,) = out.rglob("progress.json")
    with progress.open("ab") as file:
        file.write(b"\xff")
    words = ("run", "yours", "--data", table, *COLUMNS, "--method", "nap", "--jobs", "1")
    advice = f"Delete {progress.parent} and run again"
    require_message(onward(*words, "--out", out), "progress.json", advice)
    code, said, err = onward("check", "results", out)
    require_message((code, said, err), "progress.json", advice, "1 with problems")


PLACES = ("Shanghai Citystreet Daytime Clear", "Shanghai Highway Daytime Clear")
PLACES += ("Shanghai Citystreet Night Clear", "Shanghai Citystreet Daytime Rainy")


@pytest.mark.parametrize(
    ("judge", "places", "empty", "split"),
    [
        ("test", PLACES[:2] + PLACES[3:], "night", "test"),
        ("test", (), "city", "test"),
        ("validation", PLACES[:3], "rain", "val"),
    ],
)
def test_domain_of_clad_without_tests_is_refused(
    onward: Terminal, tmp_path: Path, judge: str, places: Words, empty: str, split: str
) -> None:
    frames = {
        name: [frame("20191111 100000", str(place), box(3)) for place in PLACES * 2]
        for name in ("train", "val", "test")
    }
    frames[split] = [frame("20191111 100000", str(place), box(3)) for place in places * 2]
    root = write_soda(tmp_path / "soda", **frames)
    path = root / "SSLAD-2D/labeled/annotations" / f"instance_{split}.json"
    words = ("run", "clad-d", "--data", root, "--method", "nap", "--judge", judge)
    require_message(onward(*words, "--jobs", "1"), f"found none of {empty} in {path}")
