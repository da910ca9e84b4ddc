"""Time in order: periods, and the stream that they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import overload

import numpy as np

from onward.table import Array, Rows, Samples, Table

PERIOD = "period"
"""The name of the test that every period has."""
_NO_ROWS: Rows = np.empty(0, np.int64)
_NONE = Samples(_NO_ROWS, np.empty(0, np.int64))


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
    the labels that it was shown with. ``label_delay`` is by how many periods labels come late.
    """

    table: Table
    periods: tuple[Period, ...]
    static: Mapping[str, Samples] = field(default_factory=dict)
    complete: Array | None = None
    label_delay: int = 0

    @property
    def undelayed(self) -> "Stream":
        """The same periods with what each brought itself, whenever its labels came.

        Samples whose labels came too late for this stream are unlabelled in their own period.
        """
        late = self.label_delay
        if not late:
            return self
        nothing = replace(
            self.periods[0], train=self.periods[-1].train[:0], validation=_NONE, unlabelled=_NO_ROWS
        )
        periods = []
        for at, period in enumerate(self.periods):
            before = self.periods[at - 1] if at else nothing
            told = self.periods[at + late] if at + late < len(self) else nothing
            elsewhere = np.concatenate([told.train.rows, before.unlabelled])
            own = period.unlabelled[~np.isin(period.unlabelled, elsewhere)]
            periods.append(
                replace(period, train=told.train, validation=told.validation, unlabelled=own)
            )
        return replace(self, periods=tuple(periods), label_delay=0)

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
