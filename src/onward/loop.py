"""THE loop: show a learner one period after another, test it, write it down, and resume."""

import contextlib
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from onward.budget import Budget
from onward.learners import choose
from onward.results import predictions
from onward.results.folder import RunFolder, open_folder
from onward.results.record import RunRecord, load_record
from onward.results.schema import Cost, Environment, Progress, RunSpec, Score
from onward.results.stream_card import write_stream_card
from onward.types import (
    Benchmark,
    Call,
    Learner,
    Period,
    Samples,
    SavingLearner,
    Setting,
    Stream,
    View,
)


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, for whoever watches.

    ``kind`` is one of waiting, done before, resumed, replayed, learning, learned, tested, done.
    """

    kind: str
    spec: RunSpec
    period: int | None = None
    learner: Learner | None = None
    outputs: Any = None
    scores: tuple[Score, ...] = ()


Watch = Callable[[Event], None]


def run(
    benchmark: Benchmark,
    method: Any,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    limits: Mapping[str, float] | None = None,
    keep_predictions: bool = True,
    checkpoint_seconds: float = 30.0,
    watch: Watch = lambda event: None,
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
    keep_predictions
        Whether each single decision is kept.
    checkpoint_seconds
        How much work may be lost to a kill, at most.
    watch
        Called with each `Event`.

    Examples
    --------
    >>> import onward
    >>> record = onward.run(onward.load("clear", data="emoji", protocol="streaming"), "finetune")
    >>> record.matrix().shape
    (7, 7)
    """
    chosen = choose(method, options, benchmark.task)
    stream = benchmark.stream(seed)
    recipe = benchmark.recipes[benchmark.recipe]
    limits = {**benchmark.protocol.limits, **(limits or {})}
    spec = RunSpec(
        benchmark=benchmark.name,
        data=benchmark.data,
        data_digest=benchmark.raw.digest,
        task=benchmark.task.name,
        protocol=asdict(benchmark.protocol),
        recipe_name=benchmark.recipe,
        recipe=asdict(recipe),
        method=chosen.name,
        method_options=dict(chosen.options),
        method_digest=chosen.digest,
        limits=limits,
        seed=seed,
        periods=[period.name for period in stream],
    )
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else out
        folder = stack.enter_context(
            open_folder(Path(place), spec, environment(), lambda: watch(Event("waiting", spec)))
        )
        if folder.complete:
            watch(Event("done before", spec))
        else:
            if out is not None:
                write_stream_card(Path(out), benchmark, stream)
            learner = chosen.build(Setting(benchmark.task, recipe, seed))
            loop = _Loop(benchmark, stream, learner, folder, limits, watch)
            loop.play(keep_predictions=keep_predictions, checkpoint_seconds=checkpoint_seconds)
            watch(Event("done", spec))
        record = load_record(folder.path)
        return record if out is not None else replace(record, path=None)


