import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clear_miniature import write_old
from terminal import Terminal
from your_tables import ROWS, points, write_csv, write_photos

from onward.data.emoji_history import load_emoji
from onward.report.commands import commands
from onward.results.read import read_spec

COLUMNS = ("--time-column", "taken", "--label-column", "kind")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_from_a_file_to_scores_in_one_command(onward: Terminal, tmp_path: Path) -> None:
    columns = points()
    columns["kind"][5] = None
    path = write_csv(tmp_path / "table.csv", columns)
    words = ("run", "yours", "--data", path, *COLUMNS, "--group-column", "who")
    options = ("--periods", "yearly", "--method", "finetune", "--method", "nap", "--jobs", "1")
    code, out, _ = onward(*words, *options, "--out", tmp_path / "results", "--json")
    assert code == 0
    finetune, nap = json.loads(out)
    assert finetune["periods"] == ["2018", "2019", "2020", "2021"]
    assert 0 < nap["metrics"]["next_domain"]["mean"] <= 1
    code, out, _ = onward(*words, *options, "--out", tmp_path / "results")
    assert code == 0
    assert "left out: 1 rows without a label (kept, unlabelled)" in out
    assert "What is right tomorrow?" in out
    code, out, _ = onward("check", "results", tmp_path / "results")
    assert (code, "2 run folders checked, 0 with problems" in out) == (0, True)


def test_describe_says_what_was_understood(onward: Terminal, tmp_path: Path) -> None:
    columns = points()
    columns["kind"][5] = None
    path = write_csv(tmp_path / "table.csv", columns)
    code, out, _ = onward("data", "describe", path, *COLUMNS, "--periods", "yearly", "--json")
    found = json.loads(out)
    assert code == 0
    assert [period["name"] for period in found["periods"]] == ["2018", "2019", "2020", "2021"]
    years = [day[:4] for day in columns["taken"]]
    low = [y for y, kind in zip(years, columns["kind"], strict=True) if kind == "low"]
    assert [period["classes"]["low"] for period in found["periods"]] == [
        low.count(year) for year in ("2018", "2019", "2020", "2021")
    ]
    assert found["samples"] == ROWS - 1
    assert found["come"] == {"2019": ["odd"]}
    assert found["left_out"] == {"without a label (kept, unlabelled)": 1}
    assert found["duplicates"]["exact"] == 0
    code, out, _ = onward("data", "describe", path, *COLUMNS, "--periods", "yearly")
    assert code == 0
    assert "no zone, taken as UTC" in out
    assert "1 without a label (kept, unlabelled)" in out
    assert "onward run yours --data" in out
    assert "--periods yearly" in out
    assert max(map(len, out.splitlines())) <= 100


def test_describe_finds_what_was_learned_before_it_is_tested(
    onward: Terminal, tmp_path: Path
) -> None:
    columns = points()
    for name in ("x", "y"):
        columns[name][-4:] = columns[name][:4]
        columns[name][-6:-4] = [value + 1e-4 for value in columns[name][4:6]]
    path = write_csv(tmp_path / "table.csv", columns)
    _, out, _ = onward("data", "describe", path, *COLUMNS, "--json")
    assert (json.loads(out)["duplicates"]["exact"], json.loads(out)["duplicates"]["near"]) in [
        (4, near) for near in (1, 2)
    ]


def test_check_data_reads_everything(onward: Terminal, tmp_path: Path) -> None:
    path = write_photos(tmp_path)
    words = ("check", "data", path, *COLUMNS, "--image-column", "path")
    code, out, _ = onward(*words)
    assert (code, "96 samples read in full (image), 0 problems" in out) == (0, True)
    (tmp_path / "photos" / "4.png").unlink()
    (tmp_path / "photos" / "80.png").write_bytes(b"no image")
    code, out, _ = onward(*words, "--json")
    found = json.loads(out)
    assert code == 2
    assert [problem["row"] for problem in found["problems"]] == [None, 80]
    assert "photos/4.png" in found["problems"][0]["problem"]
    code, out, _ = onward(*words)
    assert code == 2
    assert "95 samples read in full (image), 2 problems" in out


def test_check_data_reads_the_official_clear(onward: Terminal, tmp_path: Path) -> None:
    folder = write_old(tmp_path / "clear10", per_class=3)
    code, out, _ = onward("check", "data", folder)
    assert (code, "0 problems" in out) == (0, True)
    pictures = sorted((folder / "labeled_images" / "2").rglob("*.*"))
    pictures[0].write_bytes(pictures[0].read_bytes()[:50])
    pictures[1].unlink()
    code, out, _ = onward("check", "data", folder, "--json")
    problems = [problem["problem"] for problem in json.loads(out)["problems"]]
    assert code == 2
    assert len(problems) == 2
    assert pictures[1].name in problems[0]
    assert pictures[0].name in problems[1]


@pytest.mark.slow
def test_check_data_reads_the_emoji(onward: Terminal) -> None:
    code, out, _ = onward("check", "data", "emoji")
    assert (code, f"{len(load_emoji()):,} samples read in full (image), 0 problems" in out) == (
        0,
        True,
    )


def changed(**columns: list[Any]) -> dict[str, list[Any]]:
    return {**points(), **columns}


