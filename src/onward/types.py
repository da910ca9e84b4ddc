"""The contract between data, learners and the loop, on one page.

A **stream** is an immutable sequence of dated **periods** cut out of a **table**. The loop
(`onward.run`) shows a **learner** one **view** after another under a **protocol** and a
**budget**, and hands its outputs to the **task kind**, which scores them. A learner never holds
the stream, a test view while it learns, or a label before its time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, runtime_checkable
from typing import Protocol as Interface

from onward.budget import Budget
from onward.fit import IMAGES
from onward.hardware import ANY_HARDWARE, Hardware, preparing_on
from onward.protocols import Protocol, tested_periods
from onward.splits import Folds, Holdout, Released, Split, Undivided
from onward.stream import PERIOD, Period, Stream
from onward.table import Array, Column, Rows, Samples, Table
from onward.view import Call, View, input_shape

__all__ = [
    "PERIOD",
    "Array",
    "Benchmark",
    "Budget",
    "Call",
    "Card",
    "Column",
    "Folds",
    "Hardware",
    "Holdout",
    "Learner",
    "LearnerFactory",
    "Period",
    "Protocol",
    "Released",
    "Rows",
    "Samples",
    "SavingLearner",
    "Setting",
    "Split",
    "Stream",
    "Table",
    "Task",
    "Undivided",
    "View",
    "tested_periods",
]


@runtime_checkable
class Learner(Interface):
    """How a model is updated when samples arrive: the two verbs.

    A learner that reports its work by ``budget.spend`` and its size by ``budget.declare`` says so
    by an attribute ``metered``, which names some of `onward.budget.REPORTED`. One that does not is
    refused where these are limited.
    """

    def learn(self, view: View, budget: Budget, /) -> None:
        """Learn from the samples shown."""

    def predict(self, view: View, /) -> Any:
        """Return the outputs for these samples, in order, and change nothing."""


@runtime_checkable
class SavingLearner(Learner, Interface):
    """A learner whose run resumes where it was; one without is replayed from the first period.

    A run even resumes inside a long call if the learner calls ``budget.checkpoint(self)``
    between two steps and, once loaded, goes on with the call when it is made again.
    """

    def save(self, folder: Path, /) -> None:
        """Write everything that continuing needs."""

    def load(self, folder: Path, /) -> None:
        """Continue from what `save` wrote."""


@runtime_checkable
class Task(Interface):
    """What is predicted: it owns the loss, the decoding, the distance and the score.

    ``decode`` and ``score`` work on arrays, with no learning framework, and all others on the
    tensors of the gradient learner.
    """

    @property
    def name(self) -> str:
        """What it is called in specs."""

    @property
    def headline(self) -> str:
        """The score that stands for all of them."""

    @property
    def compares_samples(self) -> bool:
        """Whether the loss of a batch compares its samples, and is no mean over single ones."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """What methods may need that its samples or models have not, and why: see `onward.fit`."""

    def loss(self, outputs: Any, targets: Any) -> Any:
        """Return the mean loss over the batch, a scalar tensor."""

    def distillation_loss(self, outputs: Any, teacher: Any, temperature: float = 1.0) -> Any:
        """Return the loss of outputs against a teacher's outputs, both divided by `temperature`."""

    def as_test(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """Return outputs and labels of samples that could be learned from as those of a test."""

    def soft_targets(self, outputs: Any, targets: Any) -> Any:
        """Return targets as probabilities, in the shape of the outputs."""

    def probabilities(self, outputs: Any) -> Any:
        """Return how probable outputs make each class."""

    def soft_target_loss(self, outputs: Any, probabilities: Any) -> Any:
        """Return the loss against probabilities: with those of `soft_targets`, this is `loss`."""

    def decode(self, outputs: Any, classes: tuple[str, ...], *tests: int) -> Array:
        """Turn whatever `predict` returned into one decision per sample, or say what is wrong.

        The samples are those of several tests, one after the other, each with so many of them: a
        sample may be compared with others of its own test, and with no more.
        """

    def score(self, decisions: Array, targets: Array) -> dict[str, float]:
        """Score decisions against the judge's labels."""

    def by_class(self, decisions: Array, targets: Array, classes: int) -> Array:
        """Return how well each class is found where it is; NaN where it is nowhere."""


@dataclass(frozen=True)
class Setting:
    """What a method is told before it sees anything.

    ``online`` says that samples come a few at a time, with no word of where a period ends.
    ``hardware`` is what to compute on.
    """

    task: Task
    recipe: Any
    seed: int
    online: bool = False
    hardware: Hardware = ANY_HARDWARE


LearnerFactory = Callable[[Setting], Learner]
"""Makes a learner for one run."""


@dataclass(frozen=True)
class Card:
    """What a benchmark is, for people: who made it, from what, under which terms.

    ``pictures`` are names of `onward.report.pictures.PICTURES`: what its runs are best seen in.
    ``domains`` are columns of its samples that answers are told apart by, such as the weather.
    """

    title: str
    summary: str
    licence: str
    citation: str
    numbers: Mapping[str, Any]
    pictures: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A stream in the making: raw samples, how they become inputs, how time is cut.

    Parameters
    ----------
    raw
        The samples as they were read.
    prepare
        Gives the samples their ``input``. What it fits, it may fit on the unlabelled past only.
    cut
        Makes the stream for one seed: periods, splits, visible labels.
    recipes
        Training recipes by name; `recipe` is the one in use.
    files
        Where the data lies, so that checks can watch a learner that reads it behind our back.
    options
        What was asked that neither the data, the protocol nor the recipe tells; it is part of
        what a run is.
    recipe_changes
        The numbers of the recipe in use that are not as the benchmark's authors set them.
    lacks
        What methods may need that its stream has not, and why: see `onward.fit`.
    hardware
        What runs compute on; no part of what a run is.
    """

    name: str
    data: str
    card: Card
    task: Task
    protocol: Protocol
    raw: Table
    prepare: Callable[[Table], Table]
    cut: Callable[[Table, Protocol, int], Stream]
    recipes: Mapping[str, Any]
    recipe: str
    files: tuple[Path, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    recipe_changes: Mapping[str, Any] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)
    hardware: Hardware = ANY_HARDWARE

    @property
    def lacking(self) -> tuple[Mapping[str, str], ...]:
        """What its task kind, its protocol, its own stream and its inputs have not."""
        numbers = {IMAGES: "inputs here are numbers; images are for networks, see --model"}
        flat = len(input_shape(self.table.wide["input"])) == 1
        return self.task.lacks, self.protocol.lacks, self.lacks, numbers if flat else {}

    def setting(self, seed: int) -> Setting:
        """Return what a method is told before it sees anything."""
        recipe, online = self.recipes[self.recipe], self.protocol.batch is not None
        return Setting(self.task, recipe, seed, online, self.hardware)

    @cached_property
    def table(self) -> Table:
        """The samples with their inputs."""
        with preparing_on(self.hardware):
            return self.prepare(self.raw)

    def stream(self, seed: int = 0) -> Stream:
        """Return the stream of one seed. Seeds change the split and the order together."""
        return self.cut(self.table, self.protocol, seed)
