"""onward show --curves, the training section of the page, and progress lines."""

import io
import json
import threading
from pathlib import Path

import pytest
from rich.console import Console
from stopped_runs import Interrupt, stop_at
from terminal import Terminal

import onward as package
from onward.checks.tiny import tiny_benchmark
from onward.cli.progress_lines import ProgressLines
from onward.report.curves_terminal import CurvesChart
from onward.report.training_curves import training_curves
from onward.results.training import TRAINING, read_training
from onward.turns import Event


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results")
    for method in ("finetune", "er"):
        package.run(tiny_benchmark(model="mlp"), method, 0, out)
    return out


def test_curves_as_json_are_the_recorded_values(onward: Terminal, results: Path) -> None:
    code, out, err = onward("show", results, "--curves", "--json")
    assert (code, err) == (0, "")
    runs = json.loads(out)
    assert {run["method"] for run in runs} == {"finetune", "er"}
    for run in runs:
        steps = [one for one in read_training(Path(run["folder"])) if one.kind == "step"]
        loss = run["curves"]["loss"]
        assert loss["kind"] == "step"
        assert loss["step"] == [one.step for one in steps]
        assert loss["value"] == [one.values["loss"] for one in steps]
        assert loss["period"] == [one.period for one in steps]
        begins = {one["name"]: one["first_step"] for one in run["periods"]}
        for period, name in enumerate(("2001", "2002", "2003", "2004")):
            assert begins[name] == min(one.step for one in steps if one.period == period)
        assert run["curves"]["samples_per_second"]["kind"] == "epoch"


def test_curves_are_drawn_with_the_names_of_periods(onward: Terminal, results: Path) -> None:
    code, out, err = onward("show", results, "--curves")
    assert (code, err) == (0, "")
    for words in ("tiny / points, finetune, iid, seed 0", "loss", "grad_norm", "2001"):
        assert words in out
    assert any(0x2800 < ord(letter) < 0x2900 for letter in out)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_chart_is_no_wider_than_its_screen(results: Path, width: int) -> None:
    (folder,) = {path.parent for path in results.rglob(TRAINING) if "finetune" in str(path)}
    chart = CurvesChart("a run", training_curves(folder), ("2001", "2002", "2003", "2004"))
    screen = Console(width=width, record=True, file=io.StringIO())
    screen.print(chart)
    lines = screen.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert sum("┤" in line for line in lines) >= 14


def test_curves_of_a_run_under_way_are_drawn(onward: Terminal, tmp_path: Path) -> None:
    with pytest.raises(Interrupt):
        package.run(tiny_benchmark(), "er", 0, tmp_path, watch=stop_at("tested", 1))
    code, out, _ = onward("show", tmp_path, "--curves")
    assert code == 0
    assert "er, iid, seed 0, not finished" in out


def test_folders_without_training_metrics_are_one_message(onward: Terminal, tmp_path: Path) -> None:
    path = package.run(tiny_benchmark(), "er", 0, tmp_path).path
    assert path is not None
    (path / TRAINING).unlink()
    code, _, err = onward("show", tmp_path, "--curves")
    assert code == 2
    assert "expected runs with training metrics (training.jsonl), found none" in err


def test_curves_and_another_form_are_refused(onward: Terminal, results: Path) -> None:
    for other in (("--bibtex",), ("--format", "csv")):
        code, _, err = onward("show", results, "--curves", *other)
        assert code == 2
        assert "expected --curves alone or with --json" in err


def test_the_page_shows_training_curves(onward: Terminal, results: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert onward("report", results, "--out", page)[0] == 0
    text = page.read_text()
    assert "While it trained" in text
    for title in ("Training loss", "Gradient norm", "Learning rate"):
        assert f"{title}</span>" in text


def test_a_damaged_file_of_curves_is_a_note_on_the_page(onward: Terminal, tmp_path: Path) -> None:
    path = package.run(tiny_benchmark(), "er", 0, tmp_path / "runs").path
    assert path is not None
    (path / TRAINING).write_text("nonsense\n")
    assert onward("report", tmp_path / "runs", "--out", tmp_path / "page.html")[0] == 0
    assert "The training curves of er could not be read" in (tmp_path / "page.html").read_text()


def test_redirected_progress_is_a_line_a_minute_with_loss_speed_and_time_left() -> None:
    lines: list[str] = []
    clock = [0.0]
    progress = ProgressLines(1, 4, lines.append, lambda: clock[0])

    def watch(event: Event) -> None:
        clock[0] += 61 if event.kind == "training" else 1
        progress.watch(event)

    package.run(tiny_benchmark(model="mlp"), "er", 0, log_every=1, watch=watch)
    assert lines
    assert all(line.startswith("[0/1 runs] er iid seed 0: period 200") for line in lines)
    training = [line for line in lines if "epoch" in line]
    assert training
    assert all("loss" in line and "samples/s" in line for line in training)


def test_a_run_that_says_nothing_still_has_a_line_a_minute() -> None:
    lines: list[str] = []
    printed = threading.Event()
    clock = [0.0]

    def echo(line: str) -> None:
        lines.append(line)
        printed.set()

    progress = ProgressLines(3, 4, echo, lambda: clock[0])
    events: list[Event] = []
    package.run(tiny_benchmark(), "finetune", 0, watch=events.append)
    progress.watch(next(event for event in events if event.kind == "learning"))
    with progress.ticking():
        assert not printed.is_set()
        clock[0] = 61
        assert printed.wait(30)
    assert lines == ["[0/3 runs] finetune iid seed 0: period 2001 (1 of 4) learning"]


def test_time_left_is_that_of_the_call_of_learn() -> None:
    events: list[Event] = []
    package.run(tiny_benchmark(model="mlp"), "finetune", 0, watch=events.append)
    training = next(event for event in events if event.kind == "training")
    lines: list[str] = []
    clock = [0.0]
    progress = ProgressLines(1, 4, lines.append, lambda: clock[0])
    for seconds, done in ((0, 10), (60, 40)):
        clock[0] = seconds
        changed = Event(
            "training", training.spec, 0, records=training.records[:1], steps=(done, 100)
        )
        progress.watch(changed)
    (line,) = lines
    assert "epoch 1, step 40 of 100, loss" in line
    assert line.endswith("2 min left in this call of learn")
