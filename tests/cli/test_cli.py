import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal
from typer.main import get_command

from onward.cli import app
from onward.grid import grid

RUN = ("run", "clear", "--data", "emoji", "--protocol", "streaming")
CLEAR = ("run", "clear", "--method")
ER = (*CLEAR, "er")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results")
    command = [sys.executable, "-m", "onward", *RUN, "--method", "nap", "--method", "finetune"]
    subprocess.run([*command, "--seeds", "0-1", "--out", out], check=True, capture_output=True)
    return out


def test_list_as_json_names_everything(onward: Terminal) -> None:
    code, out, _ = onward("list", "--json")
    found = json.loads(out)
    assert code == 0
    assert [entry["name"] for entry in found["benchmarks"]] == [
        "clear",
        "iirc",
        "clad-c",
        "clad-d",
        "tic",
        "yours",
    ]
    assert {"finetune", "nap", "scratch", "cumulative", "er"} <= {
        entry["name"] for entry in found["methods"]
    }
    assert "clear.next_domain" in {entry["name"] for entry in found["metrics"]}
    assert found["data"][0]["name"] == "emoji"


@pytest.mark.parametrize(
    "kind", ["benchmarks", "methods", "metrics", "data", "tables", "backbones"]
)
def test_list_prints_each_kind(onward: Terminal, kind: str) -> None:
    code, out, _ = onward("list", kind)
    assert code == 0
    assert kind in out


def test_a_run_is_shown_and_checked(onward: Terminal, results: Path) -> None:
    code, out, _ = onward("show", results, "--json")
    entries = json.loads(out)
    assert code == 0
    assert {entry["method"] for entry in entries} == {"nap", "finetune"}
    for entry in entries:
        assert entry["seeds"] == [0, 1]
        assert 0.4 < entry["metrics"]["next_domain"]["mean"] < 0.8
        assert entry["metrics"]["in_domain"]["mean"] is None
        assert entry["matrix"][3][3] is None
        assert entry["cost"]["cpu_seconds"] > 0
    code, out, _ = onward("show", results)
    assert code == 0
    assert "finetune" in out
    code, out, _ = onward("check", "results", results)
    assert (code, "4 run folders checked, 0 with problems" in out) == (0, True)


def test_an_optimizer_without_a_learning_rate_is_warned_of_on_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "onward", *RUN, "--method", "nap", "--method", "finetune"]
    typed = [*command, "--seeds", "0-1", "--out", tmp_path, "--optimizer", "adamw", "--epochs", "1"]
    for lr, warnings in (((), 1), (("--lr", "0.01"), 0)):
        done = subprocess.run([*typed, *lr], check=True, capture_output=True, text=True)
        lines = [line for line in done.stderr.splitlines() if line.startswith("Warning:")]
        assert len(lines) == warnings
        assert all("was chosen for sgd. Give lr too" in line for line in lines)
        assert "Warning" not in done.stdout


def test_a_finished_run_is_not_run_again(onward: Terminal, results: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file()}
    code, out, _ = onward(
        *RUN, "--method", "nap", "--seeds", "0-1", "--out", results, "--jobs", "1"
    )
    assert code == 0
    assert "2 of 2 runs were complete already: not run again" in out
    after = {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file()}
    assert after == before


