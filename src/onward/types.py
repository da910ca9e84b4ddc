"""The contract between data, learners and the loop, on one page.

A **stream** is an immutable sequence of dated **periods** cut out of a **table**. The loop
(`onward.run`) shows a **learner** one **view** after another under a **protocol** and a
**budget**, and hands its outputs to the **task kind**, which scores them. A learner never holds
the stream, a test view while it learns, or a label before its time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload, runtime_checkable
from typing import Protocol as Interface

import numpy as np

from onward.budget import COMPUTE, Budget
from onward.errors import OnwardError
from onward.fit import FULL_MEMORY, IMAGES, SECOND_LOOK
from onward.splits import Folds, Holdout, Released, Split, Undivided
from onward.stored import LATER
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
    "Holdout",
    "Learner",
    "Loss",
    "Method",
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


PERIOD = "period"
"""The name of the test that every period has."""
_NONE = Samples(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class Period:
    """A slice of time: what it brings for training, and what tests it.

    ``start`` and ``end`` are its first and last day, None where the data has an order and no
    dates. ``train`` carries the labels that a learner is shown, ``test`` the labels that the judge
    knows. ``classes`` is the label space once this period has arrived: it may grow from period to
    period, always at its end. Where samples have many labels, the judge knows those to come too,
    as indices into the classes of the last period, and leaves them out until their time.
    ``unlabelled`` samples come with the training samples and show no label to anyone;
    ``validation`` samples come with their labels, to judge on while a period is learned. ``more``
    are further tests of this period, by name.
    """

    index: int
    name: str
    start: date | None
    end: date | None
    train: Samples
    test: Samples
    classes: tuple[str, ...]
    unlabelled: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    validation: Samples = field(default_factory=lambda: _NONE)
    more: Mapping[str, Samples] = field(default_factory=dict)

    @property
    def tests(self) -> Mapping[str, Samples]:
        """All of its tests by name; the usual one, which is called `PERIOD`, comes first."""
        return {PERIOD: self.test, **self.more}

    @property
    def shown(self) -> Rows:
        """The rows that it brings for training, with labels and without."""
        return np.concatenate([self.train.rows, self.unlabelled, self.validation.rows])


@dataclass(frozen=True, eq=False)
class Stream(Sequence[Period]):
    """An immutable sequence of periods. It has no cursor: only iteration moves time.

    ``static`` holds tests that belong to no period and are given after every one. ``complete`` are
    all labels that each row of the table will ever have, where a learner may know those of all
    classes so far, also of samples that it holds since they had fewer; None where a sample keeps
    the labels that it was shown with.
    """

    table: Table
    periods: tuple[Period, ...]
    static: Mapping[str, Samples] = field(default_factory=dict)
    complete: Array | None = None

    @property
    def dated(self) -> bool:
        """Whether its periods have dates, or only an order."""
        return all(period.start is not None for period in self.periods)

    def __len__(self) -> int:
        return len(self.periods)

    @overload
    def __getitem__(self, index: int) -> Period: ...
    @overload
    def __getitem__(self, index: slice) -> "Stream": ...
    def __getitem__(self, index: int | slice) -> "Period | Stream":
        if isinstance(index, slice):
            return replace(self, periods=self.periods[index])
        return self.periods[index]


@dataclass(frozen=True)
class Protocol:
    """What is revealed for training, and what is tested, when. Pure data.

    Parameters
    ----------
    tests
        The periods tested after each one: ``all``, only those in its ``future``, or only those of
        the ``past``, itself included; ``last`` is all of them, once, after the last one, which then
        brings everything that there is to learn. ``static`` is none of them: all tests belong to
        no period.
    split
        How training and test samples are kept apart.
    batch
        ``None`` reveals a period at a time. A number b is online: views of at most b samples, in
        order of time, each once, with no word of where a period ends; ``day`` shows the samples
        of one calendar day at a time.
    labelled
        The share of the training groups whose labels are shown. The samples of the others come
        with each period as `Period.unlabelled`.
    pooled
        Whether the tests of all periods that are due are also scored as one, each sample once.
    complete
        Of samples with many labels: whether a learner sees all labels among the classes so far,
        or only those that a period introduces.
    curve
        Online: also test after so many samples, between two calls of learn, on the static tests.
    limits
        The budget, by the names of `onward.budget.LIMITS`.
    exempt
        Methods of the catalogue that are defined by computing more than others: the limits of
        compute are not theirs. What they spend is counted, and stands beside their scores.
    """

    name: str
    summary: str
    tests: Literal["all", "future", "past", "last", "static"]
    split: Split
    batch: int | Literal["day"] | None = None
    labelled: float = 1.0
    pooled: bool = field(default=False, metadata=LATER)
    complete: bool = field(default=False, metadata=LATER)
    curve: int | None = field(default=None, metadata=LATER)
    limits: Mapping[str, float] = field(default_factory=dict)
    exempt: tuple[str, ...] = field(default=(), metadata=LATER)

    def __post_init__(self) -> None:
        if not 0 < self.labelled <= 1:
            raise OnwardError(
                f"expected a labelled share above 0 and up to 1, found {self.labelled}"
            )
        if self.batch is not None and self.labelled < 1:
            raise OnwardError(
                "unlabelled samples come with a whole period; online there is no such moment. "
                "Choose a protocol that reveals a period at a time"
            )
        if self.batch not in (None, "day") and not (isinstance(self.batch, int) and self.batch > 0):
            raise OnwardError(
                f"expected to be shown 'day' or 1 or more samples at a time, found {self.batch!r}"
            )
        if self.curve is not None and (self.batch is None or self.curve < 1):
            raise OnwardError(
                "expected a curve of tests after every 1 or more samples, where samples are shown "
                f"a few at a time; found {self.curve} with batch {self.batch!r}"
            )

    @property
    def lacks(self) -> Mapping[str, str]:
        """What a method cannot have under it, and why: see `onward.fit`."""
        found = {}
        if not self.limits.keys().isdisjoint({"passes", "macs"}):
            found[SECOND_LOOK] = "its budget is for one look, to train on"
        if "stored_samples" in self.limits:
            found[FULL_MEMORY] = f"{self.limits['stored_samples']:,} samples may be stored"
        return found

    def limits_of(self, method: str) -> Mapping[str, float]:
        """Return the limits that a method of the catalogue has."""
        if method not in self.exempt:
            return self.limits
        return {name: limit for name, limit in self.limits.items() if name not in COMPUTE}

    def tested(self, learned_upto: int, periods: int) -> range:
        """Return the periods to test once period `learned_upto` has been learned."""
        return tested_periods(self.tests, learned_upto, periods)


def tested_periods(tests: str, learned_upto: int, periods: int) -> range:
    """Return the periods that are tested after one, by the word that a protocol has for it."""
    if tests == "last" and learned_upto + 1 < periods:
        return range(0)
    return {
        "all": range(periods),
        "last": range(periods),
        "past": range(learned_upto + 1),
        "future": range(learned_upto + 1, periods),
        "static": range(0),
    }[tests]


@runtime_checkable
class Learner(Interface):
    """How a model is updated when samples arrive: the two verbs."""

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


@dataclass(frozen=True)
class Loss:
    """A loss by its slope, the derivative with respect to the outputs, and its value on demand.

    Descending needs the slope alone; most steps never ask for the value. A loss that looks at what
    lies below the outputs too has a slope at these features.
    """

    slope: Any
    value: Callable[[], float]
    feature_slope: Any = None


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
    def lacks(self) -> Mapping[str, str]:
        """What methods may need that its samples or models have not, and why: see `onward.fit`."""

    def loss(self, outputs: Any, targets: Any) -> Loss:
        """Compare outputs with targets."""

    def distance(self, outputs: Any, teacher: Any) -> Loss:
        """Compare outputs with another model's outputs for the same samples."""

    def wanted(self, outputs: Any, targets: Any) -> Any:
        """Return targets as probabilities, in the shape of the outputs."""

    def probabilities(self, outputs: Any) -> Any:
        """Return how probable outputs make each class."""

    def towards(self, outputs: Any, wanted: Any) -> Loss:
        """Compare outputs with probabilities: with those of `wanted`, this is `loss`."""

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
    """

    task: Task
    recipe: Any
    seed: int
    online: bool = False


Method = Callable[[Setting], Learner]


@dataclass(frozen=True)
class Card:
    """What a benchmark is, for people: who made it, from what, under which terms."""

    title: str
    summary: str
    licence: str
    citation: str
    numbers: Mapping[str, Any]


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

    @property
    def lacking(self) -> tuple[Mapping[str, str], ...]:
        """What its task kind, its protocol, its own stream and its inputs have not."""
        numbers = {IMAGES: "inputs here are numbers; images are for networks, see --model"}
        flat = len(input_shape(self.table.wide["input"])) == 1
        return self.task.lacks, self.protocol.lacks, self.lacks, numbers if flat else {}

    def setting(self, seed: int) -> Setting:
        """Return what a method is told before it sees anything."""
        recipe, online = self.recipes[self.recipe], self.protocol.batch is not None
        return Setting(self.task, recipe, seed, online)

    @cached_property
    def table(self) -> Table:
        """The samples with their inputs."""
        return self.prepare(self.raw)

    def stream(self, seed: int = 0) -> Stream:
        """Return the stream of one seed. Seeds change the split and the order together."""
        return self.cut(self.table, self.protocol, seed)
