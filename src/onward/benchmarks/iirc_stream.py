"""IIRC as a stream: classes that arrive from coarse to fine, and the labels that are shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onward.data.iirc_hierarchy import Classes, Hierarchy, Periods
from onward.data.iirc_orders import draw_order, without_superclasses
from onward.data.iirc_split import Blocks, Information, Parts, Rule, Shares, part
from onward.errors import OnwardError, unknown
from onward.types import Period, Protocol, Stream, Table

Judge = Literal["test", "validation"]


@dataclass(frozen=True)
class Plan:
    """What a stream is cut by.

    Parameters
    ----------
    classes
        The hierarchy, or plain classes.
    shares
        Which samples go where.
    released
        Orders of classes that came with the data; without them, orders are drawn.
    configuration
        Which order; by default that of the seed.
    first, each
        Of orders that are drawn, see `draw_order`.
    subclasses_only
        Whether superclasses never come.
    judge
        What is tested: the ``test`` part, or the ``validation`` part that is held back for after
        a period.
    """

    classes: Classes
    shares: Shares
    released: tuple[Periods, ...] = ()
    configuration: int | None = None
    first: int | None = None
    each: int | None = None
    subclasses_only: bool = False
    judge: Judge = "test"

    def __post_init__(self) -> None:
        most = len(self.released)
        number = self.configuration
        fits = type(number) is int and 0 <= number < (most or number + 1)
        if number is not None and not fits:
            wanted = f"from 0 to {most - 1}" if most else "from 0 on"
            raise OnwardError(f"expected a configuration {wanted}, found {number!r}")
        if self.judge not in ("test", "validation"):
            raise unknown(
                "judge", self.judge, ["test", "validation"], "docs/benchmarks/iirc_guide.md"
            )

    def periods(self, seed: int) -> Periods:
        """Return the classes of every period."""
        number = seed if self.configuration is None else self.configuration
        if self.released:
            found = self.released[number % len(self.released)]
        elif isinstance(self.classes, Hierarchy):
            found = draw_order(self.classes, number, first=self.first, each=self.each)
        else:
            raise OnwardError("expected an order of classes for classes without superclasses")
        return without_superclasses(found, self.classes) if self.subclasses_only else found


def cut_iirc(table: Table, protocol: Protocol, seed: int, *, plan: Plan) -> Stream:
    """Cut samples into periods, by their columns ``subclass`` and ``test``.

    The protocol's `complete` says whether labels of earlier periods are shown again. The seed
    chooses the order of classes unless the plan does.
    """
    parts = divided(table, plan)
    rule = Rule(plan.classes, plan.periods(seed), plan.shares)
    rule.require_samples(parts)
    judged = parts.test if plan.judge == "test" else parts.after
    information: Information = "complete" if protocol.complete else "incomplete"
    periods = [
        Period(
            index=index,
            name=f"period {index}",
            start=None,
            end=None,
            train=rule.shown(parts.train, index, information),
            test=rule.tested(judged, index),
            classes=rule.names[: rule.known[index + 1]],
            validation=rule.shown(parts.validation, index, information),
        )
        for index in range(len(rule.known) - 1)
    ]
    for name, there, here in zip(rule.subclasses, judged.counts, rule.used, strict=True):
        if here and not there:
            held = "held back for validation" if plan.judge == "validation" else "for tests"
            raise OnwardError(
                f"expected samples of every class to test, found none of {name!r} that are {held}. "
                "Bring more of it"
            )
    whole = rule.all_labels(codes_of(table, plan.classes)) if protocol.complete else None
    return Stream(table, tuple(periods), complete=whole)


def divided(table: Table, plan: Plan) -> Parts:
    """Return the four parts of the samples, in blocks by subclass."""
    codes = codes_of(table, plan.classes)
    test, known = table.values("test"), len(plan.classes.parent)
    blocks = []
    for side in (False, True):
        rows = np.flatnonzero((test == side) & (codes >= 0))
        blocks.append(Blocks.of(codes[rows], rows, known))
    return part(blocks[0], blocks[1], plan.shares)


def codes_of(table: Table, classes: Classes) -> NDArray[np.int64]:
    """Return the number of every sample's subclass in the hierarchy; -1 where it has none."""
    column = table.columns.column("subclass").combine_chunks()
    number = {name: place for place, name in enumerate(classes.parent)}
    names = column.dictionary.to_pylist()
    indices = np.asarray(column.indices.fill_null(len(names)).to_numpy(zero_copy_only=False))
    codes = np.array([*(number.get(name, -1) for name in names), -1], np.int64)
    return np.asarray(codes[indices])


def require_known(table: Table, classes: Classes) -> None:
    """Raise if a sample has a label that the hierarchy does not have as a finest one."""
    column = table.columns.column("subclass").combine_chunks()
    for name in column.dictionary.to_pylist():
        if name in classes.superclasses:
            raise OnwardError(
                f"expected the finest label of every sample, found {name!r}, which has subclasses. "
                "Label these samples with one of them, or leave them out"
            )
        if name not in classes.parent:
            raise OnwardError(
                f"expected labels out of the {len(classes.parent)} subclasses of the hierarchy, "
                f"found {name!r}. Add it there, or leave its samples out"
            )


def numbers_of(table: Table, plan: Plan) -> Mapping[str, Any]:
    """Return what the card says: how many samples and classes there are."""
    parts = divided(table, plan)
    periods = plan.periods(0)
    return {
        "rows": len(table),
        "train": len(parts.train.rows),
        "validation": len(parts.validation.rows),
        "validation_after": len(parts.after.rows),
        "test": len(parts.test.rows),
        "periods": len(periods),
        "classes": sum(map(len, periods)),
        "superclasses": len(plan.classes.superclasses),
        "subclasses": len(plan.classes.parent),
        "hierarchy": {name: list(subs) for name, subs in plan.classes.superclasses.items()},
        "configurations": len(plan.released) or "drawn",
    }