class _Loop:
    """One run under way."""

    def __init__(
        self,
        benchmark: Benchmark,
        stream: Stream,
        learner: Learner,
        folder: RunFolder,
        limits: Mapping[str, float],
        watch: Watch,
    ) -> None:
        self.benchmark, self.stream, self.folder = benchmark, stream, folder
        self.learner, self.watch, self.spec = learner, watch, folder.spec
        self.budget = Budget(limits, sample_bytes=_sample_bytes(stream))
        self.meter = _Meter()
        self.saver = learner if isinstance(learner, SavingLearner) else None

    def play(self, *, keep_predictions: bool, checkpoint_seconds: float) -> None:
        """Learn and test every period that is still to come."""
        progress = self._resume()
        for period in self.stream[progress.period :]:
            self.watch(Event("learning", self.spec, period.index))
            self._learn(period, progress, checkpoint_seconds)
            progress = Progress(period=period.index + 1)
            self.watch(Event("learned", self.spec, period.index, self.learner))
            if not self.folder.tested(period.index):
                self._save(progress)
                self._test(period, keep=keep_predictions)
        self.folder.finish(self._cost())

    def _resume(self) -> Progress:
        saved = self.folder.last_checkpoint() if self.saver else None
        if saved is None or self.saver is None:
            if self.folder.scores:
                self.folder.log("replayed", reason="the learner has no save and load")
                self.watch(Event("replayed", self.spec))
            return Progress()
        progress, self.budget.held, learner_folder = saved
        self.saver.load(learner_folder)
        self.budget.totals.update(progress.totals)
        self.meter = _Meter(progress.cost)
        self.folder.log("resumed", period=progress.period, learned=progress.learned)
        self.watch(Event("resumed", self.spec, progress.period))
        return progress

    def _learn(self, period: Period, progress: Progress, checkpoint_seconds: float) -> None:
        step = self.benchmark.protocol.batch or max(len(period.train), 1)
        saved_at = time.monotonic()
        for start in range(progress.learned, len(period.train), step):
            inside = progress.inside_call and start == progress.learned
            shown = period.train[start : start + step]
            call = Call(self.budget)
            self.budget.open(shown.rows, already_spent=progress.spent if inside else None)
            held_before = self.budget.held

            def checkpoint(learner: Learner, *, here: int = start, held: Any = held_before) -> None:
                nonlocal saved_at
                if time.monotonic() - saved_at >= checkpoint_seconds:
                    spent = dict(self.budget.spent)
                    now = Progress(period=period.index, learned=here, inside_call=True, spent=spent)
                    self._save(now, held)
                    saved_at = time.monotonic()

            self.budget.checkpoint = checkpoint
            try:
                self.learner.learn(
                    View(self.stream.table, shown, period.classes, call), self.budget
                )
            finally:
                call.over = True
            more = start + step < len(period.train)
            if more and time.monotonic() - saved_at >= checkpoint_seconds:
                self._save(Progress(period=period.index, learned=start + step))
                saved_at = time.monotonic()

    def _test(self, period: Period, *, keep: bool) -> None:
        """Give all tests that are due in one call: nothing tells their periods apart."""
        later = self.benchmark.protocol.tested(period.index, len(self.stream))
        tests: list[tuple[str, int | None, Samples]] = [
            ("period", index, self.stream[index].test) for index in later
        ]
        tests += [(name, None, samples) for name, samples in self.stream.static.items()]
        everything = Samples.join([samples for _, _, samples in tests])
        call = Call(None)
        try:
            view = View(self.stream.table, everything, period.classes, call)
            outputs = self.learner.predict(view)
        finally:
            call.over = True
        decisions = self.benchmark.task.decode(outputs, period.classes, len(everything))
        scores, end = [], 0
        for name, index, samples in tests:
            start, end = end, end + len(samples)
            found = self.benchmark.task.score(decisions[start:end], samples.labels)
            plain = {key: None if np.isnan(value) else value for key, value in found.items()}
            scores.append(
                Score(
                    learned_upto=period.index,
                    tested_on=index,
                    test=name,
                    samples=len(samples),
                    scores=plain,
                )
            )
        stored = self._encode(tests, everything, decisions, period) if keep else None
        self.folder.add(period.index, scores, stored)
        self.watch(Event("tested", self.spec, period.index, self.learner, outputs, tuple(scores)))

    def _encode(
        self,
        tests: list[tuple[str, int | None, Samples]],
        everything: Samples,
        decisions: Any,
        period: Period,
    ) -> bytes:
        sizes = [len(samples) for _, _, samples in tests]
        where = [predictions.STATIC if index is None else index for _, index, _ in tests]
        return predictions.encode(
            tests=np.repeat([name for name, _, _ in tests], sizes),
            tested_on=np.repeat(where, sizes),
            ids=self.stream.table.values("id")[everything.rows],
            targets=everything.labels,
            decisions=decisions,
            classes=period.classes,
        )

    def _save(self, progress: Progress, held: Any = None) -> None:
        if self.saver is None:
            return
        whole = {"totals": dict(self.budget.totals), "cost": self._cost()}
        held = self.budget.held if held is None else held
        self.folder.checkpoint(progress.model_copy(update=whole), held, self.saver.save)

    def _cost(self) -> Cost:
        return self.meter.cost(self.budget)


class _Meter:
    """Counts what a run costs, on top of what it had cost before it was resumed."""

    def __init__(self, before: Cost | None = None) -> None:
        self._before = before or Cost()
        self._cpu, self._wall = time.process_time(), time.monotonic()

    def cost(self, budget: Budget) -> Cost:
        """Return the cost up to now."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return Cost(
            cpu_seconds=self._before.cpu_seconds + time.process_time() - self._cpu,
            wall_seconds=self._before.wall_seconds + time.monotonic() - self._wall,
            peak_memory_bytes=max(self._before.peak_memory_bytes, peak),
            samples=budget.totals["samples"],
            iterations=budget.totals["iterations"],
            macs=budget.totals["macs"],
            parameters=max(self._before.parameters, budget.parameters),
            stored_samples=max(self._before.stored_samples, budget.most_stored),
            stored_bytes=max(self._before.stored_bytes, budget.most_stored * budget.sample_bytes),
        )


def environment() -> Environment:
    """Describe this machine and what is installed on it."""
    return Environment(
        onward=version("onward"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpus=os.cpu_count() or 1,
        packages={name: version(name) for name in ("numpy", "pyarrow", "torch")},
    )


def _sample_bytes(stream: Stream) -> int:
    """Return the size of one sample's input in memory."""
    return int(stream.table.wide["input"][stream[0].train.rows[:1]].nbytes)
