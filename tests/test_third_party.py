"""What another package adds by entry points is found everywhere, and refused if it clashes."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from onward.errors import OnwardError
from onward.results.record import load_record

EXAMPLE = Path(__file__).parents[1] / "examples" / "onward-extra"
LISTED = {
    "methods": "half_back",
    "metrics": "extra.worst_next",
    "memories": "latest",
    "models": "narrow",
    "tasks": "two_guesses",
    "benchmarks": "seasons",
    "tables": "extra/table1",
    "pictures": "extra.last_year",
}


def installed(folder: Path, name: str = "onward-extra") -> Path:
    """Write what pip writes for an installed package: its metadata, beside a way to its code."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = folder / f"{name.replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


def onward(*words: str, site: list[Path], code: int = 0) -> str:
    path = [str(EXAMPLE), *map(str, site), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "onward", *words],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


ODD_CARDS = """
from dataclasses import replace
from onward.benchmarks.clear import LISTED
from onward.errors import OnwardError
from onward.methods import MethodCard
from onward.methods.finetune import Finetune


class Needy(Finetune):
    needs = {"image": "to look at"}


def reads(folder):
    raise KeyError("size")


NEEDY = MethodCard("odd", Needy, "nobody")
MISREADING = replace(LISTED, name="odd", reads=reads)


def __getattr__(name):
    wrong = {
        "WITHOUT_PROTOCOLS": {"protocols": {}},
        "WITHOUT_A_TASK": {"task": "one_label"},
        "LACKING": {"lacks": {"image": "there is none"}},
    }
    return replace(LISTED, name="odd", **wrong[name])
"""


def broken(folder: Path, points: str) -> Path:
    """Write what pip writes for a package whose entry points are wrong."""
    info = folder / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (folder / "odd_cards.py").write_text(ODD_CARDS)
    (folder / "odd_exit.py").write_text("raise SystemExit(3)")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [installed(tmp_path_factory.mktemp("site"))]


def test_everything_is_listed_with_its_origin(site: list[Path]) -> None:
    found = json.loads(onward("list", "--json", site=site))
    for kind, name in LISTED.items():
        (entry,) = [entry for entry in found[kind] if entry["name"] == name]
        assert entry["added by"] == "onward-extra 1.0"
        assert {each["added by"] for each in found[kind]} == {"", "onward-extra 1.0"}


def test_the_grid_has_its_row_and_its_column(site: list[Path]) -> None:
    cells = json.loads(onward("list", "grid", "--json", site=site))
    mine = {(cell["method"], cell["benchmark"]): cell for cell in cells}
    assert mine["half_back", "clad-d"]["runs"]
    assert mine["er", "seasons"]["runs"]
    assert "four seasons from the start" in mine["bic", "seasons"]["reason"]


@pytest.mark.slow
def test_it_runs_and_is_checked(site: list[Path], tmp_path: Path) -> None:
    out = str(tmp_path / "results")
    asked = ("--metric", "extra.worst_next", "--json")
    (mine,) = json.loads(
        onward("run", "seasons", "--method", "half_back", "--out", out, *asked, site=site)
    )
    assert 0 < mine["metrics"]["extra.worst_next"]["mean"] <= 1
    page = tmp_path / "report.html"
    onward("report", out, "--out", str(page), site=site)
    assert "How well the last year was foreseen" in page.read_text()
    onward("check", "metric", "extra.worst_next", site=site)
    proved = json.loads(onward("check", "stream", "seasons", "--json", site=site))["findings"]
    assert any("in a fresh process" in finding["detail"] for finding in proved)


def test_an_option_of_its_benchmark_is_given_by_name(site: list[Path], tmp_path: Path) -> None:
    words = ("run", "seasons", "--method", "nap", "--json", "--load")
    (far,) = json.loads(onward(*words, "drift=2", "--out", str(tmp_path), site=site))
    assert far["data"] == "made, drift 2"
    said = onward(*words, "drit=2", "--out", str(tmp_path), site=site, code=2)
    assert "unknown option of seasons 'drit'. Did you mean 'drift'?" in said
    said = onward(*words, "model=5", "--out", str(tmp_path), site=site, code=2)
    assert "expected --load for an option without a flag, found model. Give it as --model" in said


@pytest.mark.slow
def test_its_memory_and_its_model_are_used(site: list[Path], tmp_path: Path) -> None:
    out = str(tmp_path / "results")
    words = ("run", "seasons", "--method", "er", "--model", "narrow", "--out", out, "--json")
    (kept,) = json.loads(onward(*words, "--option", "kind=latest", site=site))
    assert kept["options"] == {"kind": "latest"}
    assert kept["cost"]["parameters"] == 12 * (6 + 1) + 4 * (12 + 1)
    onward("check", "results", out, site=site)


@pytest.mark.slow
def test_its_method_passes_all_checks_and_its_table_is_made(
    site: list[Path], tmp_path: Path
) -> None:
    onward("check", "method", "half_back", site=site)
    words = ("reproduce", "extra/table1", "--out", str(tmp_path / "extra"), "--json")
    found = json.loads(onward(*words, site=site))
    assert found["table"] == "extra/table1"


def test_two_packages_with_one_name_are_refused(site: list[Path], tmp_path: Path) -> None:
    other = installed(tmp_path / "other", "other-extra")
    said = onward("list", "methods", site=[*site, other], code=2)
    assert "'half_back'" in said
    assert "onward-extra 1.0" in said
    assert "other-extra 1.0" in said


@pytest.mark.parametrize(
    ("group", "point", "words", "expected"),
    [
        (
            "methods",
            "broken = no_such_module:CARD",
            ("list", "methods"),
            "of broken 1.0 (no_such_module:CARD) cannot be loaded: ModuleNotFoundError",
        ),
        (
            "methods",
            "half_back = onward_extra.method:HalfBack",
            ("run", "clear", "--method", "half_back"),
            "expected a MethodCard in broken 1.0 (onward_extra.method:HalfBack), found a class",
        ),
        (
            "tasks",
            "two_guesses = onward_extra.task:TwoGuesses",
            ("list", "tasks"),
            "expected a Task in broken 1.0 (onward_extra.task:TwoGuesses), found a class",
        ),
        (
            "memories",
            "latest = onward_extra.memory:__doc__",
            ("list", "memories"),
            "a class or a function in broken 1.0 (onward_extra.memory:__doc__), found a str",
        ),
        (
            "metrics",
            "extra.worst = onward_extra.metric:METRIC",
            ("check", "metric", "extra.worst"),
            "in broken 1.0 (onward_extra.metric:METRIC), found 'extra.worst_next'",
        ),
        (
            "methods",
            "er = onward_extra.method:CARD",
            ("check", "method", "er"),
            "expected one method 'er', found two: by Onward itself and by broken 1.0",
        ),
        (
            "benchmarks",
            "odd = odd_cards:WITHOUT_PROTOCOLS",
            ("list", "grid"),
            "expected one or more as protocols of the benchmark 'odd', found {}",
        ),
        (
            "benchmarks",
            "odd = odd_cards:WITHOUT_A_TASK",
            ("list", "benchmarks"),
            "expected a task kind as task of the benchmark 'odd', found 'one_label'",
        ),
        (
            "benchmarks",
            "odd = odd_cards:LACKING",
            ("list", "grid"),
            "unknown word in what the benchmark 'odd' lacks 'image'. Did you mean 'images'?",
        ),
        (
            "benchmarks",
            "odd = odd_cards:MISREADING",
            ("check", "data", "."),
            "the benchmark 'odd' of broken 1.0 cannot tell whether . is its data: KeyError: 'size'",
        ),
        (
            "methods",
            "odd = odd_cards:NEEDY",
            ("list", "grid"),
            "unknown word in what odd needs 'image'. Did you mean 'images'?",
        ),
        ("methods", "odd = odd_exit:CARD", ("list", "methods"), "cannot be loaded: SystemExit: 3"),
    ],
)
def test_a_package_that_is_wrong_is_named(
    group: str, point: str, words: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    said = onward(*words, site=[broken(tmp_path, f"[onward.{group}]\n{point}\n")], code=2)
    assert expected in said
    assert "Traceback" not in said


@pytest.mark.parametrize("module", ["no_such_module", "odd_exit"])
def test_a_package_that_is_broken_stands_in_nobody_s_way(module: str, tmp_path: Path) -> None:
    groups = ("benchmarks", "metrics", "models", "tasks", "tables")
    points = "".join(f"[onward.{group}]\nodd = {module}:ODD\n" for group in groups)
    site = [broken(tmp_path, points)]
    (tmp_path / "mine.csv").write_text("time,label,x\n2020-01-01,a,1\n2021-01-01,b,2\n")
    for words in (
        ("--help",),
        ("budget", "tic", "--no-measure"),
        ("data", "describe", "emoji"),
        ("data", "describe", str(tmp_path / "mine.csv")),
    ):
        onward(*words, site=site)


def test_results_of_a_task_kind_that_is_gone_say_so(site: list[Path], tmp_path: Path) -> None:
    out = str(tmp_path / "results")
    onward("run", "seasons", "--method", "finetune", "--out", out, site=site)
    (spec,) = Path(out).rglob("spec.json")
    record = load_record(spec.parent)  # this process has not the package
    with pytest.raises(OnwardError, match=r"unknown task 'two_guesses'.* onward list tasks"):
        record.matrix()
