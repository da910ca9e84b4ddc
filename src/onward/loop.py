"""THE loop: show a learner one period after another, test it, write it down, and resume."""

import contextlib
import os
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from onward import distributed
from onward.benchmarks import retrained, warn_of_lr
from onward.budget import Budget
from onward.calls import calls, known_classes
from onward.errors import (
    BudgetSpentError,
    DamagedFolderError,
    DivergedError,
    OnwardError,
    StorageError,
)
from onward.exam import Exam, Test, due_tests, static_tests
from onward.failures import FailedRun
from onward.learners import UNKNOWN, Chosen, choose, require_metered, require_shared_out
from onward.loggers import Loggers, check_loggers
from onward.loggers.logger import LoggedRun
from onward.models import stored_recipe
from onward.results.cost import Meter, Spent, environment
from onward.results.folder import folder_of, write_traceback
from onward.results.followed import open_for_all
from onward.results.read import missing_tests
from onward.results.record import RunRecord, load_record
from onward.results.schema import Cost, Point, Progress, RunSpec, Score
from onward.results.stream_card import write_stream_card
from onward.results.training import TrainingRecord, record_of_tests, training_history
from onward.stored import stored
from onward.train.training_log import TrainingLog
from onward.turns import Event, Turn, Watch
from onward.types import Benchmark, Call, Period, Rows, SavingLearner, Stream, View
from onward.view import complete_labels


def run(
    benchmark: Benchmark,
    method: Any,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    limits: Mapping[str, float] | None = None,
    tuned: Mapping[str, Any] | None = None,
    keep_predictions: bool = True,
    allow_unmetered: bool = False,
    checkpoint_seconds: float = 30.0,
    device: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
    log: Sequence[str] = (),
    log_every: int | None = None,
    watch: Watch = lambda event: None,
    **training: Any,
) -> RunRecord:
    """Run a method on a benchmark, or finish the run that was begun.

    Parameters
    ----------
    benchmark
        What `onward.load` returned.
    method
        A name of the catalogue, ``path/to/file.py:Name``, or any learner.
    seed
        Decides the split and every random choice.
    out
        The results folder; None leaves nothing on disk.
    options
        Keyword arguments of the method.
    limits
        A budget beyond the protocol's, by the names of `onward.budget.LIMITS`.
    tuned
        Where the options were chosen and what that cost, for the record: `Tuned.summary`.
    keep_predictions
        Whether each single decision is kept.
    allow_unmetered
        Whether a learner may run under limits on what it does not report, such as the iterations of
        a training loop of its own. Such a run is in no ranking.
    checkpoint_seconds
        How much work may be lost to a kill, at most.
    device, workers, threads
        What to compute on, where it is not what `onward.load` was told: see
        `onward.hardware.Hardware`.
    log
        Loggers of `onward.loggers.LOGGERS`, such as ``["tensorboard"]``, that get the metrics of
        training and all scores. They change nothing of a run.
    log_every
        Record the metrics of every so many training steps: see `TrainingLog`.
    watch
        Called with each `Event`.
    training
        Training hyperparameters that are not to be the recipe's, such as ``optimizer="adamw"`` or
        ``lr=1e-3``: fields of `onward.train.recipe.Recipe`, or options of the optimizer.

    Examples
    --------
    >>> import onward
    >>> record = onward.run(onward.load("clear", data="emoji", protocol="streaming"), "finetune")
    >>> record.matrix().shape
    (7, 7)
    """
    if not isinstance(benchmark, Benchmark):
        raise OnwardError(f"expected what onward.load returns, found {benchmark!r}")
    if seed < 0:
        raise OnwardError(f"expected a seed of 0 or more, found {seed}")
    warn_of_lr(benchmark, training)
    asked = {"device": device, "workers": workers, "threads": threads}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    benchmark = replace(
        retrained(benchmark, training), hardware=replace(benchmark.hardware, **given)
    )
    loop = Loop(
        benchmark,
        benchmark.stream(seed),
        choose(method, options, benchmark),
        seed,
        limits or {},
        tuned=tuned,
        keep_predictions=keep_predictions,
        allow_unmetered=allow_unmetered,
        checkpoint_seconds=checkpoint_seconds,
        watch=watch,
        log=log,
        log_every=log_every,
    )
    with loop.located(), loop.opened(out), contextlib.closing(loop.play()) as turns:
        for turn in turns:
            turn.take()
        return loop.record()


