"""First-seen months: what is joined, what is kept, what is said of the rest."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from system import require
from typer.testing import CliRunner

from onward.cli import app
from onward.curate import first_seen
from onward.curate.date import DateOptions, make_dated
from onward.curate.first_seen import NOWHERE, TWICE
from onward.curate.known_dates import compare_dates
from onward.curate.pair_reading import ENCODED, NO_CAPTION, NO_URL, hashed_id
from onward.curate.records import DATED, DROPPED
from onward.curate.rules import SEEN
from onward.curate.stage import open_stage
from onward.errors import OnwardError


def uid(number: int) -> str:
    return f"{number:031d}f"


PAIRS = [
    # uid, url, text, width, height, the months of snapshots that have it
    (uid(0), "u/0", "a red fox", 300, 300, ("2017-05", "2016-06")),
    (uid(1), "u/1", "<b>a hare</b> &amp; more", 300, 200, ("2017-05",)),
    (uid(2), "u/2", "seen by nobody", 300, 200, ()),
    (uid(3), "u/0", "a red fox", 300, 300, ()),
    (uid(4), "", "no address here", 1, 1, ()),
    (uid(5), "u/5", "<br/> &nbsp; ", 1, 1, ("2016-06",)),
    (uid(1), "u/6", "the id of the hare", 9, 9, ("2020-01",)),
    (uid(7), "u/0", "another caption of the fox", None, None, ("2020-01", "2017-05")),
    ("seven", "u/8", "an id that is none", 5, 5, ("2016-06",)),
]


def write_raw(folder: Path) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    columns = list(zip(*PAIRS, strict=True))
    names = ("uid", "url", "text", "original_width", "original_height")
    pq.write_table(pa.table(dict(zip(names, columns, strict=False))), folder / "pool.parquet")
    (folder / "snapshots").mkdir()
    for month in ("2016-06", "2017-05", "2020-01"):
        held = [(url, text) for _, url, text, _, _, months in PAIRS if month in months]
        held.append(("elsewhere", "something else"))
        texts = {"url": [url for url, _ in held], "text": [text for _, text in held]}
        pq.write_table(pa.table(texts), folder / "snapshots" / f"{month}.parquet")
    return folder / "pool.parquet", folder / "snapshots"


def rows_of(out: Path) -> list[dict[str, Any]]:
    parts = sorted((out / "rows").glob("*/*.parquet"))
    assert all(pq.read_schema(path) == DATED for path in parts)
    return [row for path in parts for row in pq.read_table(path).to_pylist()]


def dropped_of(out: Path) -> dict[str | None, str]:
    found = {}
    for path in sorted((out / "dropped").glob("*.parquet")):
        assert pq.read_schema(path) == DROPPED
        found |= {row["id"]: row["reason"] for row in pq.read_table(path).to_pylist()}
    return found


def test_a_pair_has_the_first_month_and_all_else_a_reason(tmp_path: Path) -> None:
    pool, snapshots = write_raw(tmp_path / "raw")
    counts = make_dated([pool], [snapshots], tmp_path / "out")
    rows = {row["id"]: row for row in rows_of(tmp_path / "out")}
    hashed = hashed_id("u/8", "an id that is none")
    assert {key: f"{row['time']:%Y-%m-%d}" for key, row in rows.items()} == {
        uid(0): "2016-06-01",
        hashed: "2016-06-01",
        uid(1): "2017-05-01",
        uid(7): "2017-05-01",
    }
    assert rows[uid(1)]["caption"] == "a hare & more"
    assert (rows[uid(1)]["width"], rows[uid(1)]["height"]) == (300, 200)
    assert rows[uid(7)]["width"] is None
    assert dropped_of(tmp_path / "out") == {
        uid(1): SEEN,
        uid(2): NOWHERE,
        uid(3): TWICE,
        uid(4): NO_URL,
        uid(5): NO_CAPTION,
    }
    assert (counts["rows"], counts["kept"], counts["hashed_ids"]) == (len(PAIRS), 4, 1)
    assert [(one["name"], one["rows"]) for one in counts["buckets"]] == [("2016", 2), ("2017", 2)]
    assert counts["buckets"][1]["first"] == "2017-05-01T00:00:00Z"
    assert [one["first_seen"] for one in counts["snapshots"]] == [2, 2, 0]
    assert counts["snapshots_in_order"]
    assert open_stage(tmp_path / "out", "date").counts == counts
    assert not (tmp_path / "out" / ".work").exists()


def test_parts_of_a_month_are_cut_at_ids_and_stay_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 400
    ids = [hashed_id(str(n), "x") for n in range(count)]
    pairs = pl.DataFrame({"uid": ids, "url": ids, "text": ["some text here"] * count})
    pairs.write_parquet(tmp_path / "pool.parquet", row_group_size=90)
    (tmp_path / "seen").mkdir()
    pairs.head(250).write_parquet(tmp_path / "seen" / "2019-03.parquet")
    pairs.write_parquet(tmp_path / "seen" / "2019-04.parquet")
    monkeypatch.setattr("onward.curate.date.parts_of", _small_parts)
    make_dated([tmp_path / "pool.parquet"], [tmp_path / "seen"], tmp_path / "out")
    parts = sorted((tmp_path / "out" / "rows" / "00").glob("*.parquet"))
    assert len(parts) == 9 + 5
    found = [(row["time"], row["id"]) for row in rows_of(tmp_path / "out")]
    assert found == sorted(found)
    assert {id for _, id in found} == set(ids)
    assert sum(time.month == 3 for time, _ in found) == 250


def _small_parts(rows: dict[int, int], every: str) -> Any:
    return first_seen.parts_of(rows, every, 30)


def test_months_are_read_from_names_folders_weeks_or_a_column(tmp_path: Path) -> None:
    pool, snapshots = write_raw(tmp_path / "raw")
    plain = make_dated([pool], [snapshots], tmp_path / "plain")
    other = tmp_path / "other"
    # Names that are not in the order of time, two files of a month, and a folder.
    (other / "b-2017-05").mkdir(parents=True)
    shutil.copy(snapshots / "2017-05.parquet", other / "b-2017-05" / "part-0.parquet")
    shutil.copy(snapshots / "2017-05.parquet", other / "b-2017-05" / "part-1.parquet")
    shutil.copy(snapshots / "2020-01.parquet", other / "a_202001.parquet")
    shutil.copy(snapshots / "2016-06.parquet", other / "CC-MAIN-2016-26.parquet")
    found = make_dated([pool], [other], tmp_path / "moved")
    assert not found["snapshots_in_order"]
    assert [one["month"] for one in found["snapshots"]] == ["2016-06", "2017-05", "2020-01"]
    assert found["snapshots"][1]["rows"] == 2 * plain["snapshots"][1]["rows"]
    assert rows_of(tmp_path / "moved") == rows_of(tmp_path / "plain")
    together = pl.concat(
        [
            pl.read_parquet(path).with_columns(month=pl.lit(path.stem))
            for path in snapshots.iterdir()
        ]
    )
    together.write_csv(tmp_path / "all.csv")
    by_column = make_dated([pool], [tmp_path / "all.csv"], tmp_path / "column")
    assert by_column["buckets"] == plain["buckets"]
    together.with_columns(month=pl.lit("soon")).write_csv(tmp_path / "bad.csv")
    with pytest.raises(OnwardError, match="rows with another text"):
        make_dated([pool], [tmp_path / "bad.csv"], tmp_path / "bad")
    together.with_columns(month=pl.lit("2099-01")).write_csv(tmp_path / "late.csv")
    with pytest.raises(OnwardError, match="snapshots of the past, found 2099-01"):
        make_dated([pool], [tmp_path / "late.csv"], tmp_path / "bad")
    shutil.copy(snapshots / "2016-06.parquet", tmp_path / "some.parquet")
    with pytest.raises(OnwardError, match="Name it as 2016-06"):
        make_dated([pool], [tmp_path / "some.parquet"], tmp_path / "bad")
    shutil.copy(snapshots / "2016-06.parquet", tmp_path / "2099-01.parquet")
    with pytest.raises(OnwardError, match="snapshots of the past"):
        make_dated([pool], [snapshots, tmp_path / "2099-01.parquet"], tmp_path / "bad")


def test_texts_in_another_encoding_are_named_and_counted(tmp_path: Path) -> None:
    lines = ["url,text", "u/1,a caf\xe9 in paris", "u/2,a plain caption"]
    (tmp_path / "pool.csv").write_bytes("\n".join(lines).encode("latin-1"))
    seen = [json.dumps({"url": "u/2", "text": "a plain caption"}).encode()]
    seen.append('{"url": "u/1", "text": "a caf\xe9 in paris"}'.encode("latin-1"))
    (tmp_path / "2016-06.jsonl").write_bytes(b"\n".join(seen))
    found = make_dated([tmp_path / "pool.csv"], [tmp_path / "2016-06.jsonl"], tmp_path / "out")
    assert found["dropped"] == {ENCODED: 1}
    assert found["snapshots"][0] == {
        "month": "2016-06", "rows": 2, "undecoded": 1, "first_seen": 1,
    }  # fmt: skip
    assert found["hashed_ids"] == found["kept"] == 1


def test_true_dates_are_compared_and_drawn(tmp_path: Path) -> None:
    pool, snapshots = write_raw(tmp_path / "raw")
    dates = ["2016-06-20", "2016-01-01", "2017-04-30", "2016-01-01"]
    known = pl.DataFrame({"uid": [uid(0), uid(1), uid(7), uid(2)], "date": dates})
    known.write_csv(tmp_path / "known.csv")
    command = ["curate", "date", pool, "--snapshots", snapshots, "--out", tmp_path / "out"]
    done = CliRunner().invoke(app, [*map(str, command), "--known", str(tmp_path / "known.csv")])
    assert done.exit_code == 0, done.output
    assert "3 compared" in done.output
    found = compare_dates(tmp_path / "out", tmp_path / "known.csv")
    assert found["median_lag_months"] == 1
    assert found["within_a_year"] == pytest.approx(2 / 3)
    assert (tmp_path / "out" / "known.png").read_bytes().startswith(b"\x89PNG")
    known.head(1).write_csv(tmp_path / "one.csv")
    one = CliRunner().invoke(app, [*map(str, command), "--known", str(tmp_path / "one.csv")])
    assert "1 compared, all of one month" in one.output
    assert compare_dates(tmp_path / "out", tmp_path / "one.csv")["spearman"] is None
    pl.DataFrame({"url": ["nowhere"], "date": ["2016-06-20"]}).write_csv(tmp_path / "other.csv")
    with pytest.raises(OnwardError, match="found none of them"):
        compare_dates(tmp_path / "out", tmp_path / "other.csv")


def test_nothing_in_common_is_said_and_leaves_nothing_behind(tmp_path: Path) -> None:
    pool, _ = write_raw(tmp_path / "raw")
    pl.DataFrame({"url": ["x"], "text": ["y"]}).write_parquet(tmp_path / "2016-06.parquet")
    with pytest.raises(OnwardError, match=r"found none among 9: 7 in no snapshot"):
        make_dated([pool], [tmp_path / "2016-06.parquet"], tmp_path / "out")
    assert not (tmp_path / "out" / "begun.json").exists()
    with pytest.raises(OnwardError, match="calendar"):
        DateOptions(every="week")


def test_files_without_a_row_are_said_or_passed_over(tmp_path: Path) -> None:
    pool, snapshots = write_raw(tmp_path / "raw")
    bare, empty = tmp_path / "bare.csv", tmp_path / "empty.parquet"
    bare.write_text("url,text\n")
    pl.read_parquet(pool).clear().write_parquet(empty)
    for given in (bare, empty):
        with pytest.raises(OnwardError, match="no rows"):
            make_dated([given], [snapshots], tmp_path / "out")
    plain = make_dated([pool], [snapshots], tmp_path / "plain")
    (snapshots / "2018-01.csv").write_text("url,text\n")
    more = make_dated([pool, bare], [snapshots], tmp_path / "more")
    assert more["buckets"] == plain["buckets"]
    assert rows_of(tmp_path / "more") == rows_of(tmp_path / "plain")
    with pytest.raises(OnwardError, match="rows in snapshots, found none"):
        make_dated([pool], [_renamed(empty, "2016-01.parquet")], tmp_path / "out")
    with pytest.raises(OnwardError, match="found none among 9"):
        make_dated([pool], [_renamed(bare, "2016-01.csv")], tmp_path / "out")


def _renamed(path: Path, name: str) -> Path:
    return Path(shutil.copy(path, path.with_name(name)))


@pytest.mark.slow
def test_spark_writes_the_same_files(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark")
    require("java")
    pool, snapshots = write_raw(tmp_path / "raw")
    more = tmp_path / "more.csv"
    lines = [
        "uid,url,text",
        *(f"{n:032x},u/{n % 300},caption {n % 500} of it" for n in range(1900)),
    ]
    more.write_text("\n".join([*lines, "short"]), "utf-8")
    seen = ["url,text", *(f"u/{n % 300},caption {n % 500} of it" for n in range(0, 1500, 2))]
    (snapshots / "2018-02.csv").write_text("\n".join(seen), "utf-8")
    said = []
    for engine in (["--engine", "polars"], ["--engine", "spark", "--master", "local[2]"]):
        out = tmp_path / engine[1]
        words = ["curate", "date", pool, more, "--snapshots", snapshots, "--json", "--out", out]
        command = [sys.executable, "-m", "onward", *map(str, words), *engine]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]
    assert said[0]["dropped"][TWICE] > 100
    files = [
        {
            str(path.relative_to(tmp_path / name)): path.read_bytes()
            for path in (tmp_path / name).rglob("*.parquet")
        }
        for name in ("polars", "spark")
    ]
    assert files[0] == files[1]


def test_an_open_quote_is_named_where_pairs_have_no_ids(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text('url,text\nu/0,a red fox\nu/1,"never closed\nu/2,a hare\n')
    (tmp_path / "2016-06.csv").write_text("url,text\nu/0,a red fox\n")
    with pytest.raises(OnwardError, match="about the row 'u/1'"):
        make_dated(
            [tmp_path / "pool.csv"],
            [tmp_path / "2016-06.csv"],
            tmp_path / "out",
            DateOptions(every="year"),
        )
