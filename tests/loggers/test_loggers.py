"""Loggers: what they write is read back with the reader of each format."""

import csv
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest
from loopback import loopback
from stopped_runs import Interrupt, run_tiny, stop_at

import onward
from onward.benchmarks import Source
from onward.checks.tiny import tiny_benchmark
from onward.errors import OnwardError
from onward.loggers import background
from onward.loggers.background import BackgroundLogger
from onward.loggers.csv_file import COLUMNS
from onward.loggers.logger import Logger
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.results.training import TrainingRecord, read_training, training_history
from onward.sweep import Job, sweep

__all__ = ["loopback"]


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as file:
        reader = csv.DictReader(file)
        assert tuple(reader.fieldnames or ()) == COLUMNS
        return list(reader)


def expected(folder: Path) -> list[tuple[str, int, str, float | None]]:
    """Return what loggers are to have of a run folder."""
    from onward.results.record import load_record

    record = load_record(folder)
    return [
        (one.kind, one.step, name, value)
        for one in training_history(folder, record.spec.periods, record.scores)
        for name, value in one.values.items()
    ]


def test_csv_has_all_records_and_all_scores(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path, log=["csv"])
    rows = table(folder)
    found = [
        (row["kind"], int(row["step"]), row["name"], float(row["value"]) if row["value"] else None)
        for row in rows
    ]
    assert found == expected(folder)
    assert {row["kind"] for row in rows} == {"epoch", "test"}
    assert "2004/accuracy" in {row["name"] for row in rows}
    assert check_folder(folder) == []


@pytest.mark.parametrize("first", [[], ["csv"]])
def test_csv_of_a_resumed_run_has_each_value_once(tmp_path: Path, first: Sequence[str]) -> None:
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, log=first, watch=stop_at("tested", 1))
    folder = run_tiny(tmp_path, log=["csv"])
    rows = [(row["kind"], row["step"], row["name"]) for row in table(folder)]
    assert len(rows) == len(set(rows)) == len(expected(folder))


def test_tensorboard_files_are_read_back(tmp_path: Path) -> None:
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="needs tensorboard"
    )
    with pytest.raises(Interrupt):
        run_tiny(tmp_path, log=["tensorboard"], watch=stop_at("learned", 2))
    folder = run_tiny(tmp_path, log=["tensorboard"])
    events = reader.EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {"epoch/loss", "epoch/lr", "test/2001/accuracy"} <= set(tags)
    for tag in tags:
        kind, _, name = tag.partition("/")
        wanted = [(s, v) for k, s, n, v in expected(folder) if (k, n) == (kind, name)]
        found = [(one.step, one.value) for one in events.Scalars(tag)]
        assert [step for step, _ in found] == [step for step, _ in wanted]
        assert [v for _, v in found] == pytest.approx([v for _, v in wanted], rel=1e-6)
    assert check_folder(folder) == []


def test_worker_processes_log_too(tmp_path: Path) -> None:
    source = Source("clear", data="emoji", options={"model": "linear"})
    jobs = [Job(source, "nap", seed, log=("csv",)) for seed in (0, 1)]
    records = sweep(jobs, tmp_path, workers=2)
    assert [len(table(record.path)) > 10 for record in records if record.path] == [True, True]


def test_loggers_do_not_change_a_run(tmp_path: Path) -> None:
    plain, logged = run_tiny(tmp_path / "plain"), run_tiny(tmp_path / "logged", log=["csv"])
    assert plain.name == logged.name
    assert (plain / "scores.jsonl").read_bytes() == (logged / "scores.jsonl").read_bytes()


def test_an_unknown_logger_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(OnwardError, match=r"logger.*tensorbord.*tensorboard"):
        onward.run(tiny_benchmark(), "finetune", log=["tensorbord"])


