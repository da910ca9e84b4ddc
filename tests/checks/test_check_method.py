"""What the planted leaks do not show: messages, fallbacks, and parts of the loop's own side."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import leaky_learners
import numpy as np
import pytest
import torch
from leaky_learners import Centroids

import onward
from onward.budget import Budget
from onward.checks import check_method, check_stream, tiny_benchmark
from onward.checks.observer import Log, Observed
from onward.errors import OnwardError
from onward.train.method import Batch
from onward.types import Array, Call, Setting, View


def detail(method: object, check: str, folder: Path, **options: object) -> str:
    benchmark = tiny_benchmark(folder=folder)
    report = check_method(method, benchmark, options=options, only=(check,), raise_on_failure=False)
    return report[0].detail


def test_a_method_of_a_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(Path(leaky_learners.__file__).read_text())
    only = ("runs_to_the_end", "learners_share_nothing", "sees_only_the_past")
    assert check_method(f"{path}:Centroids", only=only).ok
    report = check_method(f"{path}:CachesABasis", only=only, raise_on_failure=False)
    assert [finding.check for finding in report.failed] == ["sees_only_the_past"]


def test_a_method_that_cannot_be_sent_away_is_checked_here() -> None:
    class Local(Centroids):
        pass

    report = check_method(Local, only=("sees_only_the_past", "fresh_processes_agree"))
    assert all("in this process" in finding.detail for finding in report)

    class LocalLeak(leaky_learners.ReadsPastItsView):
        pass

    report = check_method(LocalLeak, only=("sees_only_the_past",), raise_on_failure=False)
    assert not report.ok


def test_messages_tell_what_was_found(tmp_path: Path) -> None:
    path = str(tmp_path)
    found = detail(leaky_learners.ReadsTheFile, "opens_no_file", tmp_path, path=path)
    assert f"found {tmp_path / 'point.npy'} while learning period 0" in found
    found = detail(leaky_learners.ReadsTheFileWithArrow, "opens_no_file", tmp_path, path=path)
    assert "samples.parquet while learning period 0, past Python" in found
    found = detail(leaky_learners.ReplaysWithoutHolding, "reads_only_what_it_is_shown", tmp_path)
    assert "more read while learning period 1" in found
    found = detail(leaky_learners.RoundsUp, "memory_stays_in_bounds", tmp_path)
    assert found.startswith("expected at most 1 samples with memory=1; found ")
    found = detail(leaky_learners.CountsFutureLabels, "sees_only_the_past", tmp_path)
    assert "the same up to period 0 with noise after it; found other outputs and scores" in found


def test_a_reader_of_the_data_in_another_process_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onward.checks import audit

    reads = iter([[], [], [tmp_path / "point.npy"]])
    monkeypatch.setattr(audit.Inotify, "read", lambda self: next(reads, []))
    assert check_method(Centroids, tiny_benchmark(folder=tmp_path), only=("opens_no_file",)).ok


def test_a_method_that_keeps_its_memory_passes() -> None:
    report = check_method("er", only=("memory_stays_in_bounds",))
    assert report[0].detail == "tried with memory = 1, 2, 5, 11"
    report = check_method("cumulative", only=("memory_stays_in_bounds",))
    assert "is refused with a budget of" in report[0].detail


def test_a_live_view_is_noted() -> None:
    benchmark = tiny_benchmark()
    log = Log(benchmark, benchmark.table)
    observed = Observed(Centroids(), log, benchmark.task)
    stream, budget = benchmark.stream(0), Budget()
    shown, call = stream[0].train, Call(budget)
    budget.open(shown.rows)
    observed.learn(View(stream.table, shown, stream[0].classes, call), budget)
    log.expect_dead()
    assert log.problems["views_die_with_their_call"]
    log.audit.close()


@pytest.mark.parametrize(
    "read", [lambda column: column[:], np.asarray, lambda column: column.mean(0)]
)
def test_whoever_reads_the_whole_column_is_noted(read: Callable[[Any], object]) -> None:
    class Reader(Centroids):
        def learn(self, view: View, budget: Budget) -> None:
            super().learn(view, budget)
            read(view._input)

    only = ("reads_only_what_it_is_shown",)
    report = check_method(Reader, only=only, raise_on_failure=False)
    assert "read while learning period 0" in report.failed[0].detail


def test_what_the_loop_writes_inside_a_call_is_not_the_learners(tmp_path: Path) -> None:
    class Checkpointing(leaky_learners.SavingCentroids):
        def learn(self, view: View, budget: Budget) -> None:
            super().learn(view, budget)
            budget.checkpoint(self)

    benchmark = tiny_benchmark(folder=tmp_path)
    log = Log(benchmark, benchmark.table)
    observed = Observed(Checkpointing(), log, benchmark.task)
    stream, budget = benchmark.stream(0), Budget()
    budget.checkpoint = lambda learner: np.save(tmp_path / "checkpoint.npy", np.zeros(3))
    shown = stream[0].train
    budget.open(shown.rows)
    observed.learn(View(stream.table, shown, stream[0].classes, Call(budget)), budget)
    log.audit.close()
    assert (tmp_path / "checkpoint.npy").exists()
    assert log.audit.opened == []


def test_a_prototype_per_class_is_no_copy() -> None:
    class Prototypes(Centroids):
        """Keeps the first sample of every class."""

        def __init__(self) -> None:
            super().__init__()
            self.first: dict[int, Array] = {}

        def learn(self, view: View, budget: Budget) -> None:
            super().learn(view, budget)
            for values, label in zip(view.inputs(), view.labels.tolist(), strict=True):
                self.first.setdefault(label, values.copy())

    assert check_method(Prototypes, only=("keeps_only_what_it_holds",)).ok


def test_a_bare_stream_is_checked_as_far_as_it_goes() -> None:
    report = check_stream(tiny_benchmark().stream(0))
    assert report.subject == "from 2001 to 2004"
    assert len(report.passed) == 8
    assert {finding.detail for finding in report.skipped} == {
        "a stream was given without its benchmark"
    }


def test_a_learner_that_breaks_is_told_where() -> None:
    class Broken(leaky_learners.SavingCentroids):
        def predict(self, view: View) -> Array:
            return self.sums[len(view)]

    report = check_method(Broken, raise_on_failure=False)
    assert [finding.check for finding in report.failed] == ["runs_to_the_end"]
    assert "predict raised IndexError" in report[0].detail
    assert Path(__file__).name in report[0].detail
    assert any("see the first failure above" in finding.detail for finding in report.skipped)

    class Unloadable(leaky_learners.SavingCentroids):
        def load(self, folder: Path) -> None:
            raise NotImplementedError("later")

    report = check_method(Unloadable, raise_on_failure=False)
    assert [f.check for f in report.failed] == ["resumed_runs_equal_uninterrupted_ones"]
    assert "load raised NotImplementedError: later" in report.failed[0].detail


def test_an_unknown_method_is_told_the_nearest() -> None:
    with pytest.raises(OnwardError, match="Did you mean 'finetune'"):
        check_method("fintune")


def test_a_method_may_write_a_log_and_not_read_it(tmp_path: Path) -> None:
    class Writes(onward.Method):
        """Appends its losses to a file."""

        reads = False

        def compute_loss(self, batch: Batch) -> torch.Tensor:
            loss = super().compute_loss(batch)
            with (tmp_path / "losses.txt").open("a") as file:
                file.write(f"{loss.item()}\n")
            if self.reads:
                (tmp_path / "losses.txt").read_text()
            return loss

    class Reads(Writes):
        """Reads them, too."""

        reads = True

    only = ("opens_no_file",)
    assert check_method(Writes, only=only).ok
    found = check_method(Reads, only=only, raise_on_failure=False)
    assert "losses.txt while learning period 0" in found[0].detail


def test_a_summary_writer_in_a_method_passes(tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="needs tensorboard")

    class Watched(onward.Method):
        """Writes its losses for TensorBoard."""

        def begin(self, setting: Setting) -> None:
            super().begin(setting)
            self._writer, self._steps = tensorboard.SummaryWriter(str(tmp_path / "logs")), 0

        def compute_loss(self, batch: Batch) -> torch.Tensor:
            loss = super().compute_loss(batch)
            self._steps += 1
            self._writer.add_scalar("loss", loss.detach(), self._steps)
            return loss

    only = ("opens_no_file", "holds_no_stream", "resumed_runs_equal_uninterrupted_ones")
    assert check_method(Watched, only=only).ok
