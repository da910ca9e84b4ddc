import bz2
import functools
import gzip
import json
import random
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from metadata_rows import dropped_of, rows_of, write_lines, yfcc_line
from system import require

from onward.curate import cutting, on_polars, pool, reading, rules
from onward.curate.pool import PoolOptions, make_pool
from onward.curate.records import DROPPED, POOL
from onward.errors import OnwardError

SECOND = 1_000_000


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces, many parts, many ranges of hashes: as with millions of rows."""
    monkeypatch.setattr(pool, "pieces_of", functools.partial(reading.pieces_of, size=3000))
    monkeypatch.setattr(pool, "cuts", functools.partial(cutting.cuts, most=17))
    monkeypatch.setattr(on_polars, "_HASHES", 50)


def hostile_lines(seed: int, count: int = 250) -> list[tuple[str, str | None]]:
    """Return lines, each with the reason for which it should be dropped, but for repeated ids."""
    rng = random.Random(seed)
    lines: list[tuple[str, str | None]] = []
    for _ in range(count):
        # Few ids and few moments: many rows share one.
        id, time = (
            str(rng.randrange(10**6, 10**6 + 300)),
            rng.randrange(1_200_000_000, 1_200_000_600),
        )
        before = datetime.fromtimestamp(time - rng.randrange(1, 9), UTC)
        taken = f"{before:%Y-%m-%d %H:%M:%S}.0"
        kind = rng.randrange(12)
        if kind == 0:
            lines.append((yfcc_line(id, "0", taken), rules.UNSET))
        elif kind == 1:
            lines.append((yfcc_line(id, "9223372036", taken), rules.LATE))
        elif kind == 2:
            lines.append((yfcc_line(id, "soon", taken), rules.UNREAD))
        elif kind == 3:
            same = f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}"
            lines.append((yfcc_line(id, str(time), same), rules.NOT_AFTER))
        elif kind == 4:
            lines.append((yfcc_line(id, str(time), "null"), rules.NO_TAKEN))
        elif kind == 5:
            lines.append((yfcc_line(id, str(time), "2009-02-31 00:00:00"), rules.TAKEN_UNREAD))
        elif kind == 6:
            lines.append((yfcc_line(id, str(time), taken, marker="1"), reading.VIDEO))
        elif kind == 7:
            lines.append(
                ("\t".join(yfcc_line(id, str(time), taken).split("\t")[:9]), "too few columns")
            )
        else:
            lines.append((yfcc_line(id, str(time), taken, title=f"t{len(lines)}"), None))
    return lines


@pytest.mark.parametrize("seed", range(2))
def test_every_row_is_in_its_place_or_written_down(
    tmp_path: Path, in_small_pieces: None, seed: int
) -> None:
    lines = hostile_lines(seed)
    lines.insert(0, (yfcc_line("1", "1200000001", title="first"), None))
    meta = write_lines(tmp_path / "yfcc100m_dataset", [line for line, _ in lines])
    counts = make_pool([meta], tmp_path / "pool", PoolOptions(buckets=7))

    valid, dropped = [], []
    for order, (line, reason) in enumerate(lines):
        fields = line.split("\t")
        if reason is None:
            valid.append((int(fields[6]), order, fields[1], fields[8]))
        else:
            dropped.append((fields[1], reason))
    seen: set[str] = set()
    kept = []
    for time, _, id, title in sorted(valid):
        if id in seen:
            dropped.append((id, rules.SEEN))
        else:
            kept.append((time, id, title))
        seen.add(id)
    kept.sort()

    table = rows_of(tmp_path / "pool")
    assert table.schema.equals(POOL)
    found = zip(
        table["time"].cast(pa.int64()).to_pylist(),
        table["id"].to_pylist(),
        table["title"].to_pylist(),
        strict=True,
    )
    assert [(time // SECOND, id, title) for time, id, title in found] == kept
    assert dropped_of(tmp_path / "pool") == sorted(dropped)
    assert counts["rows"] == len(lines) == counts["kept"] + sum(counts["dropped"].values())
    assert counts["dropped"] == Counter(reason for _, reason in dropped)
    whole, over = divmod(len(kept), 7)
    sizes = [whole + (number < over) for number in range(7)]
    assert [bucket["rows"] for bucket in counts["buckets"]] == sizes
    for number, bucket in enumerate(counts["buckets"]):
        times = rows_of(tmp_path / "pool", number)["time"].to_pylist()
        assert len(times) == sizes[number]
        assert bucket["first"] == times[0].isoformat().replace("+00:00", "Z")
        assert bucket["last"] == times[-1].isoformat().replace("+00:00", "Z")


def test_texts_are_decoded_and_nothing_is_null(tmp_path: Path) -> None:
    meta = write_lines(tmp_path / "meta.txt", [yfcc_line("5", "1200000000", title="a%26b+c")])
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    assert rows_of(tmp_path / "pool").to_pylist() == [
        {
            "id": "5",
            "time": datetime(2008, 1, 10, 21, 20, tzinfo=UTC),
            "taken": datetime(2004, 2, 3, 4, 5, 6, tzinfo=UTC),
            "url": "http://img.example/5.jpg",
            "page": "http://flickr.example/5",
            "author": "René",
            "title": "a&b c",
            "caption": None,
            "licence": "Attribution License",
            "licence_url": "http://creativecommons.example/by",
        }
    ]


def test_the_first_edition_has_23_columns(tmp_path: Path) -> None:
    fields = yfcc_line("5", "1200000000").split("\t")
    meta = write_lines(tmp_path / "meta", ["\t".join([fields[1], *fields[3:]])])
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    assert rows_of(tmp_path / "pool")["url"].to_pylist() == ["http://img.example/5.jpg"]


def test_a_line_with_too_many_columns_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    meta = tmp_path / "meta"
    lines = [yfcc_line("5", "1200000000"), yfcc_line("6", "1200000000") + "\tmore"]
    meta.write_bytes("\n".join(lines).encode().replace(b"A+title", b"\xff+title"))
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    assert rows_of(tmp_path / "pool")["title"].to_pylist() == ["\ufffd title"]
    assert dropped_of(tmp_path / "pool") == [("6", "too many columns")]


def times_and_ids(folder: Path) -> list[tuple[str, str]]:
    table = rows_of(folder)
    moments = [time.strftime("%Y-%m-%d %H:%M") for time in table["time"].to_pylist()]
    return list(zip(moments, table["id"].to_pylist(), strict=True))


TABLE = [("2009-09-07 12:00", "a"), ("2010-01-01 00:00", "b"), ("2011-03-04 05:06", "c")]


def _csv(path: Path) -> Path:
    rows = [
        "id;when;title",
        'c;2011-03-04T05:06:00Z;"two\nlines; ""quoted"""',
        "b;2010;",
        "a;1252324800;x",
    ]
    return write_lines(path / "meta.csv", rows)