class Loop:
    """One run under way.

    Whoever drives it makes the calls of `learn`, which `play` hands out one by one: alone, or
    together with other runs of the same stream.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        stream: Stream,
        chosen: Chosen,
        seed: int,
        limits: Mapping[str, float],
        *,
        tuned: Mapping[str, Any] | None,
        keep_predictions: bool,
        allow_unmetered: bool,
        checkpoint_seconds: float,
        watch: Watch,
        log: Sequence[str] = (),
        log_every: int | None = None,
    ) -> None:
        self.benchmark, self.stream, self.watch = benchmark, stream, watch
        self.stage: str | None = None
        self.keep_predictions = keep_predictions
        rules = benchmark.protocol.limits_of(chosen.name, {})
        limits = dict(benchmark.protocol.limits_of(chosen.name, limits))
        learned = np.concatenate([period.train.rows[:1] for period in stream])
        sample = stream.table.wide["input"][learned[:1]]
        # Refuses limits that make no sense, before anything is written.
        self.budget = Budget(limits, sample_bytes=int(sample.nbytes), rules=rules)
        recipe = benchmark.recipes[benchmark.recipe]
        self.spec = RunSpec(
            benchmark=benchmark.name,
            data=benchmark.data,
            data_digest=benchmark.raw.digest,
            benchmark_options=dict(benchmark.options),
            task=benchmark.task.name,
            protocol=stored(benchmark.protocol),
            recipe_name=benchmark.recipe,
            recipe=stored_recipe(recipe),
            recipe_changes=dict(benchmark.recipe_changes),
            method=chosen.name,
            method_options=dict(chosen.options),
            method_digest=chosen.digest or chosen.revision(recipe),
            limits=limits,
            tuned=None if tuned is None else dict(tuned),
            seed=seed,
            periods=[period.name for period in stream],
        ).as_stored()
        require_metered(chosen, limits, allow_unmetered=allow_unmetered)
        self.chosen = chosen
        self.checkpoint_seconds, self.saved_at = checkpoint_seconds, time.monotonic()
        self.learning = Spent()
        self._loggers = Loggers(check_loggers(log))
        if log_every is not None and log_every < 1:
            raise OnwardError(f"expected log_every of 1 or more, found {log_every}")
        # One process records for all that share the run.
        emit = self._record if distributed.is_main_process() else None
        self.training_log = self.budget.training_log = TrainingLog(emit, log_every)

    @contextlib.contextmanager
    def opened(self, out: str | os.PathLike[str] | None) -> Iterator[None]:
        """Open the run's folder for as long as the run is under way."""
        if out is not None and self.spec.method_digest == UNKNOWN:
            raise OnwardError(
                f"the code or the settings of {self.spec.method} cannot be read, so a results "
                "folder could not tell it from another one. Define it in a file, or leave out= away"
            )
        # Before anything is written: options may not fit.
        self.learner = self.chosen.build(self.benchmark.setting(self.spec.seed))
        self.saver = self.learner if isinstance(self.learner, SavingLearner) else None
        if distributed.world_size() > 1:
            require_shared_out(self.learner, self.chosen.name)
        self.lasting, waits = out is not None, partial(self.watch, Event("waiting", self.spec))
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else out
            where = environment(**self._computed_on())
            opened = open_for_all(Path(place), self.spec, where, waits)
            self.folder = stack.enter_context(opened)
            if self.lasting and distributed.is_main_process() and not self.folder.complete:
                write_stream_card(Path(place), self.spec.stream_name, self.benchmark, self.stream)
            stack.callback(self._loggers.close)
            yield

    @contextlib.contextmanager
    def located(self) -> Iterator[None]:
        """Add the run and its stage to an exception that ends this block."""
        try:
            yield
        except DivergedError as error:
            raise DivergedError(f"{self._where}: {error}") from error
        except OnwardError:
            raise
        except Exception as error:
            error.add_note(self._where)
            raise

    @property
    def _where(self) -> str:
        run = f"{self.spec.method}, seed {self.spec.seed}"
        return run if self.stage is None else f"{run}, {self.stage}"

    def failed(self, error: Exception, out: str | os.PathLike[str] | None) -> FailedRun:
        """Return why this run failed, and write the traceback to its folder.

        Nothing is written if an `OnwardError` refused the run before it began: options that do not
        fit need no folder, and a damaged folder is not changed.
        """
        found = FailedRun.of(error, self.spec.method, self.spec.seed, self.stage)
        refused = self.stage is None and isinstance(error, OnwardError)
        if out is not None and not refused and distributed.is_main_process():
            # A full disk must not replace the error that is to be reported.
            with contextlib.suppress(StorageError):
                file = write_traceback(folder_of(Path(out), self.spec), found.traceback)
                found = replace(found, file=file)
        self.watch(Event("failed", self.spec))
        return found

    def play(self) -> Generator[Turn, None, None]:
        """Learn and test every period that is still to come; each yielded turn is to be taken."""
        if self.folder.complete:
            self.watch(Event("done before", self.spec))
            return
        self.meter = self._meter(None)
        progress = self._resume()
        self.budget.charge = self.meter.charge
        self.meter.charge(1.0)
        learned_before = progress.period
        self._require_tested(progress)
        self._begin_records(progress)
        # The period learned last may have been saved and not yet tested.
        for period in self.stream[max(learned_before - 1, 0) :]:
            if period.index >= learned_before and len(period.train):
                self.watch(Event("learning", self.spec, period.index))
                samples, self.learning = self.budget.totals["samples"], Spent()
                yield from self._learn(period, progress)
                self.training_log.flush()
                progress = Progress(period=period.index + 1)
                metrics = dict(getattr(self.learner, "metrics", {}))
                self._log_learned(period, self.budget.totals["samples"] - samples, metrics)
                learned = Event("learned", self.spec, period.index, self.learner, metrics=metrics)
                self.watch(learned)
                self._save(progress, self.budget.held)
            if not self.folder.tested(period.index):
                self._test(period)
        self.folder.finish(self.meter.cost(self.budget))
        self.watch(Event("done", self.spec))

    def _resume(self) -> Progress:
        saved = distributed.broadcast(self.folder.last_checkpoint) if self.saver else None
        if saved is None or self.saver is None:
            if self.folder.scores:
                self.folder.log("replayed", can_save=self.saver is not None)
                self.watch(Event("replayed", self.spec))
            return Progress()
        progress, held, learner_folder = saved
        if not learner_folder.is_dir():
            raise OnwardError(
                f"expected the checkpoint {learner_folder}, which another process has found, and "
                "found none here. Machines that share a run need storage that all of them see"
            )
        self.saver.load(learner_folder)
        self.budget.resume(progress.totals, held)
        self.meter = self._meter(progress.cost)
        where = {"period": progress.period, "learned": progress.learned}
        self.folder.log("resumed", **where, processes=distributed.world_size())
        self.watch(Event("resumed", self.spec, progress.period))
        return progress

    def _begin_records(self, progress: Progress) -> None:
        """Go on with the training metrics where the last checkpoint was, and open the loggers."""
        if not distributed.is_main_process():
            return
        self.folder.resume_training(progress.training.size)
        if not self._loggers.names:
            return
        history = training_history(self.folder.path, self.spec.periods, self.folder.scores)
        place = self.folder.path if self.lasting else None
        self._loggers.open(LoggedRun(self.spec, place, tuple(history)))

    def _record(self, records: Sequence[TrainingRecord]) -> None:
        """Pass new training metrics on: to the run's folder, to loggers and to who watches."""
        if self.lasting:
            self.folder.add_training(records)
        self._loggers.log(records)
        steps = self.training_log.steps
        period = records[-1].period
        event = Event("training", self.spec, period, records=tuple(records), steps=steps)
        self.watch(event)

    def _meter(self, before: Cost | None) -> Meter:
        """Return what counts the cost, on top of what the run had cost before."""
        name = self._device
        if name is None or name.startswith("cpu"):
            return Meter(self.chosen.metered, before)
        import torch

        from onward.models.device import peak_memory, reset_peak_memory

        device = torch.device(name)
        reset_peak_memory(device)
        return Meter(self.chosen.metered, before, lambda: peak_memory(device))

    @property
    def _device(self) -> str | None:
        """The name of the device that the learner computes on, if it says so."""
        name: str | None = getattr(self.learner, "compute_device", None)
        return name

    def _computed_on(self) -> dict[str, Any]:
        """Return the part of the environment that the learner was told."""
        if self._device is None:
            return {}
        import torch

        from onward.models.device import device_name

        hardware = self.benchmark.hardware
        return {
            "device": self._device,
            "device_name": device_name(torch.device(self._device)),
            "workers": hardware.workers,
            "threads": hardware.threads,
        }

    def _log_learned(self, period: Period, samples: int, metrics: Mapping[str, float]) -> None:
        """Log what the method logged, how fast a period was learned, and the time spent waiting."""
        seconds = self.learning.wall
        self.folder.log(
            "learned",
            period=period.index,
            samples=samples,
            seconds=round(seconds, 3),
            samples_per_second=round(samples / seconds, 1) if seconds else None,
            waiting_share=round(self.learning.waiting / seconds, 3) if seconds else None,
            **({"metrics": metrics} if metrics else {}),
        )

    def _require_tested(self, progress: Progress) -> None:
        """Raise if the weights of a checkpoint are ahead of the tests in the run folder.

        A period may be tested only with the weights that it ended with: once a checkpoint holds
        weights of a later moment, a test that is missing cannot be made any more.
        """
        for index in range(progress.periods_before):
            due = due_tests(self.stream, self.benchmark.protocol, index)
            if due and not self.folder.tested(index):
                raise DamagedFolderError(
                    missing_tests(self.folder.path, f"period {index}", progress)
                )
        points = {point.seen for point in self.folder.curve}
        for period in self.stream[: progress.period + 1]:
            learned = progress.learned if period.index == progress.period else len(period.train)
            before = self._samples_before(period)
            for start, end in calls(self.stream, period, self.benchmark.protocol, self.spec.seed):
                seen = before + end
                if end <= learned and self._on_curve(before + start, seen) and seen not in points:
                    raise DamagedFolderError(
                        missing_tests(self.folder.path, f"{seen} samples", progress)
                    )

    def _samples_before(self, period: Period) -> int:
        return sum(len(earlier.train) for earlier in self.stream[: period.index])

    def _on_curve(self, before: int, seen: int) -> bool:
        """Return whether the protocol tests after this many samples; `before` were shown before."""
        every = self.benchmark.protocol.curve
        last = seen == sum(len(period.train) for period in self.stream)
        return every is not None and (before // every != seen // every or last)

    def _learn(self, period: Period, progress: Progress) -> Generator[Turn, None, None]:
        known = known_classes(self.stream, period, self.benchmark.protocol)
        shown = calls(self.stream, period, self.benchmark.protocol, self.spec.seed)
        before = self._samples_before(period)
        for number, (start, end) in enumerate(shown):
            if end <= progress.learned:
                continue
            inside = progress.inside_call and start == progress.learned
            classes = period.classes[: known[end]]
            spent = progress.spent if inside else {}
            self.training_log.begin_call(
                period.index, number, progress.training if inside else None
            )
            yield from self._call(period, slice(start, end), classes, spent)
            self._test_on_the_way(period, before + start, before + end, classes)
            if end < len(period.train):
                self._save_if_due(Progress(period=period.index, learned=end), self.budget.held)

    def _call(
        self, period: Period, part: slice, classes: tuple[str, ...], spent: Mapping[str, float]
    ) -> Generator[Turn, None, None]:
        shown, held_before = period.train[part], self.budget.held
        rows = [shown.rows, period.unlabelled, period.validation.rows]
        self.budget.open(np.concatenate(rows), already_spent=spent)
        inside = Progress(period=period.index, learned=part.start, inside_call=True)
        # On resume the call is made again, so it must find what was held when it began.
        self.budget.checkpoint = lambda learner, must=False: self._save_if_due(
            inside, held_before, must=must
        )
        call = Call(self.budget)
        complete = None
        if self.stream.complete is not None:
            labelled = np.concatenate([shown.rows, period.validation.rows, held_before])
            complete = complete_labels(self.stream.complete, labelled, len(classes))
        beside = period.unlabelled, period.validation, complete
        view = View(self.stream.table, shown, classes, call, *beside)
        try:
            self.meter.charge(0.0)
            before = self.meter.spent
            self.stage = f"learning {_called(period)}"
            yield Turn((period.index, part.start), self.learner, view, self.budget)
            self.learning = self.learning.plus(1.0, before, self.meter.spent)
            self.meter.charge(1.0)
            self.training_log.end_call()
        except Exception:
            # What was recorded until then may say why: the device or the disk may refuse it, too.
            with contextlib.suppress(Exception):
                self.training_log.flush()
            raise
        finally:
            call.over = True
        if dict(self.budget.limits) != self.spec.limits:
            raise BudgetSpentError(
                f"{self._where}: expected the limits of the run's spec, {self.spec.limits}, found "
                f"{dict(self.budget.limits)}: the learner has changed its budget. Leave "
                "budget.limits alone"
            )

    def _test_on_the_way(
        self, period: Period, before: int, seen: int, classes: tuple[str, ...]
    ) -> None:
        """Give the static tests between two calls, where the protocol asks for a curve."""
        done = {point.seen for point in self.folder.curve}
        if seen in done or not self._on_curve(before, seen):
            return
        self.stage = f"tested after {seen} samples in {_called(period)}"
        _, scores = self._sit(period, static_tests(self.stream), classes, pooled=False)
        self.folder.add_to_curve([Point(seen=seen, test=s.test, scores=s.scores) for s in scores])

    def _test(self, period: Period) -> None:
        tests = due_tests(self.stream, self.benchmark.protocol, period.index)
        if not tests:
            return
        known = known_classes(self.stream, period, self.benchmark.protocol)
        classes = period.classes[: known[-1]]
        pooled, kept = self.benchmark.protocol.pooled, self.folder.keeps_predictions
        self.stage = f"tested after {_called(period)}"
        exam, scores = self._sit(period, tests, classes, pooled=pooled)
        keep = self.keep_predictions if kept is None else kept
        self.folder.add(period.index, scores, exam.stored() if keep else None)
        step = self.budget.totals["iterations"]
        self._loggers.log([record_of_tests(scores, self.spec.periods, step, time.time())])
        found = self.learner, exam.outputs, tuple(scores)
        self.watch(Event("tested", self.spec, period.index, *found))

    def _sit(
        self, period: Period, due: list[Test], classes: tuple[str, ...], *, pooled: bool
    ) -> tuple[Exam, list[Score]]:
        exam = Exam.sit(self.learner, self.stream, due, classes, self.benchmark.task)
        return exam, distributed.broadcast(lambda: exam.scores(period.index, pooled=pooled))

    def _save_if_due(self, progress: Progress, held: Rows, *, must: bool = False) -> None:
        """Save when the time has come, or if the run `must` be saved to be resumed exactly."""
        due = time.monotonic() - self.saved_at >= self.checkpoint_seconds
        if due or (must and self.lasting):
            self._save(progress, held)

    def _save(self, progress: Progress, held: Rows) -> None:
        if self.saver is not None:
            recorded = self.training_log.state()
            size = self.folder.sync_training()
            whole = {
                "training": recorded.model_copy(update={"size": size}),
                "spent": dict(self.budget.spent),
                "totals": dict(self.budget.totals),
                "cost": self.meter.cost(self.budget),
            }
            self.folder.checkpoint(progress.model_copy(update=whole), held, self.saver.save)
            self.saved_at = time.monotonic()

    def record(self) -> RunRecord:
        """Return what a finished run found."""
        record = distributed.broadcast(self._read)
        return record if self.lasting else replace(record, path=None)

    def _read(self) -> RunRecord:
        record = load_record(self.folder.path)
        # Decisions are read when they are asked for: a folder that does not last is gone by then.
        return record if self.lasting else replace(record, decisions=dict(record.decisions))


def _called(period: Period) -> str:
    """Return what a period is called in messages; the names of some say already that they are."""
    return period.name if period.name.startswith("period") else f"period {period.name}"