def test_describe_the_emoji(onward: Terminal) -> None:
    code, out, _ = onward("data", "describe", "emoji")
    assert code == 0
    assert "CC-BY-4.0" in out
    code, out, _ = onward("data", "describe", "emoji", "--json")
    assert json.loads(out)["counts"]["rows"] == 13419


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "claer", "--method", "er"), "unknown benchmark 'claer'. Did you mean 'clear'?"),
        ((*CLEAR, "err"), "unknown method 'err'. Did you mean 'er'?"),
        ((*ER, "--protocol", "stream"), "Did you mean 'streaming'?"),
        ((*ER, "--data", "emojis"), "Did you mean 'emoji'?"),
        ((*ER, "--recipe", "papr"), "Did you mean 'paper'?"),
        ((*ER, "--seeds", "0-x"), "expected seeds such as"),
        ((*ER, "--seeds", "4-0"), "expected at least one seed"),
        ((*ER, "--option", "memory"), "expected --option name=value"),
        ((*ER, "--option", "memoy=3"), "It takes: memory"),
        (
            (*ER, "--budget", "iteration=3"),
            "Did you mean 'iterations'?",
        ),
        ((*ER, "--budget", "iterations=no"), "positive number"),
        (
            (*CLEAR, "nowhere.py:Mine"),
            "expected a Python file before the colon",
        ),
        (("show", "nowhere"), "expected a folder with results, found nothing"),
        (("check", "results", "nowhere"), "expected a folder with results, found nothing"),
        (("data", "describe", "photos"), "unknown data 'photos'"),
        (("data", "describe", ""), "unknown data ''"),
        (("data", "describe", "x" * 5000), "unknown data 'xxx"),
        (("data", "describe", "~nobody-at-all/x.csv"), "found one with a ~ of somebody unknown"),
        (("check", "data", "emoji", "--root", "x"), "--root with the name of official data"),
    ],
)
def test_a_mistake_gets_one_message_and_exit_code_2(
    onward: Terminal,
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = onward(*words)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_runs_is_named(onward: Terminal, tmp_path: Path) -> None:
    (tmp_path / "holiday.txt").write_text("sun")
    code, _, err = onward("show", tmp_path)
    assert code == 2
    assert "expected run folders below" in err


def test_an_output_that_is_a_file_is_refused(onward: Terminal, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    code, _, err = onward(*RUN, "--method", "nap", "--out", tmp_path / "out")
    assert code == 2
    assert "is a file, not a folder" in err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_users_file_is_run_and_its_mistakes_are_told(onward: Terminal, tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "import numpy as np\n"
        "class Majority:\n"
        "    def learn(self, view, budget):\n"
        "        self.label = np.bincount(view.labels).argmax()\n"
        "    def predict(self, view):\n"
        "        return np.full(len(view), self.label)\n"
        "class Mute:\n"
        "    def learn(self, view, budget): pass\n"
        "class Wrong(Majority):\n"
        "    def predict(self, view): return np.zeros(3)\n"
    )
    out = tmp_path / "out"
    code, text, _ = onward(*RUN, "--method", f"{source}:Majority", "--out", out, "--json")
    assert code == 0
    assert json.loads(text)[0]["method"] == "Majority"
    source.write_text(source.read_text().replace("argmax", "argmin"))
    code, text, err = onward(*RUN, "--method", f"{source}:Majority", "--out", out, "--json")
    assert len({path.parent for path in out.rglob("spec.json")}) == 2
    for name, message in [
        ("Mute", "expected a learner with learn(view, budget) and predict(view)"),
        ("Wrong", "expected from predict(view) an array of"),
        ("Majoriti", "Did you mean 'Majority'?"),
    ]:
        code, _, err = onward(*RUN, "--method", f"{source}:{name}", "--out", out)
        assert (code, message in err) == (2, True), err


def test_failed_runs_are_listed_after_the_table_of_the_others(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bad, broken = Path("bad.py"), Path("broken.py")
    bad.write_text(
        "class Bad:\n"
        "    def learn(self, view, budget): raise ValueError('boom')\n"
        "    def predict(self, view): return []\n"
    )
    broken.write_text("import no_such_module\n")
    methods = ("--method", "nap", "--method", "bad.py:Bad", "--method", "broken.py:Mine")
    code, text, err = onward(*RUN, *methods, "--jobs", "2", "--out", "out")
    assert code == 1
    assert "nap" in text
    assert "2 of 3 runs failed; the others are finished:" in err
    assert f"ValueError: boom ({bad.absolute()}, line 2). Traceback: out/" in err
    assert "broken.py, line 1, cannot be imported: ModuleNotFoundError" in err
    assert "Traceback (most recent call last)" not in err
    fixed = "import numpy as np\n" + bad.read_text().replace("raise ValueError('boom')", "pass")
    bad.write_text(fixed.replace("[]", "np.zeros(len(view), int)"))
    code, text, err = onward(*RUN, *methods, "--jobs", "1", "--out", "out", "--json")
    assert code == 2
    assert {run["method"] for run in json.loads(text)} == {"nap", "Bad"}
    assert "1 of 3 runs failed" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def late():\n    return {}['x']\nlate()\n", "line 2, cannot be imported: KeyError: 'x'"),
        ("one = 1\ndef f(:\n", "line 2, cannot be imported: SyntaxError"),
        ("\nimport no_such_module\n", "line 2, cannot be imported: ModuleNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_imported_is_told_with_its_line(
    onward: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    code, _, err = onward("check", "method", "mine.py:Mine")
    assert (code, f"mine.py, {said}" in err) == (2, True), err


def test_a_file_without_a_class_is_told_what_to_write(onward: Terminal) -> None:
    code, _, err = onward("check", "method", "mine.py")
    assert (code, "Write mine.py:ClassName" in err) == (2, True), err


def test_a_budget_says_which_methods_it_leaves_out(onward: Terminal) -> None:
    words = ("budget", "tic", "--no-measure")
    found = json.loads(onward(*words, "--json")[1])
    runs = {cell.method for cell in grid() if cell.benchmark == "tic" and cell.runs}
    assert runs == {*found["methods"], *found["not_budgeted"]}
    assert ", ".join(found["not_budgeted"]) in onward(*words)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("clear",), "whose protocol is a budget of compute, such as tic, found clear"),
        (("tik",), "Did you mean 'tic'"),
        (("tic", "--data", "yffc"), "Did you mean 'yfcc'"),
        (("tic", "--recipe", "papre"), "Did you mean 'paper'"),
    ],
)
def test_a_budget_that_nobody_has_is_refused(
    onward: Terminal, words: tuple[str, ...], message: str
) -> None:
    code, _, err = onward("budget", *words, "--no-measure")
    assert (code, message in err) == (2, True), err


def test_a_metric_is_checked_by_its_name(onward: Terminal) -> None:
    code, text, _ = onward("check", "metric", "literature.gem_backward_transfer", "--json")
    assert code == 0
    assert json.loads(text)["findings"][-1]["detail"] == "from -1 to 1"
    code, _, err = onward("check", "metric", "clear.in_doman")
    assert (code, "Did you mean 'clear.in_domain'" in err) == (2, True), err


def test_a_budget_that_is_spent_ends_with_its_rule(onward: Terminal, tmp_path: Path) -> None:
    code, _, err = onward(
        *RUN, "--method", "cumulative", "--budget", "stored_samples=2000", "--out", tmp_path
    )
    assert code == 2
    assert "the budget allows stored_samples = 2000" in err


@pytest.mark.slow
def test_ctrl_c_leaves_a_resumable_folder_and_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "onward", *RUN, "--method", "cumulative", "--recipe", "paper"]
    command += ["--out", str(tmp_path), "--checkpoint-seconds", "0.1"]
    # A shell's background job ignores Ctrl-C and hands that down; a terminal's does not.
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list(tmp_path.rglob("checkpoint/0*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "the same command goes on where it stopped" in err
    assert "Traceback" not in err
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "resumed where it had stopped" in finished.stderr


def test_ctrl_c_stops_the_workers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "onward", *RUN, "--method", "cumulative", "--recipe", "paper"]
    command += ["--out", str(tmp_path), "--seeds", "0-1", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while len(list(tmp_path.rglob("spec.json"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "the same command goes on where it stopped" in err
    assert "Traceback" not in err
    deadline = time.monotonic() + 60
    while _has_processes(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _has_processes(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_importing_onward_is_light() -> None:
    code = (
        "import sys, onward; print([m for m in ('torch', 'numpy', 'pyarrow') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_streams_and_metrics_do_not_load_torch() -> None:
    code = (
        "import sys, onward; s = onward.load('clear').stream(0); "
        "onward.metrics.clear.in_domain([[1.0]]); print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_a_command_is_imported_without_the_others() -> None:
    code = (
        "import sys, onward.cli as cli; "
        "cli.app(['curate', 'pool', '--help'], standalone_mode=False); "
        "names = ('onward.benchmarks', 'onward.cli.run', 'onward.cli.curate.fetch', 'torch'); "
        "print([name for name in names if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_every_command_has_help_and_says_what_it_is_for() -> None:
    def follow(command: Any) -> Iterator[Any]:
        yield command
        for below in getattr(command, "commands", {}).values():
            yield from follow(below)

    commands = list(follow(get_command(app)))
    assert len(commands) > 30
    assert all(command.help for command in commands)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gpus-per-job", "1"), "expected GPUs on this machine for --gpus-per-job 1, found none"),
        (("--slurm", "partition=gpu"), "expected --on slurm with --slurm partition=..., found"),
        (("--on", "slurm", "--slurm", "colour=red"), "unknown option of --slurm 'colour'"),
        (("--on", "slurm"), "expected Slurm's commands (sbatch, srun, squeue) for --on slurm"),
    ],
)
def test_hardware_that_is_not_there_is_one_message(
    onward: Terminal,
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = onward(*RUN, "--method", "nap", "--out", tmp_path / "out", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()