def _packed(path: Path) -> Path:
    (path / "meta.csv.gz").write_bytes(gzip.compress(_csv(path).read_bytes()))
    (path / "meta.csv").unlink()
    return path / "meta.csv.gz"


def _tsv(path: Path) -> Path:
    rows = ["id\twhen", "b\t2010-01-01 01:00+01:00", "a\t2009-09-07 12:00:00.5", "c\t1299215160000"]
    path = path / "meta.tsv.bz2"
    path.write_bytes(bz2.compress("\ufeff".encode() + "\r\n".join(rows).encode()))
    return path


def _jsonl(path: Path) -> Path:
    rows: list[Any] = [{"id": id, "when": when} for when, id in reversed(TABLE)]
    rows[0]["when"], rows[1]["id"] = 1299215160.0, "b"
    return write_lines(path / "meta.jsonl", [*map(json.dumps, rows)])


def _parquet(path: Path) -> Path:
    when = [datetime.fromisoformat(f"{time}:00+00:00") for time, _ in TABLE]
    pq.write_table(
        pa.table({"id": ["a", "b", "c"], "when": when}), path / "meta.parquet", row_group_size=1
    )
    return path / "meta.parquet"


def _float(path: Path) -> Path:
    seconds = [1252324800.0, 1262304000.0, 1299215160.0, float("nan")]
    ids = pa.array(["a", "b", "c", "d"]).dictionary_encode()
    pq.write_table(pa.table({"id": ids, "when": seconds}), path / "meta.parquet")
    return path / "meta.parquet"