def tables(folder: Path) -> dict[str, Path]:
    """Write tables with one mistake each, by the name of the mistake."""
    vectors = [[1.0, 2.0]] * (ROWS - 1) + [[1.0]]
    pq.write_table(pa.table({**points(), "v": vectors}), folder / "widths.parquet")
    rare = points()
    rare["kind"][50], rare["who"][50] = "rare", "person 41"
    found = {
        "good": points(),
        "times": changed(taken=["2020-01-01", "soon"] * (ROWS // 2)),
        "slashes": changed(taken=["03/04/2020", "05/06/2021"] * (ROWS // 2)),
        "one period": changed(taken=["2020-01-01"] * ROWS),
        "measured": changed(kind=np.arange(0, ROWS / 4, 0.25).tolist()),
        "nan": changed(x=[float("nan")] + [1.0] * (ROWS - 1)),
        "rare": rare,
    }
    paths = {name: write_csv(folder / f"{name}.csv", columns) for name, columns in found.items()}
    (folder / "empty.csv").write_bytes(b"")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    (folder / "latin.csv").write_bytes("taken,kind\n2020,café\n".encode("latin-1"))
    (folder / "table.xlsx").write_bytes(b"PK")
    others = ("empty.csv", "binary.csv", "latin.csv", "table.xlsx", "nowhere.csv", "widths.parquet")
    return paths | {name: folder / name for name in others}


GROUPED = ("--group-column", "who")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("good", ("--time-column", "takn"), "Did you mean 'taken'?"),
        ("good", ("--label-column", "kindd"), "Did you mean 'kind'?"),
        (
            "good",
            ("--feature-column", "z"),
            "expected a column 'z' in good.csv for feature_columns",
        ),
        ("good", ("--periods", "monthyl"), "Did you mean 'monthly'?"),
        ("good", ("--features", "moco_b0"), "unknown features of yours"),
        ("good", ("--recipe", "papr"), "Did you mean 'paper'?"),
        ("good", ("--protocol", "stream"), "Did you mean 'streaming'?"),
        ("good", ("--image-column", "who"), "expected an image for every row, found 240 of 240"),
        ("times", (), "found 120 of 240 that cannot be read (row 1: 'soon', row 3: 'soon'"),
        ("slashes", (), "--day-first, --month-first"),
        ("one period", (), "expected two periods or more with labelled samples, found 1"),
        ("measured", (), "looks like a measurement"),
        ("nan", (), "found 1 that are not (row 0: nan)"),
        ("rare", (*GROUPED, "--seeds", "1"), "'rare' (1 samples) in the test part only"),
        ("widths.parquet", (), "expected 2 numbers in every row of column 'v', found 1 rows"),
        ("empty.csv", (), "found an empty file"),
        ("binary.csv", (), "found a binary file"),
        ("latin.csv", (), "Save it with the encoding UTF-8"),
        ("table.xlsx", (), "expected a file named .csv"),
        ("nowhere.csv", (), "found nothing"),
    ],
)
def test_a_mistake_gets_one_message_and_exit_code_2(
    onward: Terminal, tmp_path: Path, name: str, options: tuple[str, ...], message: str
) -> None:
    path = tables(tmp_path)[name]
    given = dict(zip(COLUMNS[::2], COLUMNS[1::2], strict=True))
    given |= dict(zip(options[::2], options[1::2], strict=True))
    words = [part for pair in given.items() for part in pair]
    out_folder = tmp_path / "results"
    code, out, err = onward(
        "run", "yours", "--data", path, *words, "--method", "er", "--out", out_folder
    )
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""
    assert not out_folder.exists()


def test_a_truncated_image_stops_a_run_with_its_row(onward: Terminal, tmp_path: Path) -> None:
    path = write_photos(tmp_path)
    picture = tmp_path / "photos" / "33.png"
    picture.write_bytes(picture.read_bytes()[:100])
    code, _, err = onward(
        "run", "yours", "--data", path, *COLUMNS, "--image-column", "path", "--method", "nap"
    )
    assert code == 2
    assert "expected an image in row 33" in err
    assert "Traceback" not in err


def test_slashes_are_read_as_told(onward: Terminal, tmp_path: Path) -> None:
    path = tables(tmp_path)["slashes"]
    for order, names in (("--day-first", ["2020-04"]), ("--month-first", ["2020-03"])):
        words = ("data", "describe", path, *COLUMNS, "--periods", "monthly", order, "--json")
        code, out, _ = onward(*words)
        assert code == 0
        assert [period["name"] for period in json.loads(out)["periods"]][:1] == names


def test_what_the_report_says_makes_the_same_runs(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    columns = points()
    columns["taken"] = [f"{day[5:7]}/{day[8:10]}/{day[:4]}" for day in columns["taken"]]
    write_csv(tmp_path / "table.csv", columns)
    words = ("--data", "table.csv", *COLUMNS, "--group-column", "who", "--periods", "yearly")
    asked = ("--month-first", "--text-width", "64", "--method", "nap", "--jobs", "1")
    code, _, err = onward("run", "yours", *words, *asked, "--out", "results")
    assert code == 0, err
    specs = [read_spec(path.parent) for path in Path("results").rglob("spec.json")]
    (command,) = commands(specs)
    for part in (*COLUMNS, "--month-first", "--periods yearly", "--text-width 64"):
        assert part in command
    assert onward(*shlex.split(command)[1:], "--jobs", "1", "--out", "results")[0] == 0
    assert [read_spec(path.parent) for path in Path("results").rglob("spec.json")] == specs


def test_data_must_be_named(onward: Terminal) -> None:
    code, _, err = onward("run", "yours", "--method", "er")
    assert (code, "with a file or a folder of yours" in err) == (2, True)


def test_a_folder_of_clear_is_not_described_as_a_table(onward: Terminal, tmp_path: Path) -> None:
    code, _, err = onward("data", "describe", write_old(tmp_path / "clear10", per_class=1))
    assert (code, "onward check data" in err) == (2, True)
