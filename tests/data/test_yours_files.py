import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from your_tables import drawings, points, write_csv, write_hugging_face

from onward.data.photo_folder import list_photos
from onward.data.yours_files import read_file
from onward.errors import OnwardError

COLUMNS = points(20)
TABLE = pa.table(COLUMNS)


def plain(rows: pa.Table) -> dict[str, list[Any]]:
    found = rows.to_pydict()
    # Formats differ in whether they have times: all of them are told as texts here.
    found["taken"] = [getattr(value, "isoformat", lambda v=value: v)() for value in found["taken"]]
    return found


def write_as(kind: str, folder: Path) -> Path:
    path = folder / f"table.{kind}"
    if kind == "csv":
        return write_csv(path, COLUMNS)
    if kind == "csv.gz":
        with gzip.open(path, "wb") as file:
            file.write(write_csv(folder / "plain.csv", COLUMNS).read_bytes())
    elif kind in ("tsv", "txt"):
        separator = "\t" if kind == "tsv" else ";"
        text = write_csv(folder / "plain.csv", COLUMNS).read_text()
        path.write_text(text.replace(",", separator))
    elif kind in ("jsonl", "ndjson"):
        path.write_text("\n".join(json.dumps(row) for row in TABLE.to_pylist()))
    elif kind == "json":
        path.write_text(json.dumps(TABLE.to_pylist()))
    elif kind == "parquet":
        pq.write_table(TABLE, path)
    else:
        path = folder / "parts"
        path.mkdir()
        for part in range(2):
            pq.write_table(TABLE.slice(part * 10, 10), path / f"{part}.parquet")
    return path


@pytest.mark.parametrize(
    "kind",
    ["csv", "csv.gz", "tsv", "txt", "jsonl", "ndjson", "json", "parquet", "folder"],
)
def test_every_format_gives_the_same_rows(kind: str, tmp_path: Path) -> None:
    found = read_file(write_as(kind, tmp_path), ["kind", "who"])
    assert plain(found.rows) == COLUMNS


def test_labels_and_ids_stay_texts_in_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("label,x\n01,1\n1,2\n")
    assert read_file(path, ["label"]).rows.column("label").to_pylist() == ["01", "1"]


def test_texts_may_go_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('note,x\n"two\nlines",1\n"one ""quoted"", here",2\n')
    found = read_file(path, []).rows.column("note").to_pylist()
    assert found == ["two\nlines", 'one "quoted", here']


def test_class_numbers_of_hugging_face_become_names(tmp_path: Path) -> None:
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}
    rows = pa.table({"label": [0, 1, 1, -1], "x": [1.0, 2.0, 3.0, 4.0]})
    for split in ("train", "test"):
        write_hugging_face(tmp_path / "both" / split, rows, features)
    (tmp_path / "both" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    one = read_file(tmp_path / "both" / "train")
    assert one.rows.column("label").to_pylist() == ["cat", "dog", "dog", None]
    both = read_file(tmp_path / "both")
    assert both.rows.num_rows == 8
    assert both.format == "Hugging Face dataset, splits train, test together"
    schema = {b"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(rows.replace_schema_metadata(schema), tmp_path / "hub.parquet")
    assert read_file(tmp_path / "hub.parquet").rows.column("label").to_pylist()[0] == "cat"


def test_a_broken_hugging_face_dataset_is_named(tmp_path: Path) -> None:
    folder = write_hugging_face(tmp_path / "data", pa.table({"label": [5, 0]}), {})
    (folder / "data-00001-of-00002.arrow").write_bytes(b"no arrow")
    with pytest.raises(OnwardError, match=r"Arrow stream in .*00001-of-00002.arrow"):
        read_file(folder)
    (folder / "state.json").write_text("{")
    with pytest.raises(OnwardError, match="expected a JSON file"):
        read_file(folder)
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}
    folder = write_hugging_face(tmp_path / "other", pa.table({"label": [5, 0]}), features)
    with pytest.raises(OnwardError, match="class numbers below 2 in column 'label', found 5"):
        read_file(folder)


def test_photos_are_dated_by_name_exif_or_folder(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2019:08:07 06:05:04"
    picture = drawings(12)[0][0].convert("RGB")
    files = {
        "cat/2021-03-04.png": ("2021-03-04T00:00:00", "cat", "file name"),
        "cat/IMG_20210304_121314.png": ("2021-03-04T12:13:14", "cat", "file name"),
        "dog/PXL_20210304_121314567.png": ("2021-03-04T12:13:14", "dog", "file name"),
        "dog/20210304_000099.png": ("2021-03-04T00:00:00", "dog", "file name"),
        "dog/told.jpg": ("2019-08-07T06:05:04", "dog", "EXIF"),
        "2020/05/cat/plain.png": ("2020-05-01T00:00:00", "cat", "folder"),
        "cat/2020-05/plain.png": ("2020-05-01T00:00:00", "cat", "folder"),
        "cat/2020/plain.png": ("2020-01-01T00:00:00", "cat", "folder"),
        "cat/12345678.png": (None, "cat", "none"),
        "2020/top.png": ("2020-01-01T00:00:00", None, "folder"),
    }
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path, **({"exif": exif} if "told" in name else {}))
    (tmp_path / "cat" / "notes.txt").write_text("no photo")
    found = {row.pop("path"): row for row in list_photos(tmp_path).to_pylist()}
    assert set(found) == set(files)
    for name, (time, label, source) in files.items():
        row = found[name]
        assert (row["time"] and row["time"].isoformat(), row["label"], row["time_from"]) == (
            time,
            label,
            source,
        ), name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "found an empty file"),
        ("header.csv", b"a,b\n", "expected rows"),
        ("binary.csv", b"\x89PNG\0\0\0\1", "found a binary file"),
        ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), "found one in UTF-16"),
        ("latin.csv", "name,x\ncafé,1\n".encode("latin-1"), "encoding UTF-8"),
        ("names.csv", "café,x\nyes,1\n".encode("latin-1"), "in the names of the columns"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", r"Expected 2 columns, got 3"),
        ("twice.csv", b"a,a\n1,2\n", "found 'a' twice"),
        ("table.xlsx", b"PK", r"named .csv, .tsv, .jsonl"),
        ("broken.jsonl", b'{"a": 1}\n{"a": ', "expected jsonl"),
        ("broken.json", b"[1, 2]", "list of objects"),
        ("broken.parquet", b"PAR1", "expected parquet"),
    ],
)
def test_what_is_no_table_is_refused(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OnwardError, match=message):
        read_file(tmp_path / name)


def test_an_empty_folder_and_a_wrong_path_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="expected parquet files, a dataset"):
        read_file(tmp_path)
    with pytest.raises(OnwardError, match="found nothing"):
        read_file(tmp_path / "nowhere.csv")


def test_bytes_of_images_are_kept(tmp_path: Path) -> None:
    sink = io.BytesIO()
    drawings(12)[0][0].save(sink, "PNG")
    rows = pa.table({"image": [{"bytes": sink.getvalue(), "path": None}] * 2})
    found = read_file(write_hugging_face(tmp_path / "data", rows, {"image": {"_type": "Image"}}))
    assert found.rows.column("image")[1].as_py()["bytes"] == sink.getvalue()