@pytest.mark.parametrize("write", [_csv, _packed, _tsv, _jsonl, _parquet, _float])
def test_tables_of_all_kinds(tmp_path: Path, write: Any) -> None:
    meta = write(tmp_path)
    options = PoolOptions(buckets=3, columns={"time": "when"})
    counts = make_pool([meta], tmp_path / "pool", options)
    assert times_and_ids(tmp_path / "pool") == TABLE
    assert counts["dropped"] == ({rules.NO_TIME: 1} if write is _float else {})


def test_quotes_may_go_over_lines_and_over_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onward.curate import blocks

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 50)
    rows = ["id,time,title", *(f'{n},{1_200_000_000 + n},"a ""{n}""\n,\n"' for n in range(40))]
    meta = write_lines(tmp_path / "meta.csv", rows)
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    table = rows_of(tmp_path / "pool")
    assert table["title"].to_pylist() == [f'a "{n}"\n,\n' for n in range(40)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            'b,1200000001,"never closed',
            r"quote in .*m.csv to be closed, found one that is not, about the row 'b'",
        ),
        ('"b,1200000001,never closed', "found one that is not, about the row 'b"),
        # As many quotes as if all were closed.
        ('b,1200000001,a 12" disc\nc,1200000001,"never closed', "the row 'c'"),
    ],
)
def test_a_quote_that_is_never_closed_hides_no_rows(
    tmp_path: Path, line: str, message: str
) -> None:
    rest = [f"x{n},120000000{n},t" for n in range(9)]
    meta = write_lines(tmp_path / "m.csv", ["id,time,title", "a,1200000000,t", line, *rest])
    with pytest.raises(OnwardError, match=message):
        make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))


def test_a_quote_inside_of_a_text_is_a_part_of_it(tmp_path: Path) -> None:
    lines = ["id,time,title", 'a,1200000000,a 12" disc', "b,1200000001,t"]
    meta = write_lines(tmp_path / "m.csv", lines)
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    assert rows_of(tmp_path / "pool")["title"].to_pylist() == ['a 12" disc', "t"]


@pytest.mark.parametrize("name", ["m.csv.gz", "m.csv.bz2", "m.jsonl.gz", "m.csv.zst"])
@pytest.mark.parametrize("whole", [True, False])
def test_compressed_metadata_that_are_damaged(tmp_path: Path, name: str, whole: bool) -> None:
    meta = tmp_path / name
    with pa.output_stream(meta) as stream:
        stream.write(b"id,time\na,1200000000\n")
    meta.write_bytes(b"no such thing" if whole else meta.read_bytes()[:-9])
    with pytest.raises(OnwardError, match=r"expected metadata in .*found what cannot be read"):
        make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))


def test_what_img2dataset_could_not_download_is_dropped(tmp_path: Path) -> None:
    held = {
        "key": ["000", "001"], "url": ["u", "v"], "status": ["success", "failed_to_download"],
        "uploaded": [1_200_000_000, 1_200_000_001], "caption": ["c", None],
    }  # fmt: skip
    pq.write_table(pa.table(held), tmp_path / "00000.parquet")
    counts = make_pool([tmp_path / "*.parquet"], tmp_path / "pool", PoolOptions(buckets=1))
    assert counts["dropped"] == {reading.NOT_FETCHED: 1}
    assert rows_of(tmp_path / "pool")["id"].to_pylist() == ["000"]


