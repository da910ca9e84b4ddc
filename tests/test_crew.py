"""Several processes at one run learn what one process learns.

They talk to each other, which tests may not: each test starts them on their own.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from onward.crew import Crew
from onward.models.spread import Spread
from small_models import made

from onward.errors import OnwardError
from onward.results.read import find_folders

SCRIPT = Path(__file__).parent / "support" / "shared_run.py"
# Standalone: on a free port, whatever else runs here.
TWO = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
CLEAR = ("-m", "onward", "run", "clear", "--data", "emoji", "--protocol", "streaming")


def _ended(*command: str | Path) -> subprocess.CompletedProcess[str]:
    words = [*map(str, command)]
    return subprocess.run(
        words, capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=280
    )


def _scores(out: Path) -> list[float]:
    (folder,) = find_folders(out)
    lines = (folder / "scores.jsonl").read_text().splitlines()
    return [value for line in lines for value in json.loads(line)["scores"].values()]


@pytest.mark.parametrize("samples", [0, 1, 2, 5, 31])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_sample_is_somebodys(samples: int, size: int) -> None:
    shares = []
    for rank in range(size):
        one = Crew()
        one.rank, one.size = rank, size
        shares.append(np.arange(samples)[one.share(samples)])
    if samples < size:
        assert all(len(share) == samples for share in shares)
    else:
        assert np.concatenate(shares).tolist() == list(range(samples))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_batch_normalisation_is_refused() -> None:
    with pytest.raises(OnwardError, match="among processes, found one with batch normalization"):
        Spread(made("convnet"), Crew())


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    for start, out in (((sys.executable,), one), (TWO, two)):
        done = _ended(*start, SCRIPT, out, "finetune", "lwf")
        assert done.returncode == 0, done.stderr
    alone, shared = np.load(one), np.load(two)
    assert alone.files == shared.files
    for name in alone.files:
        if name.endswith("/scores"):
            # Two candidates that are as good as each other but for rounding may change places.
            np.testing.assert_allclose(shared[name], alone[name], atol=0.02)
            assert (shared[name] == alone[name])[~np.isnan(alone[name])].mean() > 0.9
        else:
            np.testing.assert_allclose(shared[name], alone[name], atol=1e-5, err_msg=name)
    apart = np.abs(alone["finetune/net.visual.proj"] - alone["lwf/net.visual.proj"]).max()
    assert apart > 1e-4


@pytest.mark.slow
def test_the_command_makes_one_run_and_says_how_many_made_it(tmp_path: Path) -> None:
    methods = ("--method", "er", "--out")
    alone = _ended(sys.executable, *CLEAR, *methods, tmp_path / "one")
    shared = _ended(*TWO, *CLEAR, *methods, tmp_path / "two")
    assert alone.returncode == shared.returncode == 0, shared.stderr
    assert shared.stdout.count("results in") == 1
    one, two = (next(find_folders(tmp_path / name)) for name in ("one", "two"))
    assert one.name == two.name
    assert [json.loads((f / "env.json").read_text())["processes"] for f in (one, two)] == [1, 2]
    np.testing.assert_allclose(_scores(tmp_path / "two"), _scores(tmp_path / "one"), atol=2e-3)
    again = _ended(*TWO, *CLEAR, *methods, tmp_path / "two")
    assert "1 of 1 runs were complete already" in again.stdout


@pytest.mark.slow
def test_a_run_that_lost_a_process_ends_and_goes_on(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    command = [*CLEAR, "--method", "er", "--checkpoint-seconds", "0.3", "--out"]
    assert _ended(sys.executable, *command, whole).returncode == 0
    for periods, lost in ((1, 0), (3, 1)):
        process = subprocess.Popen(
            [*TWO, *command, str(out)], env=ENVIRONMENT, stderr=subprocess.DEVNULL
        )
        while len({*_tested(out)}) < periods and process.poll() is None:
            time.sleep(0.02)
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        # One of them is lost: torchrun ends the other one and itself.
        os.kill(int(workers[lost]), signal.SIGKILL)
        assert process.wait() != 0
    done = _ended(*TWO, *command, out)
    assert done.returncode == 0, done.stderr
    (folder,) = find_folders(out)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [line["processes"] for line in log if line["event"] == "resumed"] == [2, 2]
    np.testing.assert_allclose(_scores(out), _scores(whole), atol=2e-3)


def _tested(out: Path) -> list[int]:
    lines = [
        line for path in out.glob("*/*/*/scores.jsonl") for line in path.read_text().splitlines()
    ]
    return [json.loads(line)["learned_upto"] for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*CLEAR, "--method", "fintune"), "unknown method 'fintune'"),
        (("-m", "onward", "list", "methods"), "expected one of run, reproduce to share out"),
    ],
)
def test_a_mistake_is_told_once(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    out = ("--out", tmp_path) if "run" in arguments else ()
    done = _ended(*TWO, *arguments, *out)
    assert done.returncode != 0
    assert " ".join(done.stderr.split()).count(message) == 1
    assert done.stderr.count("onward: ") == 1