def test_a_logger_of_files_needs_a_results_folder() -> None:
    with pytest.raises(OnwardError, match="expected out=, a results folder, for the logger csv"):
        onward.run(tiny_benchmark(), "finetune", log=["csv"])


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow"])
def test_a_missing_package_is_one_message_with_what_to_install(name: str) -> None:
    script = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        f"u.find_spec = lambda n, *a: None if n == {name!r} else find(n, *a)\n"
        "from onward.cli import main\n"
        "sys.argv = 'onward run clear --data emoji --method nap --log'.split()\n"
        f"sys.argv.append({name!r})\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"onward: expected {name}, which the logger {name} writes with, found none. Install it: "
        f"pip install 'onward[{name}]'\n"
    )


@pytest.mark.usefixtures("loopback")
def test_a_server_that_does_not_answer_is_one_warning_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "CLOSE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"

        def connect() -> Logger:
            urllib.request.urlopen(url, timeout=20)
            raise AssertionError("nobody answers")

        logger = BackgroundLogger("tracker", connect)
        folder = run_tiny(tmp_path, watch=lambda event: logger.log(event.records))
        with pytest.warns(UserWarning, match=r"logger tracker does not work \(no answer for 0.5"):
            logger.close()
        logger.close()
        assert read_training(folder)


@pytest.mark.usefixtures("loopback")
def test_a_server_that_refuses_is_one_warning() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"

    def connect() -> Logger:
        urllib.request.urlopen(url, timeout=20)
        raise AssertionError("nobody listens")

    logger = BackgroundLogger("tracker", connect)
    record = TrainingRecord(
        kind="step", period=0, call=0, epoch=0, step=1, time=0.0, values={"loss": 1.0}
    )
    logger._thread.join(20)
    with pytest.warns(UserWarning, match="refused"):
        logger.log([record])
    logger.log([record])
    logger.close()


@pytest.mark.slow
def test_wandb_offline_has_the_run(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="needs wandb")
    folder = _in_a_process(tmp_path, "wandb", {"WANDB_MODE": "offline"})
    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    # Records are protocol buffers, in which names are as they are.
    content = path.read_bytes()
    for name in (b"epoch/loss", b"epoch/lr", b"test/2004/accuracy"):
        assert name in content
    assert check_folder(folder) == []


@pytest.mark.slow
def test_mlflow_files_have_every_value(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="needs mlflow")
    folder = _in_a_process(tmp_path, "mlflow", {})
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    (metrics,) = (tmp_path / "mlruns").glob("*/*/metrics")
    for path in (path for path in metrics.rglob("*") if path.is_file()):
        kind, _, name = str(path.relative_to(metrics)).partition("/")
        lines = [line.split() for line in path.read_text().splitlines()]
        found[kind, name] = [(int(step), float(value)) for _, value, step in lines]
    for key, values in found.items():
        assert values == [(s, v) for k, s, n, v in expected(folder) if (k, n) == key]
    assert {("epoch", "loss"), ("test", "2004/accuracy")} <= found.keys()
    assert check_folder(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_dead_tracking_server_does_not_end_a_run(tmp_path: Path, name: str) -> None:
    pytest.importorskip(name, reason=f"needs {name}")
    url = "http://127.0.0.1:9"
    names = {"MLFLOW_TRACKING_URI": url, "WANDB_BASE_URL": url, "WANDB_API_KEY": "0" * 40}
    folder = _in_a_process(tmp_path, name, names, warns=True)
    assert check_folder(folder) == []


def _in_a_process(out: Path, name: str, variables: dict[str, str], *, warns: bool = False) -> Path:
    """Run with a logger in a process of its own, as clients keep threads and settings."""
    script = (
        f"import os; os.environ.update({variables!r})\n"
        "import onward\n"
        "from onward.checks.tiny import tiny_benchmark\n"
        "from onward.loggers import background\n"
        f"background.CLOSE_SECONDS = {5 if warns else 60}\n"
        "if __name__ == '__main__':\n"
        f"    onward.run(tiny_benchmark(), 'er', 0, {str(out)!r}, log=[{name!r}])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"the logger {name} does not work") == warns, done.stderr
    (folder,) = find_folders(out)
    return folder