def test_lines_that_are_no_objects(tmp_path: Path) -> None:
    half = '{"id": "\\ud800", "time": "2010-01-02"}'
    lines = ['{"id": 1, "time": "2010-01-01"}', "[1]", "{", "", "[" * 100_000, half]
    meta = write_lines(tmp_path / "m.jsonl", lines)
    counts = make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    assert counts["dropped"] == {"not a JSON object": 3}
    assert rows_of(tmp_path / "pool")["id"].to_pylist() == ["1", "?"]


def test_files_of_a_folder_count_as_one(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    write_lines(
        tmp_path / "meta" / "0", [yfcc_line("1", "1200000009"), yfcc_line("2", "1200000001")]
    )
    write_lines(
        tmp_path / "meta" / "1", [yfcc_line("1", "1200000005"), yfcc_line("3", "1200000003")]
    )
    counts = make_pool([tmp_path / "meta"], tmp_path / "pool", PoolOptions(buckets=3))
    assert rows_of(tmp_path / "pool")["id"].to_pylist() == ["2", "3", "1"]
    found = pq.read_table(next((tmp_path / "pool" / "dropped").iterdir()))
    assert found.schema.equals(DROPPED)
    assert found.to_pylist() == [
        {"source": str(tmp_path / "meta" / "0"), "id": "1", "reason": rules.SEEN}
    ]
    assert counts["dropped"] == {rules.SEEN: 1}


def test_periods_of_the_calendar(tmp_path: Path) -> None:
    rows = [
        "id,time",
        "a,2009-12-31T23:59:59.999999Z",
        "b,2010-01-01",
        "c,2010-03-31",
        "d,2010-07-01",
    ]
    meta = write_lines(tmp_path / "m.csv", [*rows, "e,1955-11-05"])
    counts = make_pool([meta], tmp_path / "pool", PoolOptions(every="quarter"))
    assert [(bucket["name"], bucket["rows"]) for bucket in counts["buckets"]] == [
        ("1955-Q4", 1), ("2009-Q4", 1), ("2010-Q1", 2), ("2010-Q3", 1),
    ]  # fmt: skip
    assert rows_of(tmp_path / "pool", 2)["id"].to_pylist() == ["b", "c"]


def test_folders_of_a_hundred_buckets_sort_as_numbers(tmp_path: Path) -> None:
    meta = write_lines(tmp_path / "m.csv", ["id,time", *(f"{n},{10**9 + n}" for n in range(120))])
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=101))
    assert (tmp_path / "pool" / "rows" / "000").is_dir()
    assert (tmp_path / "pool" / "rows" / "100").is_dir()


def test_limits_on_days(tmp_path: Path) -> None:
    meta = write_lines(
        tmp_path / "m.csv",
        ["id,time", "a,1970-05-01", "b,2004-01-01", "c,2014-04-28T23:59:59", "d,2014-04-29"],
    )
    options = PoolOptions(buckets=1, earliest="1970-02-01", latest="2014-04-28")
    counts = make_pool([meta], tmp_path / "pool", options)
    assert rows_of(tmp_path / "pool")["id"].to_pylist() == ["a", "b", "c"]
    assert counts["dropped"] == {rules.LATE: 1}
    again = make_pool([meta], tmp_path / "other", PoolOptions(buckets=1, earliest="2004-01-01"))
    assert again["dropped"] == {rules.EARLY: 1}


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["id,when", "a,1"], {}, "a column for the time.*found id, when.*--time-column"),
        (["id,when", "a,1"], {"columns": {"time": "x"}}, "column 'x'.*found id, when"),
        (["name,time", "a,1"], {}, "a column for the id"),
        (["id,time", "a,soon", "b,later"], {}, "column 'time'.*none that is understood.*id, time"),
        (["id,time,taken", "a,1200000000,x"], {"columns": {"taken": "taken"}}, "column 'taken'"),
        (["id,time", "a,0"], {}, "expected valid rows, found none among 1: 1 time in 1970"),
        (["id,time", "a,1200000000"], {"buckets": 2}, "each of 2 buckets, found 1"),
        (["id,time,time", "a,1,2"], {}, "'time' twice"),
        (["id,time"], {}, "expected rows"),
        (["id,time", "a,1200000000"], {"format": "yfcc"}, "format yfcc.*found table"),
        (["id,time", "a,03/04/2020"], {}, "days or months come first"),
    ],
)  # fmt: skip
def test_mistakes_leave_nothing_behind(
    tmp_path: Path, lines: list[str], options: dict[str, Any], message: str
) -> None:
    meta = write_lines(tmp_path / "m.csv", lines)
    with pytest.raises(OnwardError, match=message):
        make_pool([meta], tmp_path / "pool", PoolOptions(**{"buckets": 1, **options}))
    good = write_lines(tmp_path / "good.csv", ["id,time", "a,1200000000"])
    make_pool([good], tmp_path / "pool", PoolOptions(buckets=1))


