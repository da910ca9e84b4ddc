"""Training metrics: what is recorded, of which steps, and that a resumed run has them once."""

import math
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stopped_runs import run_tiny

import onward
from onward.benchmarks import retrained
from onward.checks.tiny import tiny_benchmark
from onward.errors import DamagedFolderError, DivergedError, OnwardError
from onward.results.check import check_folder
from onward.results.read import find_folders
from onward.results.training import SPEED, TRAINING, TrainingRecord, read_training
from onward.together import Variant, run_together
from onward.train.method import Batch
from onward.turns import Event

MADE = """
import os, signal, sys
from pathlib import Path
import onward
from onward.benchmarks import retrained
from onward.checks.tiny import tiny_benchmark

class Killed(onward.Method):
    "Ends its process by SIGKILL at a step."
    count = 0

    def compute_loss(self, batch):
        Killed.count += 1
        if Killed.count == KILL_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        loss = super().compute_loss(batch)
        batch.log("twice", 2 * loss)
        return loss

if __name__ == "__main__":
    KILL_AT, model, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    onward.run(tiny_benchmark(model=model), Killed, 0, out, checkpoint_seconds=float(sys.argv[4]))
"""


def recorded(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a run without times and speeds."""
    found = []
    for record in read_training(folder):
        values = {name: v for name, v in record.values.items() if name not in SPEED}
        found.append({**record.model_dump(exclude={"time"}), "values": values})
    return found


class Terms(onward.Method):
    """Logs a term of its loss, a number, and a tensor that it changes afterwards."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        loss = super().compute_loss(batch)
        batch.log("half", loss / 2)
        batch.log("new", batch.num_new)
        changing = torch.ones(1)
        batch.log("before", changing)
        changing.zero_()
        return loss


def test_every_step_of_a_network_is_recorded_with_loss_lr_and_gradient_norm(tmp_path: Path) -> None:
    record = onward.run(tiny_benchmark(model="mlp"), Terms, 0, tmp_path)
    assert record.path is not None
    assert record.cost is not None
    found = read_training(record.path)
    steps = [one for one in found if one.kind == "step"]
    assert [one.step for one in steps] == list(range(1, (record.cost.iterations or 0) + 1))
    assert {one.period for one in steps} == {0, 1, 2, 3}
    for one in steps:
        values = one.values
        assert values["half"] == pytest.approx((values["loss"] or 0) / 2)
        assert values["before"] == 1
        assert values.keys() >= {"loss", "lr", "grad_norm", "half", "new"}
    epochs = [one for one in found if one.kind == "epoch"]
    assert [(one.period, one.epoch) for one in epochs] == [(p, e) for p in range(4) for e in (0, 1)]
    for epoch in epochs:
        mine = [s for s in steps if (s.period, s.epoch) == (epoch.period, epoch.epoch)]
        assert epoch.step == mine[-1].step
        assert epoch.values["loss"] == pytest.approx(np.mean([s.values["loss"] for s in mine]))
        assert epoch.values.keys() >= set(SPEED)
    assert check_folder(record.path) == []


def test_a_gradient_norm_is_that_of_all_gradients(tmp_path: Path) -> None:
    norms: list[float] = []

    class Norms(onward.Method):
        """Notes the norms of its gradients."""

        def on_after_backward(self, batch: Batch) -> None:
            grads = [p.grad for p in batch.model.parameters() if p.grad is not None]
            norms.append(float(torch.cat([grad.flatten() for grad in grads]).norm()))

    events: list[TrainingRecord] = []
    watch = lambda event: events.extend(event.records)  # noqa: E731
    onward.run(tiny_benchmark(model="mlp"), Norms, 0, watch=watch)
    found = [one.values["grad_norm"] for one in events if one.kind == "step"]
    assert found == pytest.approx(norms)


def test_linear_probes_record_epochs_and_steps_when_asked(tmp_path: Path) -> None:
    by_epoch = read_training(run_tiny(tmp_path / "epochs"))
    assert {one.kind for one in by_epoch} == {"epoch"}
    every_third = read_training(run_tiny(tmp_path / "steps", log_every=3))
    steps = [one for one in every_third if one.kind == "step"]
    assert steps
    assert all((one.values["grad_norm"] or 0) > 0 for one in steps)
    means = [
        [one.values["loss"] for one in found if one.kind == "epoch"]
        for found in (by_epoch, every_third)
    ]
    assert means[0] == means[1]


def test_log_every_below_one_is_refused() -> None:
    with pytest.raises(OnwardError, match="expected log_every of 1 or more, found 0"):
        onward.run(tiny_benchmark(), "finetune", log_every=0)


def test_a_run_without_a_folder_passes_its_records_to_watch() -> None:
    events: list[Event] = []
    onward.run(tiny_benchmark(model="mlp"), "finetune", watch=events.append)
    training = [event for event in events if event.kind == "training"]
    steps = [one for event in training for one in event.records if one.kind == "step"]
    assert len({one.step for one in steps}) == len(steps) > 10
    assert all(0 < event.steps[0] <= event.steps[1] for event in training)


@pytest.mark.parametrize(("model", "seconds"), [("linear", 0.0), ("mlp", 0.0), ("mlp", 1000.0)])
def test_a_killed_and_resumed_run_has_the_records_of_an_uninterrupted_one(
    tmp_path: Path, model: str, seconds: float
) -> None:
    script = tmp_path / "made.py"
    script.write_text(MADE)
    rng = np.random.default_rng()

    def start(kill_at: int, out: str) -> int:
        arguments = [str(kill_at), model, str(tmp_path / out), str(seconds)]
        return subprocess.run([sys.executable, str(script), *arguments], check=False).returncode

    assert start(0, "whole") == 0
    at = rng.integers(1, 20, 2).tolist()
    codes = [start(number, "killed") for number in (*at, 0)]
    assert codes[0] == -signal.SIGKILL
    assert codes[-1] == 0
    (whole,), (killed,) = find_folders(tmp_path / "whole"), find_folders(tmp_path / "killed")
    assert recorded(killed) == recorded(whole), f"killed at the steps {at}"
    assert len(recorded(whole)) >= 8


def test_a_checkpoint_after_the_last_step_of_a_call_keeps_its_unfinished_epoch(
    tmp_path: Path,
) -> None:
    class Ending(onward.Method):
        """Fails the first time that a call of learn ends."""

        ended = False

        def on_learn_end(self, *arguments: Any) -> None:
            if not Ending.ended:
                Ending.ended = True
                raise KeyboardInterrupt

    options: dict[str, Any] = {"limits": {"iterations": 3}, "checkpoint_seconds": 0}
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path / "stopped", Ending, **options)
    stopped = run_tiny(tmp_path / "stopped", Ending, **options)
    whole = run_tiny(tmp_path / "whole", Ending, **options)
    assert recorded(stopped) == recorded(whole)
    assert [one["epoch"] for one in recorded(whole)[:2]] == [0, 1]


