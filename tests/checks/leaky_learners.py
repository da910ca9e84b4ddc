"""Learners that break the rules, one rule each."""

import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq

from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.loop import Loop
from onward.types import Array, Benchmark, Samples, Setting, View

_BASIS: dict[str, Array] = {}


class Centroids:
    """An honest learner: the mean of every class, over all samples shown so far."""

    def __init__(self) -> None:
        self.sums = np.zeros((0, 0))
        self.counts = np.zeros(0)

    def learn(self, view: View, budget: Budget) -> None:
        self._add(view.inputs(), view.labels, len(view.classes))

    def predict(self, view: View) -> Array:
        return self._scores(view.inputs(), len(view.classes))

    def _add(self, inputs: Array, labels: Array, classes: int) -> None:
        sums, counts = np.zeros((classes, inputs.shape[1])), np.zeros(classes)
        sums[: len(self.sums), :] = self.sums if len(self.sums) else 0
        counts[: len(self.counts)] = self.counts
        np.add.at(sums, labels, inputs)
        np.add.at(counts, labels, 1)
        self.sums, self.counts = sums, counts

    def _scores(self, inputs: Array, classes: int) -> Array:
        means = self.sums / np.maximum(self.counts, 1)[:, None]
        return -((inputs[:, None, :] - means[None]) ** 2).sum(2)


class SavingCentroids(Centroids):
    """An honest learner that can save itself."""

    def save(self, folder: Path) -> None:
        np.savez(folder / "state.npz", sums=self.sums, counts=self.counts)

    def load(self, folder: Path) -> None:
        with np.load(folder / "state.npz") as state:
            self.sums, self.counts = state["sums"], state["counts"]


class SeededCentroids(Centroids):
    """An honest learner that draws from its seed."""

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.rng = np.random.default_rng(setting.seed)

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        self.sums += self.rng.normal(size=self.sums.shape) / 1e3


class KeepsTheStream(Centroids):
    """Takes the benchmark along and learns the next period too."""

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__()
        self.benchmark, self.calls = benchmark, 0

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        stream = self.benchmark.stream(0)
        self.calls += 1
        if self.calls < len(stream):
            ahead = stream[self.calls].train
            classes = len(stream[self.calls].classes)
            self._add(stream.table.wide["input"][ahead.rows], ahead.labels, classes)

    def predict(self, view: View) -> Array:
        return super().predict(view)[:, : len(view.classes)]


class KeepsTheStreamInItsClass(Centroids):
    """Keeps the stream where all its learners find it."""

    stream = tiny_benchmark().stream(0)


class ReadsPastItsView(Centroids):
    """Reaches past the view for the samples of the next year, test samples among them."""

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        table = loop_on_the_stack().stream.table
        years = table.values("year")
        ahead = np.flatnonzero(years == years[view.rows].max() + 1)
        names = table.values("label")[ahead]
        known = np.isin(names.astype(str), view.classes)
        labels = np.array([view.classes.index(name) for name in names[known]], np.int64)
        self._add(table.wide["input"][ahead[known]], labels, len(view.classes))


class CountsFutureLabels(Centroids):
    """Weighs classes by how often they occur in the whole table."""

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        names = loop_on_the_stack().stream.table.values("label").astype(str)
        self.prior = np.log([1 + np.count_nonzero(names == name) for name in view.classes])

    def predict(self, view: View) -> Array:
        return super().predict(view) + self.prior


class KeepsATestView(Centroids):
    """Keeps the test view of predict and reads it when it learns next."""

    view: View | None = None

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        if self.view is not None:
            self.shift = self.view.inputs().mean(0)

    def predict(self, view: View) -> Array:
        self.view = view
        return super().predict(view)


class LearnsFromTestInputs(Centroids):
    """Keeps the mean of the test inputs, which lie in the future, and centres by it next time."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = 0.0
        self.seen = 0.0

    def learn(self, view: View, budget: Budget) -> None:
        self.mean = self.seen
        self._add(view.inputs() - self.mean, view.labels, len(view.classes))

    def predict(self, view: View) -> Array:
        self.seen = view.inputs().mean(0)
        return self._scores(view.inputs() - self.mean, len(view.classes))


class CachesABasis(Centroids):
    """Fits a basis on the whole table at first use and keeps it in its module for ever."""

    def learn(self, view: View, budget: Budget) -> None:
        if "basis" not in _BASIS:
            inputs = view._input[np.arange(view._input.shape[0])]
            _BASIS["basis"] = np.linalg.svd(inputs, full_matrices=False)[2][:4].T
        self._add(view.inputs() @ _BASIS["basis"], view.labels, len(view.classes))

    def predict(self, view: View) -> Array:
        return self._scores(view.inputs() @ _BASIS["basis"], len(view.classes))


class ReadsTheFile(Centroids):
    """Opens the data file while it learns."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = Path(path)

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        self.scale = np.load(self.path / "point.npy").std()


class ReadsTheFileWithArrow(ReadsTheFile):
    """Opens the data file while it learns, through a reader that is not written in Python."""

    def learn(self, view: View, budget: Budget) -> None:
        Centroids.learn(self, view, budget)
        self.scale = len(pq.read_table(self.path / "samples.parquet", columns=["label"]))


