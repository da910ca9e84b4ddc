"""A descent whose numbers are no longer finite stops at once, and keeps what it had."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import onward
from onward.benchmarks import retrained
from onward.errors import DivergedError
from onward.failures import RunsFailedError
from onward.methods.finetune import Finetune
from onward.results.check import check_folder
from onward.results.read import checkpoints, find_folders, read_manifest, read_scores
from onward.together import Variant, run_together
from onward.train.method import Batch
from onward.types import Benchmark


class Explodes(Finetune):
    """Is as it should be for three periods; after some steps more its loss is infinite."""

    def __init__(self, *, steps: int = 2) -> None:
        self._periods, self._steps = 3, steps

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        loss = super().compute_loss(batch)
        self._steps -= self._periods <= 0
        return loss if self._steps >= 0 else loss * float("inf")

    def on_learn_end(self, *args: object) -> None:
        self._periods -= 1

    def state(self) -> dict[str, int]:
        return {"periods": self._periods}

    def restore(self, state: dict[str, int]) -> None:
        self._periods = state["periods"]


@pytest.fixture(scope="module")
def emoji() -> Benchmark:
    made = onward.load("clear", data="emoji", protocol="streaming")
    return retrained(made, {"epochs": 2})


def _tested(folder: Path) -> set[int]:
    manifest = read_manifest(folder)
    assert manifest is not None
    return {score.learned_upto for score in read_scores(folder, manifest)}


@pytest.mark.parametrize("checkpoint_seconds", [0.0, 30.0])
def test_earlier_periods_and_an_earlier_checkpoint_are_kept(
    emoji: Benchmark, tmp_path: Path, checkpoint_seconds: float
) -> None:
    name = emoji.stream(0)[3].name
    words = rf"Explodes.*learning period {name}.*at step \d+ of \d+, at a learning rate of \d"
    for _ in range(2):  # the same again, from where it had stopped
        with pytest.raises(DivergedError, match=words):
            onward.run(emoji, Explodes(), 0, tmp_path, checkpoint_seconds=checkpoint_seconds)
        (folder,) = find_folders(tmp_path)
        assert [found.problem.split(":")[0] for found in check_folder(folder)] == [
            "the run is not finished"
        ]
        assert _tested(folder) == {0, 1, 2}
        (kept,) = checkpoints(folder)
        arrays = load_file(kept / "learner" / "arrays.safetensors")
        assert arrays
        assert all(np.isfinite(array).all() for array in arrays.values())


def test_a_huge_learning_rate_is_named(emoji: Benchmark) -> None:
    wild = retrained(emoji, {"lr": 1e38, "epochs": 20})
    with pytest.raises(DivergedError, match=r"period .* at step \d+ of \d+, .* of 1e\+38"):
        onward.run(wild, "finetune")


def test_those_beside_it_go_to_their_end(emoji: Benchmark, tmp_path: Path) -> None:
    emoji = retrained(emoji, {"epochs": 20})
    rates = [Variant("finetune", training={"lr": rate}) for rate in (1e38, 1.0, 0.5)]
    with pytest.raises(RunsFailedError, match=r"learning period .*: .* 1e\+38") as found:
        run_together(emoji, rates, 0, tmp_path / "together")
    assert [failed.diverged for failed in found.value.failed] == [True]
    assert [record.complete for record in found.value.records] == [True, True]
    for variant in rates[1:]:
        onward.run(retrained(emoji, variant.training), "finetune", 0, tmp_path / "alone")
    alone = {folder.name: _tested(folder) for folder in find_folders(tmp_path / "alone")}
    beside = {folder.name: _tested(folder) for folder in find_folders(tmp_path / "together")}
    assert len(beside) == 3
    assert alone.items() <= beside.items()
