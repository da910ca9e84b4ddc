"""A future that never was: put noise in the place of everything that comes after a period.

What is computed from the present and the past alone cannot notice. Inputs become random; labels
and texts become those of one known sample, so that classes that were to arrive do not.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from onward.errors import OnwardError
from onward.types import Array, Benchmark, Column, Period, Rows, Samples, Stream, Table

# What a sample says. Its id, date and group, and whatever else a benchmark is cut by, say where
# it belongs: they stay, or there would be no period to compare.
_CONTENT = ("label", "labels", "boxes", "text")


def rows_of(stream: Stream, upto: int) -> Rows:
    """Return the rows of the periods up to this one, train and test alike."""
    return np.concatenate([rows for period in stream[: upto + 1] for rows in _rows_in(period)])


def _rows_in(period: Period) -> list[Rows]:
    return [period.shown, *(samples.rows for samples in period.tests.values())]


def dates(table: Table) -> Array:
    """Return the day of every sample."""
    return np.asarray(table.values("time").astype("datetime64[D]"))


def rows_after(stream: Stream, upto: int) -> Rows:
    """Return the rows that nothing may depend on while this period is the latest.

    These are the samples of later periods, static tests, which belong to no period, and samples
    in neither that are dated after the period.
    """
    later = upto + 1 < len(stream)
    if not stream.dated:
        parts = [samples.rows for samples in stream.static.values()]
        parts += [rows for period in stream[upto + 1 :] for rows in _rows_in(period)]
        return np.setdiff1d(np.concatenate([np.empty(0, np.int64), *parts]), rows_of(stream, upto))
    border = stream[upto + 1].start if later else stream[upto].end
    days = dates(stream.table)
    after = days >= np.datetime64(border) if later else days > np.datetime64(border)
    if later:
        to_come = rows_of(stream[upto + 1 :], len(stream))
        # The past that a last period brings again is no future; what has no date is.
        after[to_come[~(days[to_come] < np.datetime64(border))]] = True
    for samples in stream.static.values():
        after[samples.rows] = True
    after[rows_of(stream, upto)] = False
    return np.flatnonzero(after)


def with_noise(benchmark: Benchmark, stream: Stream, upto: int) -> Benchmark:
    """Return a benchmark whose samples after a period of one of its streams are noise."""
    rows, raw = rows_after(stream, upto), benchmark.raw
    rng = np.random.default_rng(upto)
    columns = raw.columns
    for name in _CONTENT:
        if name in columns.column_names:
            columns = _one_for_all(columns, name, rows, rows_of(stream, upto))
    wide = {name: _random(column, name, rows, rng) for name, column in raw.wide.items()}
    # Caches that are keyed by content must not give the real future back.
    digest = f"{raw.digest}-noise-after-{upto}"
    return replace(benchmark, raw=replace(raw, columns=columns, wide=wide, digest=digest))


def places(benchmark: Benchmark, stream: Stream) -> Stream:
    """Return where the samples of a stream are: inputs are large, and are to be prepared anew."""
    return replace(stream, table=replace(benchmark.raw, wide={}))


def _one_for_all(columns: pa.Table, name: str, rows: Rows, known: Rows) -> pa.Table:
    """Give all rows the value of the known sample whose value is rarest among them."""
    column = columns.column(name)
    texts = [str(value) for value in column.to_pylist()]
    count = Counter(texts[row] for row in rows)
    donor = min(known.tolist(), key=lambda row: (count[texts[row]], row))
    source = np.arange(len(columns))
    source[rows] = donor
    return columns.set_column(columns.column_names.index(name), name, column.take(pa.array(source)))


def _random(column: Column, name: str, rows: Rows, rng: np.random.Generator) -> Column:
    replacing: Callable[..., Any] | None = getattr(column, "with_noise", None)
    if replacing is not None:
        noised: Column = replacing(rows, rng)
        return noised
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "fiub":
        raise OnwardError(
            f"expected a wide column of numbers, or one with a method with_noise(rows, rng) that "
            f"returns it with random values in these rows; found {name!r}, a "
            f"{type(column).__name__}. Give it that method so that it can be checked"
        )
    values, shape = np.array(column), (len(rows), *column.shape[1:])
    if column.dtype.kind == "f":
        values[rows] = rng.normal(size=shape)
    elif column.dtype.kind == "b":
        values[rows] = rng.random(shape) < 0.5
    else:
        values[rows] = rng.integers(column.min(), column.max(), shape, column.dtype, endpoint=True)
    return values


def scramble_hidden_labels(benchmark: Benchmark, seed: int, upto: int) -> Benchmark:
    """Return a benchmark with wrong labels wherever a learner may not see the right ones.

    These are the labels of all tests and of training samples after period `upto`, in the periods,
    in `Stream.complete` and in the columns of the table that learners are not shown. Inputs, and
    the labels that are learned up to that period, stay. It gives the stream of this seed only, so
    that the process that runs it does not need the right labels.
    """
    stream, raw, rng = benchmark.stream(seed), benchmark.raw, np.random.default_rng(seed)
    columns = raw.columns
    for name in sorted(set(columns.column_names) - {"time", *raw.shown}):
        values = columns.column(name).take(pa.array(rng.permutation(len(columns))))
        columns = columns.set_column(columns.column_names.index(name), name, values)
    raw = replace(raw, columns=columns, digest=f"{raw.digest}-scrambled-labels")
    table = replace(stream.table, columns=columns, digest=raw.digest)
    classes = len(stream[-1].classes)
    other = replace(
        stream,
        table=table,
        periods=tuple(_scramble_period(period, upto, rng) for period in stream),
        static={name: _scramble(test, classes, rng) for name, test in stream.static.items()},
        complete=_scramble_complete(stream, upto, rng),
    )
    prepare, cut = partial(_constant, table), partial(_constant, other)
    return replace(benchmark, raw=raw, prepare=prepare, cut=cut)


def _scramble_period(period: Period, upto: int, rng: np.random.Generator) -> Period:
    classes, later = len(period.classes), period.index > upto
    return replace(
        period,
        test=_scramble(period.test, classes, rng),
        more={name: _scramble(test, classes, rng) for name, test in period.more.items()},
        train=_scramble(period.train, classes, rng) if later else period.train,
        validation=_scramble(period.validation, classes, rng) if later else period.validation,
    )


def _scramble(samples: Samples, classes: int, rng: np.random.Generator) -> Samples:
    """Give each sample the next class or, of several labels or boxes, those of another sample."""
    labels = samples.labels.copy()
    if labels.ndim == 1:
        return replace(samples, labels=np.where(labels < 0, labels, (labels + 1) % max(classes, 1)))
    if labels.size:
        # Samples without a label, such as prompts, are not asked about: they stay so.
        labelled = np.flatnonzero(labels.reshape(len(labels), -1)[:, 0] >= 0)
        labels[labelled] = labels[rng.permutation(labelled)]
    return replace(samples, labels=labels)


def _scramble_complete(stream: Stream, upto: int, rng: np.random.Generator) -> Array | None:
    """Return all labels of every row, wrong for rows that are not learned up to a period."""
    if stream.complete is None:
        return None
    learned = [
        part.rows for period in stream[: upto + 1] for part in (period.train, period.validation)
    ]
    hidden = np.setdiff1d(np.arange(len(stream.complete)), np.concatenate(learned))
    complete = stream.complete.copy()
    complete[hidden] = complete[rng.permutation(hidden)]
    return complete


def _constant(value: Any, *arguments: Any) -> Any:
    return value
