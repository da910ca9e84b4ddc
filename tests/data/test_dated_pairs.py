"""A table of yours as dated pairs, and as shards."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tic_miniature import encoded

from onward.data.dated_pairs import table_pairs
from onward.data.tic_folder import read_tic
from onward.data.tic_make import make_tic_shards
from onward.errors import OnwardError


def table(path: Path, **columns: list[object]) -> Path:
    count = 60
    usual: dict[str, list[object]] = {
        "time": [f"{2019 + row % 2}-05-{1 + row % 28:02d}" for row in range(count)],
        "image": [encoded(size=(20 + row, 16)) for row in range(count)],
        "caption": [f"number {row}" for row in range(count)],
        "label": [("odd", "even")[row % 3 == 0] for row in range(count)],
    }
    pq.write_table(pa.table({**usual, **columns}), path)
    return path


def test_a_table_is_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    pairs = table_pairs(table(tmp_path / "mine.parquet"), 12)
    make_tic_shards(tmp_path / "shards", pairs)
    found = read_tic(tmp_path / "shards", side=12)
    assert [period.name for period in found.periods] == ["2019", "2020"]
    assert found.classes == ("even", "odd")
    first = found.table.wide["pair"][found.periods[0].train.rows]
    for pair in first:
        row = int(pair["text"].split()[1])
        assert row % 2 == 0
        assert np.array_equal(pair["image"], pairs.rgb(np.array([row]))[0])


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    pq.write_table(pa.table({"time": ["2020"], "text": ["a"]}), tmp_path / "t.parquet")
    with pytest.raises(OnwardError, match="none called image, caption among time, text"):
        table_pairs(tmp_path / "t.parquet", 12)
    captions: list[object] = [f"number {row}" for row in range(59)]
    path = table(tmp_path / "u.parquet", caption=[*captions, " "])
    with pytest.raises(OnwardError, match=r"found 1 without \(first: row 59\)"):
        table_pairs(path, 12)


def test_a_month_with_nothing_to_test_with(tmp_path: Path) -> None:
    times: list[object] = ["2018-01-01", *["2020-05-01"] * 59]
    pairs = table_pairs(table(tmp_path / "t.parquet", time=times), 12)
    with pytest.raises(OnwardError, match="found none to"):
        make_tic_shards(tmp_path / "shards", pairs)
    assert not (tmp_path / "shards").exists()
