import json
from pathlib import Path

import pytest
from metadata_rows import write_lines, yfcc_line
from terminal import Terminal


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    lines = [yfcc_line(str(n), str(1_200_000_000 + n)) for n in range(12)]
    return write_lines(tmp_path / "yfcc100m_dataset", [*lines, "1\t2\t3"])


def test_what_programs_read(onward: Terminal, meta: Path, tmp_path: Path) -> None:
    words = ["curate", "pool", meta, "--time-column", "uploaded", "--taken-column", "taken"]
    code, out, _ = onward(*words, "--buckets", "11", "--out", tmp_path / "pool", "--json")
    assert code == 0
    said = json.loads(out)
    assert (said["rows"], said["kept"], said["dropped"]) == (13, 12, {"too few columns": 1})
    assert [bucket["rows"] for bucket in said["buckets"]] == [2, *[1] * 10]
    assert said["buckets"][0]["first"] == "2008-01-10T21:20:00Z"
    assert said["buckets"][0]["last"] == "2008-01-10T21:20:01Z"
    code, out, err = onward(*words, "--buckets", "11", "--out", tmp_path / "pool", "--json")
    assert (code, json.loads(out)) == (0, said)
    assert "already there" in err


def test_what_people_read(onward: Terminal, meta: Path, tmp_path: Path) -> None:
    code, out, err = onward("curate", "pool", meta, "--every", "year", "--out", tmp_path / "pool")
    assert code == 0
    assert "13 rows read, 12 kept" in out
    assert "dropped: 1 too few columns" in out
    assert "bucket  0 2008: 12 rows" in out
    assert "already" not in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--buckets", "13"], "each of 13 buckets, found 12"),
        ([], "found neither"),
        (["--every", "yaer"], "Did you mean 'year'?"),
        (["--buckets", "2", "--engine", "sparc"], "Did you mean 'spark'?"),
        (["--buckets", "2", "--url-column", "link"], "expected a column 'link'"),
        (["--buckets", "2", "--latest", "now"], "expected a day such as"),
        (["--buckets", "2", "--format", "csv"], "unknown format 'csv'"),
    ],
)
def test_mistakes(
    onward: Terminal, meta: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    code, out, err = onward("curate", "pool", meta, "--out", tmp_path / "pool", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_no_metadata(onward: Terminal, tmp_path: Path) -> None:
    code, _, err = onward(
        "curate", "pool", tmp_path / "x", "--buckets", "2", "--out", tmp_path / "o"
    )
    assert code == 2
    assert "expected a file, or a folder of files, of metadata" in err