def test_records_are_equal_with_and_without_data_workers(tmp_path: Path) -> None:
    benchmark = tiny_benchmark(model="convnet", images=True)
    benchmark = replace(
        benchmark,
        recipes={"cpu": replace(benchmark.recipes["cpu"], augment="flip", batch_size=6)},
    )
    paths = [
        onward.run(benchmark, "er", 0, tmp_path / str(workers), workers=workers).path
        for workers in (0, 2)
    ]
    found = [recorded(path) for path in paths if path is not None]
    assert found[0] == found[1]
    assert len(found[0]) > 20


def test_runs_side_by_side_record_what_they_record_alone(tmp_path: Path) -> None:
    names = ["finetune", "lwf", "er"]
    for model in ("linear", "mlp"):
        out = tmp_path / model
        together = run_together(
            tiny_benchmark(model=model), [Variant(name) for name in names], out=out / "together"
        )
        for name, beside in zip(names, together, strict=True):
            alone = onward.run(tiny_benchmark(model=model), name, 0, out / "alone")
            assert alone.path is not None
            assert beside.path is not None
            places, values = [], []
            for path in (alone.path, beside.path):
                found = recorded(path)
                values.append([list(one.pop("values").values()) for one in found])
                places.append(found)
            assert places[0] == places[1]
            for one, other in zip(*values, strict=True):
                assert one == pytest.approx(other, rel=1e-4, abs=1e-6)


def test_online_each_call_of_learn_is_numbered(tmp_path: Path) -> None:
    record = onward.run(tiny_benchmark("online"), "finetune", 0, tmp_path)
    assert record.path is not None
    found = read_training(record.path)
    for period in range(4):
        numbers = [one.call for one in found if one.period == period]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > 2


def test_a_diverged_run_keeps_the_records_that_led_there(tmp_path: Path) -> None:
    class Diverging(onward.Method):
        """Has a loss that is not finite from some step on."""

        steps = 0

        def compute_loss(self, batch: Batch) -> torch.Tensor:
            self.steps += 1
            return super().compute_loss(batch) * (math.inf if self.steps > 4 else 1)

    with pytest.raises(DivergedError):
        onward.run(tiny_benchmark(model="mlp"), Diverging, 0, tmp_path)
    (folder,) = find_folders(tmp_path)
    assert [one.step for one in read_training(folder) if one.kind == "step"][:4] == [1, 2, 3, 4]
    assert "Infinity" not in (folder / TRAINING).read_text()


def test_a_folder_of_an_older_version_has_no_training_metrics(tmp_path: Path) -> None:
    folder = run_tiny(tmp_path)
    (folder / TRAINING).unlink()
    assert read_training(folder) == []
    assert check_folder(folder) == []


def test_a_line_that_was_not_finished_is_left_out_and_a_damaged_one_is_named(
    tmp_path: Path,
) -> None:
    folder = run_tiny(tmp_path)
    whole = read_training(folder)
    path = folder / TRAINING
    good = path.read_bytes()
    path.write_bytes(good + b'{"kind":"epo')
    assert read_training(folder) == whole
    path.write_bytes(b"{}\n" + good)
    with pytest.raises(DamagedFolderError, match="Delete that file: no result is computed from it"):
        read_training(folder)


def test_a_validation_score_is_part_of_its_epoch(tmp_path: Path) -> None:
    benchmark = retrained(tiny_benchmark("incomplete"), {"epochs": 2, "first_epochs": 3})
    record = onward.run(benchmark, "finetune", 0, tmp_path)
    assert record.path is not None
    epochs = [one for one in read_training(record.path) if one.kind == "epoch"]
    assert len(epochs) == 3 + 2 + 2 + 2
    name = f"validation_{benchmark.task.headline}"
    assert all(0 <= (one.values[name] or 0) <= 1 for one in epochs)