@pytest.mark.parametrize(
    "options", [{}, {"buckets": 2, "every": "year"}, {"every": "week"}, {"buckets": 0}]
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(OnwardError):
        PoolOptions(**options)


def test_a_pool_goes_on_where_it_stopped(
    tmp_path: Path, in_small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = write_lines(tmp_path / "m", [line for line, _ in hostile_lines(1) if "\t" in line])
    options = PoolOptions(buckets=5, latest="2026-01-01")
    make_pool([meta], tmp_path / "whole", options)

    out = tmp_path / "stopped"
    for place, most in (("write_run", 3), ("write_part", 4)):
        real, calls = getattr(on_polars, place), []

        def stop(
            *args: Any, real: Any = real, calls: list[int] = calls, most: int = most, **given: Any
        ) -> Any:
            calls.append(1)
            if len(calls) > most:
                raise KeyboardInterrupt
            return real(*args, **given)

        with monkeypatch.context() as patch:
            patch.setattr(on_polars, place, stop)
            with pytest.raises(KeyboardInterrupt):
                make_pool([meta], out, options)

    def never(*args: Any) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(on_polars, "write_run", never)
    make_pool([meta], out, options)
    assert files(out) == files(tmp_path / "whole")


def test_metadata_that_changed_are_noticed(tmp_path: Path) -> None:
    meta = write_lines(tmp_path / "m.csv", ["id,time", "a,1200000000"])
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))
    write_lines(meta, ["id,time", "b,1200000000"])
    with pytest.raises(OnwardError, match="found sources"):
        make_pool([meta], tmp_path / "pool", PoolOptions(buckets=1))


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "begun.json"
    }


@pytest.mark.slow
def test_spark_writes_the_same_files(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark")
    require("java")
    lines = [line for seed in range(3) for line, _ in hostile_lines(seed)]
    write_lines(tmp_path / "yfcc", [yfcc_line("1", "1200000001"), *lines])
    rows = [
        "id,uploaded,taken,title",
        *(f'x{n},{10**9 + n},2000-01-01,"a\n{n}"' for n in range(500)),
    ]
    write_lines(tmp_path / "more.csv", [*rows, "x7,999999999,1999-01-01,earlier", "short"])
    words = [tmp_path / "yfcc", tmp_path / "more.csv", "--time-column", "uploaded"]
    common = ["--taken-column", "taken", "--buckets", "11", "--json", "--out"]
    said = []
    for engine in (["--engine", "polars"], ["--engine", "spark", "--master", "local[2]"]):
        out = tmp_path / engine[1]
        command = [sys.executable, "-m", "onward", "curate", "pool", *words, *common, out, *engine]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]
    assert said[0]["dropped"][rules.SEEN] > 50
    assert files(tmp_path / "polars") == files(tmp_path / "spark")
