"""Several processes at one run learn what one process learns.

They talk to each other, which tests may not: each test starts them on their own.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from onward import distributed
from onward.errors import OnwardError
from onward.results.read import find_folders
from onward.train.method import Batch, TrainingSet, WholeBatch

SCRIPT = Path(__file__).parent / "support" / "distributed_training.py"
# Standalone: on a free port, whatever else runs here.
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
TWO = (*TORCHRUN, "2")
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


def _as_process(rank: int, world_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "rank", lambda: rank)
    monkeypatch.setattr(distributed, "world_size", lambda: world_size)


@pytest.mark.parametrize("samples", [0, 1, 2, 5, 31])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_contiguous_shares_cover_all_samples_once(
    samples: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = []
    for rank in range(size):
        _as_process(rank, size, monkeypatch)
        shares.append(np.arange(samples)[distributed.contiguous_share(samples)])
    if samples < size:
        assert all(len(share) == samples for share in shares)
    else:
        assert np.concatenate(shares).tolist() == list(range(samples))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(("new", "replay"), [(8, 0), (8, 4), (7, 5), (31, 9), (3, 3), (2, 9)])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_shares_of_a_batch_cover_it_once_and_their_weights_make_its_mean(
    new: int, replay: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    view: Any = range(100, 100 + new + replay)  # of a view, the length is what counts here
    training = TrainingSet(view, epoch=new, replay=replay)
    positions = np.random.default_rng(0).permutation(new + replay)
    positions = np.concatenate([positions[positions < new], positions[positions >= new]])
    losses, shares, weighted = np.random.default_rng(1).random(new + replay), [], 0.0
    for rank in range(size):
        _as_process(rank, size, monkeypatch)
        whole = WholeBatch.of(positions, training)
        own = whole.positions[whole.indices]
        assert (
            np.count_nonzero(own < new)
            == whole.own_new
            == np.count_nonzero(own[: whole.own_new] < new)
        )
        shares.append(own)
        weighted += whole.loss_weight * losses[own].mean() / size
    assert weighted == pytest.approx(losses.mean())
    if min(new, replay or new) < size:  # every process computes all of it
        assert all(sorted(share) == sorted(positions) for share in shares)
    else:
        assert sorted(np.concatenate(shares)) == sorted(positions)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(("new", "replay"), [(5, 5), (6, 4), (4, 4), (8, 0)])
def test_rows_of_a_part_of_a_batch_are_gathered_in_order(
    new: int, replay: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = np.random.default_rng(0).permutation(new + replay)
    wholes = [WholeBatch(positions, new, rank, 2) for rank in range(2)]
    parts = {"all": slice(None), "new": slice(new), "replayed": slice(new, None)}
    for part, place in parts.items():
        rows = []
        for whole in wholes:
            own = whole.positions[whole.indices]
            its = {"all": own, "new": own[: whole.own_new], "replayed": own[whole.own_new :]}
            rows.append(torch.from_numpy(its[part]))
        for whole, its_rows in zip(wholes, rows, strict=True):
            _as_process(whole.rank, 2, monkeypatch)
            monkeypatch.setattr(distributed, "gather", lambda own, counts, rows=rows: rows)
            own = whole.positions[whole.indices]
            empty = torch.empty(len(own))
            model: Any = SimpleNamespace(features=None)
            batch = Batch(model, empty, empty, empty, whole.own_new, own, whole=whole)
            assert batch.gather(its_rows.numpy(), part).tolist() == positions[place].tolist()
            with pytest.raises(OnwardError, match="expected to gather one row for each of"):
                batch.gather(torch.empty(len(own) + 1), part)


def test_a_loss_of_no_samples_adds_nothing_and_keeps_its_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distributed, "all_reduce", lambda *tensors: [t + 3 for t in tensors])
    outputs = torch.randn(4, 2, requires_grad=True)
    model: Any = SimpleNamespace(features=None)
    whole = WholeBatch(np.arange(8), 8, 0, 2)
    batch = Batch(model, outputs, outputs, outputs, 4, np.arange(4), whole=whole)
    nothing = batch.average(outputs[:0].mean(), 0)
    nothing.backward()
    assert nothing.item() == 0
    assert outputs.grad is not None
    assert outputs.grad.eq(0).all()
    # One of its own samples and three of others: a quarter, of the mean over two processes.
    assert float(batch.average(torch.tensor(1.0), 1)) == pytest.approx(2 / 4)


# Samples that a process reads beside its share, at most: a batch.
READ_BESIDE = 16
FAMILIES = ("linear", "mlp", "resnet18", "small_rcnn", "clip_small")
METHODS = ("finetune", "er", "ewc", "lwf", "agem", "lucir", "derpp")
# LUCIR and DER++ are about outputs of classes.
UNSUPPORTED = {(f, m) for f in ("small_rcnn", "clip_small") for m in ("lucir", "derpp")}
PAIRS = [f"{f}:{m}" for f in FAMILIES for m in METHODS if (f, m) not in UNSUPPORTED]
QUICK = [pair for pair in PAIRS if pair.startswith("linear")]


def _trained(processes: int, precision: str, pairs: Sequence[str], folder: Path) -> dict[str, Any]:
    out = folder / f"{processes}.npz"
    start = (sys.executable,) if processes == 1 else (*TORCHRUN, str(processes))
    done = _ended(*start, SCRIPT, out, precision, *pairs)
    assert done.returncode == 0, done.stderr
    with np.load(out) as found:
        return dict(found)


def _require_same_training(
    alone: dict[str, Any], shared: dict[str, Any], pairs: Sequence[str], tolerance: float
) -> None:
    assert alone.keys() == shared.keys()
    for name, values in alone.items():
        if "/weights/" in name:
            np.testing.assert_allclose(
                shared[name], values, rtol=tolerance, atol=tolerance, err_msg=name
            )
        elif "/read" in name:
            # Every process reads its share, of training and of every test, and no more than a
            # batch beside: of exemplars, or where there are fewer replayed samples than processes.
            assert shared[name].max() <= values[0] / len(shared[name]) + READ_BESIDE, name
        elif "/scores" not in name:  # two candidates that tie but for rounding may change places
            assert shared[name] == values, name
    assert all(alone[f"{pair}/iterations"] >= 20 for pair in pairs)


def test_two_processes_learn_what_one_process_learns(tmp_path: Path) -> None:
    alone, shared = (_trained(number, "fp64", QUICK, tmp_path) for number in (1, 2))
    _require_same_training(alone, shared, QUICK, 1e-9)


@pytest.mark.slow
def test_every_model_and_method_learns_the_same_in_two_and_four_processes(tmp_path: Path) -> None:
    alone = _trained(1, "fp64", PAIRS, tmp_path)
    for processes in (2, 4):
        shared = _trained(processes, "fp64", PAIRS, tmp_path)
        _require_same_training(alone, shared, PAIRS, 1e-9)


@pytest.mark.slow
def test_in_single_precision_processes_differ_by_rounding(tmp_path: Path) -> None:
    pairs = [pair for pair in PAIRS if pair.startswith(("linear", "mlp", "clip_small"))]
    alone, shared = (_trained(number, "fp32", pairs, tmp_path) for number in (1, 2))
    _require_same_training(alone, shared, pairs, 1e-4)


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
def test_a_run_that_lost_a_process_ends_and_is_resumed_by_three(tmp_path: Path) -> None:
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
    done = _ended(*TORCHRUN, "3", *command, out)
    assert done.returncode == 0, done.stderr
    (folder,) = find_folders(out)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [line["processes"] for line in log if line["event"] == "resumed"] == [2, 3]
    np.testing.assert_allclose(_scores(out), _scores(whole), atol=2e-3)


@pytest.mark.slow
def test_a_process_that_hangs_ends_the_run_within_two_minutes(tmp_path: Path) -> None:
    command = [*TWO, *CLEAR, "--method", "er", "--training", "epochs=2000", "--out", str(tmp_path)]
    process = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not [*tmp_path.glob("*/*/*/training.jsonl")]:
        assert process.poll() is None
        time.sleep(0.1)
    stopped = int(children.read_text().split()[1])
    os.kill(stopped, signal.SIGSTOP)
    began = time.monotonic()
    try:
        _, errors = process.communicate(timeout=180)
    finally:
        os.kill(stopped, signal.SIGKILL) if process.poll() is None else None
    assert process.returncode != 0
    assert time.monotonic() - began < 120
    assert errors.count("found no sign of process 1 for 60 seconds") == 1


@pytest.mark.slow
def test_more_processes_than_samples_of_a_batch_are_warned_of(tmp_path: Path) -> None:
    training = ("--training", "batch_size=1", "--training", "epochs=1", "--budget", "iterations=4")
    done = _ended(*TWO, *CLEAR, "--method", "er", *training, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stderr.split()).count("fewer than the 2 processes") == 1


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
