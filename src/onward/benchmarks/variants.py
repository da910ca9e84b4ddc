"""What can be asked of any benchmark: how finely it is shown, and what is hidden at first."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onward.data.split import uniform
from onward.errors import OnwardError
from onward.fit import NEW_CLASSES, ONE_CLASS
from onward.seeds import Draws, draws
from onward.types import Array, Benchmark, Period, Protocol, Samples, Stream, Table

_HELD_OUT_FOR_TUNING = 0.3

Cut = Callable[[Table, Protocol, int], Stream]


def as_asked(
    benchmark: Benchmark,
    *,
    grain: int | str | None = None,
    new_classes: bool = False,
    tuning_periods: int | None = None,
    label_delay: int = 0,
) -> Benchmark:
    """Return a benchmark, as its own file made it, as its protocol and options of `load` say."""
    protocol, options = benchmark.protocol, dict(benchmark.options)
    lacks = dict(benchmark.lacks)
    if grain is not None:
        if protocol.batch is None:
            raise OnwardError(
                f"expected a grain with the protocol online only, found it with {protocol.name}, "
                "which shows a period at a time"
            )
        # The name and the words of the protocol stay; the spec has the grain beside them.
        # Another word than "day" is refused there.
        batch: Any = int(grain) if str(grain).isdigit() else grain
        protocol = replace(protocol, batch=batch)
    cut = partial(
        _cut,
        cut=benchmark.cut,
        new_classes=new_classes,
        tuning_periods=tuning_periods,
        label_delay=label_delay,
    )
    if label_delay:
        _require_delayable(label_delay, protocol)
        options["label_delay"] = label_delay
    if tuning_periods is not None:
        options["tuning_periods"] = tuning_periods
    if new_classes:
        if ONE_CLASS in benchmark.task.lacks:
            raise OnwardError(
                f"expected new_classes where a sample has one label, found {benchmark.task.name}"
            )
        options["new_classes"] = True
        lacks.pop(NEW_CLASSES, None)
    return replace(benchmark, protocol=protocol, cut=cut, options=options, lacks=lacks)


def classes_arrive(stream: Stream, seed: int) -> Stream:
    """Let classes arrive over time, in an order that the seed draws.

    After period i of P, the first max(2, ⌈n (i + 1) / P⌉) of n classes are known. Samples of a
    class that is still to come are neither learned nor tested in a period; static tests keep
    theirs, which nobody can get right before their time.
    """
    names = stream[-1].classes
    order = draws(Draws.CLASSES, seed).permutation(len(names))
    place = np.argsort(order)
    arrived = tuple(names[number] for number in order)

    def renamed(samples: Samples, known: int) -> Samples:
        labels = place[samples.labels]
        return Samples(samples.rows, labels)[np.flatnonzero(labels < known)]

    periods = []
    for period in stream:
        known = max(2, -(-len(names) * (period.index + 1) // len(stream)))
        train, test = renamed(period.train, known), renamed(period.test, known)
        periods.append(replace(period, train=train, test=test, classes=arrived[:known]))
    static = {name: renamed(samples, len(names)) for name, samples in stream.static.items()}
    return replace(stream, periods=tuple(periods), static=static)


def all_at_once(stream: Stream) -> Stream:
    """Let the last period bring what all of them have for training; the tests stay theirs.

    That is when all of it is there: nobody sees ahead, and nothing is learned before. A sample
    that came twice, with more labels each time, comes once with all of them.
    """
    train, validation = (
        _whole([getattr(period, side) for period in stream], stream.complete)
        for side in ("train", "validation")
    )
    *before, last = stream
    earlier = (replace(p, train=train[:0], validation=validation[:0]) for p in before)
    return replace(stream, periods=(*earlier, replace(last, train=train, validation=validation)))


def _whole(parts: Sequence[Samples], complete: Array | None) -> Samples:
    joined = Samples.join(parts)
    if complete is None:
        return joined
    rows = np.unique(joined.rows)
    return Samples(rows, complete[rows])


def hide_labels(stream: Stream, labelled: float, seed: int) -> Stream:
    """Show the labels of a share of the groups only; the others come as unlabelled samples.

    Which groups show theirs depends on their names and the seed alone, as every split does.
    """
    groups = _groups(stream.table)

    def hidden(period: Period) -> Period:
        # The prefix keeps this draw apart from that of the split.
        shows = uniform(groups[period.train.rows], f"labels:{seed}") < labelled
        rest = np.concatenate([period.unlabelled, period.train.rows[~shows]])
        return replace(period, train=period.train[np.flatnonzero(shows)], unlabelled=rest)

    return replace(stream, periods=tuple(hidden(period) for period in stream))


def delay_labels(stream: Stream, delay: int) -> Stream:
    """Let the labels of a period come some periods later; till then its samples come without.

    With period i come the labels of period i - delay, and all samples that still wait for theirs
    as unlabelled ones. Until the first labels come, there is nothing to learn and nobody to test.
    A class is known by its name when its period comes, as before. Tests are as they were: the judge
    does not wait.
    """
    if not 0 < delay < len(stream):
        raise OnwardError(
            f"expected labels to come 1 to {len(stream) - 1} periods late, since there are "
            f"{len(stream)}, found {delay}"
        )

    def late(period: Period) -> Period:
        if period.index >= delay:
            told = stream[period.index - delay]
        else:
            told = replace(period, train=period.train[:0], validation=period.validation[:0])
        first = max(period.index - delay + 1, 0)
        waiting = np.concatenate([one.train.rows for one in stream[first : period.index + 1]])
        return replace(
            period,
            train=told.train,
            validation=told.validation,
            unlabelled=np.unique(np.concatenate([period.unlabelled, waiting])),
        )

    periods = tuple(late(period) for period in stream)
    return replace(stream, periods=periods, label_delay=delay)


def _require_delayable(delay: int, protocol: Protocol) -> None:
    """Raise if labels cannot come late under a protocol."""
    if isinstance(delay, bool) or not isinstance(delay, int) or delay < 0:
        raise OnwardError(f"expected a label delay of 0 or more whole periods, found {delay!r}")
    why = None
    if protocol.batch is not None:
        why = "shows a few samples at a time: labels a period late would tell where it ends"
    elif protocol.tests == "last":
        why = "learns everything at once, when all labels are there"
    elif protocol.complete:
        why = "shows all labels of whatever is held, also of samples that would wait for theirs"
    if why is not None:
        raise OnwardError(
            f"expected a label delay where a period is learned at a time, found {protocol.name}, "
            f"which {why}. Choose another protocol"
        )


def for_tuning(stream: Stream, periods: int, tests: str, seed: int) -> Stream:
    """Return the first periods alone, with a part of their own training groups held out as tests.

    Neither a test sample nor a later period is in it, so what is chosen on it has seen neither.
    """
    least = 2 if tests == "future" else 1
    if not least <= periods < len(stream):
        raise OnwardError(
            f"expected to tune on {least} to {len(stream) - 1} of the {len(stream)} periods, found "
            f"{periods}: the protocol tests {tests} periods, and at least one must stay unseen"
        )
    groups = _groups(stream.table)

    def inner(period: Period) -> Period:
        held = uniform(groups[period.train.rows], f"tuning:{seed}") < _HELD_OUT_FOR_TUNING
        train, test = (period.train[np.flatnonzero(part)] for part in (~held, held))
        return replace(period, train=train, test=test)

    inside = tuple(inner(period) for period in stream[:periods])
    static: dict[str, Samples] = {}
    if tests == "static":
        # What would test its own period tests every moment, as the tests do that it stands for.
        held = Samples.join([period.test for period in inside])
        static = dict.fromkeys(stream.static, held)
        inside = tuple(replace(period, test=period.test[:0]) for period in inside)
    return Stream(stream.table, inside, static, complete=stream.complete)


def _groups(table: Table) -> Array:
    """Return the group of each sample; one that has none is a group of its own."""
    columns = table.columns
    groups = columns.column("id").cast(pa.string())
    if "group" in columns.column_names:
        groups = pc.coalesce(columns.column("group").cast(pa.string()), groups)
    return np.asarray(groups.to_numpy(zero_copy_only=False))


def _cut(
    table: Table,
    protocol: Protocol,
    seed: int,
    *,
    cut: Cut,
    new_classes: bool,
    tuning_periods: int | None,
    label_delay: int,
) -> Stream:
    stream = cut(table, protocol, seed)
    if new_classes:
        stream = classes_arrive(stream, seed)
    if tuning_periods is not None:
        stream = for_tuning(stream, tuning_periods, protocol.tests, seed)
    if protocol.tests == "last":
        stream = all_at_once(stream)
    if protocol.labelled < 1:
        stream = hide_labels(stream, protocol.labelled, seed)
    return delay_labels(stream, label_delay) if label_delay else stream