class MapsTheFile(ReadsTheFile):
    """Maps the data file into memory when it is made, and reads the map while it learns."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.mapped = np.load(self.path / "point.npy", mmap_mode="r")

    def learn(self, view: View, budget: Budget) -> None:
        Centroids.learn(self, view, budget)
        self.scale = float(self.mapped.std())


class ReadsPrivateLabels(Centroids):
    """Answers with labels from a private attribute of the test view."""

    def predict(self, view: View) -> Array:
        return view._samples.labels


class ReadsLabelsOnTheStack(Centroids):
    """Answers with the labels that it finds in the local variables of its callers."""

    def predict(self, view: View) -> Array:
        found = [value for frame in frames() for value in frame.f_locals.values()]
        return matching_labels(found, view, super().predict(view).argmax(1))


class ReadsCompleteLabels(Centroids):
    """Answers with the labels that the stream has for every row, tests included."""

    def learn(self, view: View, budget: Budget) -> None:
        pass

    def predict(self, view: View) -> Array:
        found = loop_on_the_stack().stream.complete[view._samples.rows]
        return (found[:, :, None] == np.arange(len(view.classes))).any(1)


class ReadsLabelsOfTheCollector(Centroids):
    """Answers with labels that it finds among all objects that the garbage collector tracks."""

    def predict(self, view: View) -> Array:
        return matching_labels(gc.get_objects(), view, super().predict(view).argmax(1))


class ReplacesTheView(Centroids):
    """Replaces the constructor of views, and answers with the labels that it is given."""

    given: ClassVar[list[Samples]] = []

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        construct = View.__init__

        def record(self: View, table: Any, samples: Samples, *rest: Any, **more: Any) -> None:
            ReplacesTheView.given.append(samples)
            construct(self, table, samples, *rest, **more)

        if construct.__name__ != "record":
            View.__init__ = record

    def predict(self, view: View) -> Array:
        return matching_labels(self.given[-1:], view, super().predict(view).argmax(1))


def frames() -> Iterator[FrameType]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def loop_on_the_stack() -> Loop:
    return next(
        value for frame in frames() for value in frame.f_locals.values() if isinstance(value, Loop)
    )


def matching_labels(found: Iterable[object], view: View, otherwise: Array) -> Array:
    """Return the labels of samples with the rows of a view, where there are any."""
    for value in found:
        if isinstance(value, Samples) and value.rows.shape == view._samples.rows.shape:
            same = np.array_equal(value.rows, view._samples.rows)
            if same and len(value.labels) == len(view):
                return np.minimum(value.labels, len(view.classes) - 1)
    return otherwise


class LabelsInPredict(Centroids):
    """Answers with the labels of the test view."""

    def predict(self, view: View) -> Array:
        return view.labels


class ReplaysWithoutHolding(Centroids):
    """Remembers rows, and reads them again past the budget."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = np.zeros(0, np.int64)
        self.labels = np.zeros(0, np.int64)

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        self._add(view._input[self.rows], self.labels, len(view.classes))
        self.rows = np.concatenate([self.rows, view.rows])
        self.labels = np.concatenate([self.labels, view.labels])


class KeepsCopies(Centroids):
    """Keeps every input it was shown, and lets the budget hold none."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs = []

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        self.inputs.append(view.inputs().astype(np.float64))


class Unseeded(Centroids):
    """Breaks ties with the global generator."""

    def predict(self, view: View) -> Array:
        return super().predict(view) + np.random.normal(size=len(view.classes)) / 1e3


class HashOrdered(Centroids):
    """Numbers its random choices by the hash of a text, which differs from process to process."""

    def predict(self, view: View) -> Array:
        rng = np.random.default_rng(abs(hash("seed")))
        return super().predict(view) + rng.normal(size=len(view.classes)) / 1e3


class ChangesLabels(Centroids):
    """Smooths labels in place."""

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        labels = view.labels
        labels.setflags(write=True)
        labels[:3] = 0


class AdaptsInPredict(Centroids):
    """Moves its means towards the samples it is tested on."""

    def predict(self, view: View) -> Array:
        scores = super().predict(view)
        self._add(view.inputs() / 100, scores.argmax(1), len(view.classes))
        return scores


class ForgetsItsCounts(SavingCentroids):
    """Saves its sums and not its counts."""

    def load(self, folder: Path) -> None:
        super().load(folder)
        self.counts = np.ones_like(self.counts)


class LosesItsPlace(SavingCentroids):
    """Checkpoints inside a call, and begins that call anew when it is loaded."""

    def learn(self, view: View, budget: Budget) -> None:
        for start in range(0, len(view), 20):
            part = slice(start, start + 20)
            self._add(view.inputs(part), view.labels[part], len(view.classes))
            budget.checkpoint(self)


class RoundsUp(Centroids):
    """Gives every class its share of the memory, rounded up."""

    def __init__(self, memory: int = 10) -> None:
        super().__init__()
        self.memory = memory
        self.rows, self.labels = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        rows = np.concatenate([self.rows, view.rows])
        labels = np.concatenate([self.labels, view.labels])
        share = -(-self.memory // len(view.classes))
        places = [np.flatnonzero(labels == label)[:share] for label in np.unique(labels)]
        keep = np.concatenate(places)
        self.rows, self.labels = rows[keep], labels[keep]
        budget.hold(self.rows)


class SharesState(Centroids):
    """Counts its calls for the whole class."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        SharesState.steps = 0

    def learn(self, view: View, budget: Budget) -> None:
        SharesState.steps += 1
        self._add(view.inputs() / SharesState.steps, view.labels, len(view.classes))


class WrongShape(Centroids):
    """Forgets the last class."""

    def predict(self, view: View) -> Array:
        return super().predict(view)[:, :-1]


class Greedy(Centroids):
    """Reads every sample twice where one pass is allowed."""

    def learn(self, view: View, budget: Budget) -> None:
        super().learn(view, budget)
        view.inputs()
