"""Checks of the periods of one stream."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from onward.checks.noise import dates
from onward.checks.report import Skipped, expected
from onward.checks.stream_subject import StreamSubject, sides, testing_rows, training_rows
from onward.types import Folds, Period, Released, Stream, Undivided


def periods_share_no_sample(subject: StreamSubject) -> str:
    """No sample is in two periods, on both sides of a split, or twice on one side.

    Where all of a period is learned and only the future is tested, its two sides are the same
    samples, and neither more nor fewer. Where samples have many labels, which come one after the
    other, a sample may come again with another label, on the same side; where tests ask for one of
    several candidates, these may come again.
    """
    if subject.many_labels or subject.questions:
        return _sides_share_no_sample(subject.stream)
    owner: dict[int, str] = {}
    stream = subject.stream.undelayed
    parts = sides(stream)
    if isinstance(subject.split, Undivided):
        _require_one_side(subject)
        parts = parts[::2]
    hidden = [(f"unlabelled of period {p.index} ({p.name})", p.unlabelled) for p in stream]
    for name, rows in [*((name, samples.rows) for name, samples in parts), *hidden]:
        for row in rows.tolist():
            if row in owner:
                raise expected(
                    "every row once",
                    f"row {row} in {owner[row]} and in {name}",
                    "Does a list grow from period to period?",
                )
            owner[row] = name
    return f"{len(owner)} samples"


def _sides_share_no_sample(stream: Stream) -> str:
    learned = np.unique(np.concatenate([period.train.rows for period in stream]))
    others = {
        "tested": testing_rows(stream),
        "validated": np.concatenate([period.validation.rows for period in stream]),
    }
    for what, rows in others.items():
        both = np.intersect1d(learned, rows)
        if len(both):
            raise expected(
                f"no sample both learned and {what}",
                f"{len(both)} of them (first: row {both[0]})",
                "Split the samples before periods are cut",
            )
    for name, samples in sides(stream):
        if len(np.unique(samples.rows)) < len(samples):
            raise expected(
                f"every row once in {name}", "one that is there twice", "Join its labels in one row"
            )
    return f"{len(learned)} samples learned, none of them tested"


def _require_one_side(subject: StreamSubject) -> None:
    if subject.benchmark.protocol.tests != "future":
        raise expected(
            "a protocol without a split to test the future only",
            f"{subject.benchmark.protocol.name}, which tests {subject.benchmark.protocol.tests}",
            "What was learned would be tested: split the samples",
        )
    for period in subject.stream.undelayed:
        odd = np.setxor1d(period.shown, period.test.rows)
        if len(odd) or len(period.shown) != len(period.test):
            raise expected(
                f"the samples of period {period.index} both learned and, before, tested",
                f"{len(period.shown)} learned, {len(period.test)} tested, {len(odd)} on one side",
                "Let train and test be all rows of the period",
            )


def every_sample_has_its_period(subject: StreamSubject) -> str:
    """Every labelled sample dated from the first period on is in a period or a static test.

    A sample whose class is still to come at its date has no place yet.
    Static tests leave out the samples whose group is trained on, so what is missing is judged
    over all folds, or with the groups that are trained on set aside.
    """
    _require_dates(subject.stream)
    if subject.questions:
        raise Skipped("tests take what they ask about out of more rows than they need")
    table, streams = subject.stream.table, subject.streams
    # Not "from the start on": a sample without a date must have its period too.
    wanted = ~(dates(table) < np.datetime64(subject.stream[0].start))
    if "label" in table.columns.column_names:
        wanted &= table.columns.column("label").is_valid().to_numpy()
        wanted &= ~_class_is_to_come(subject.stream)
    total = int(wanted.sum())
    for stream in streams:
        wanted[training_rows(stream)] = False
        wanted[testing_rows(stream)] = False
    folds = isinstance(subject.split, Folds)
    if subject.stream.static and not folds and "group" in table.columns.column_names:
        for stream in streams:
            wanted &= ~np.isin(subject.groups, subject.groups[training_rows(stream)])
    missing = np.flatnonzero(wanted)
    if len(missing):
        raise expected(
            f"all {total} labelled samples from {subject.stream[0].start} on",
            f"{len(missing)} in no period and no test (first: row {missing[0]}, dated "
            f"{dates(table)[missing[0]]})",
            "Mend the cut, or take them out of the table",
        )
    return f"{total} samples"


def _class_is_to_come(stream: Stream) -> NDArray[np.bool_]:
    """Say which samples have a class that is known later than at their date."""
    labels, days = stream.table.values("label"), dates(stream.table)
    starts = np.array([period.start for period in stream], "datetime64[D]")
    place = np.searchsorted(starts, days, side="right") - 1
    to_come = np.zeros(len(labels), np.bool_)
    for period in stream:
        here = place == period.index
        to_come[here] = np.isin(labels[here], stream[-1].classes[len(period.classes) :])
    return to_come


def groups_stay_on_one_side(subject: StreamSubject) -> str:
    """No group is trained on in one period and tested on in any period or static test."""
    groups = subject.groups
    both = np.intersect1d(
        groups[training_rows(subject.stream)], groups[testing_rows(subject.stream)]
    )
    if isinstance(subject.split, Undivided):
        # All of a period is on both sides: what counts is who comes back in a later one.
        seen = [np.unique(groups[period.shown]) for period in subject.stream.undelayed]
        names, periods = np.unique(np.concatenate(seen), return_counts=True)
        both = names[periods > 1]
    if isinstance(subject.split, Released | Undivided) and len(both):
        raise Skipped(
            f"this split does not keep groups apart: {len(both)} of "
            f"{len(np.unique(groups))} are learned and tested"
        )
    if len(both):
        raise expected(
            "every group on one side of the split",
            f"{len(both)} on both (first: {both[0]})",
            "Split with onward.data.split.held_out(table.values('group'), ...)",
        )
    return f"{len(np.unique(groups))} groups"


def the_stream_has_no_cursor(subject: StreamSubject) -> None:
    """Index, slice, length and two interleaved iterations tell the same story."""
    stream = subject.stream
    count = len(stream)
    pairs = list(zip(stream, stream, strict=False))
    ways = {
        "iteration": list(stream),
        "indexing": [stream[index] for index in range(count)],
        "indexing from the end": [stream[index - count] for index in range(count)],
        "slicing": [*stream[: count // 2], *stream[count // 2 :]],
        "the second of two interleaved loops": [b for _, b in pairs],
        "the first of two interleaved loops": [a for a, _ in pairs],
    }
    for way, found in ways.items():
        if len(found) != count or any(a is not b for a, b in zip(found, stream, strict=True)):
            raise expected(
                f"the {count} periods by {way}",
                f"{[period.name for period in found]}",
                "Keep no position in the stream: only iteration moves time",
            )


def time_moves_forward(subject: StreamSubject) -> None:
    """Periods are numbered and dated in order, and each holds only samples of its dates.

    Two of them may be parts of one day, if the hours of their samples are in order. Where labels
    come late, none comes earlier than that.
    """
    stream = subject.stream.undelayed
    _require_dates(stream)
    for before, after in pairwise(stream):
        first, second = np.datetime64(before.start), np.datetime64(after.start)
        if first > second or (first == second and not _hours_are_in_order(stream, before, after)):
            raise expected(
                f"period {after.index} to start after {before.start}", f"{after.start}", _SORT
            )
    days = dates(stream.table)
    for position, period in enumerate(stream):
        if period.index != position or not (
            np.datetime64(period.start) <= np.datetime64(period.end)
        ):
            raise expected(
                f"period number {position}, from its start to its end",
                f"number {period.index}, from {period.start} to {period.end}",
                _SORT,
            )
        # Where the last period brings everything, it brings the past too.
        since = stream[0].start if subject.tests == "last" else period.start
        # What is asked for may be older: a caption is there before its next drawing.
        tested = stream[0].start if subject.questions else period.start
        shown = period.train.rows if subject.questions else period.shown
        for rows, start in ((shown, since), (period.test.rows, tested)):
            here = days[rows]
            outside = (here < np.datetime64(start)) | (here > np.datetime64(period.end))
            if outside.any():
                raise expected(
                    f"samples from {period.start} to {period.end} in period {position}",
                    f"row {rows[outside][0]}, dated {here[outside][0]}",
                    "Mend the period's dates or its rows",
                )

    _labels_wait(subject.stream)


def _labels_wait(stream: Stream) -> None:
    days = dates(stream.table)
    for period in stream[stream.label_delay :] if stream.label_delay else ():
        told = stream[period.index - stream.label_delay]
        early = period.train.rows[days[period.train.rows] > np.datetime64(told.end)]
        if len(early):
            raise expected(
                f"labels up to {told.end} in period {period.index}, {stream.label_delay} late",
                f"that of row {early[0]}, dated {days[early[0]]}",
                "Mend the delay of labels",
            )


def _hours_are_in_order(stream: Stream, before: Period, after: Period) -> bool:
    times = stream.table.values("time")
    rows = before.shown, after.shown
    return all(map(len, rows)) and bool(times[rows[0]].max() < times[rows[1]].min())


def _require_dates(stream: Stream) -> None:
    if not stream.dated:
        raise Skipped("the periods have an order and no dates")


def labels_are_classes(subject: StreamSubject) -> str:
    """Every label is one of the classes that its period knows, one per sample.

    Where samples have many, the judge knows those of the last period too. Where a test asks for
    one of its samples, a label is a place among them.
    """
    every = len(subject.stream[-1].classes)
    for period in subject.stream:
        for side, samples in (
            ("train", period.train),
            ("validation", period.validation),
            ("test", period.test),
        ):
            known = every if subject.many_labels and side == "test" else len(period.classes)
            if subject.questions and side != "train":
                known = len(samples)
            labels = samples.labels
            where = f"in {side} of period {period.index}"
            if len(labels) != len(samples.rows):
                raise expected(
                    f"{len(samples.rows)} labels {where}", f"{len(labels)}", "Label every row once"
                )
            if len(labels):
                newest = samples.newest
                least = -1 if subject.questions and side != "train" else 0
                if newest.min() < least or newest.max() >= known:
                    raise expected(
                        f"labels from 0 to {known - 1} {where}",
                        f"{newest.min()} to {newest.max()}",
                        "Let a label be an index into the period's classes",
                    )
    return f"{len(subject.stream[-1].classes)} classes"


def classes_grow_at_the_end(subject: StreamSubject) -> str:
    """Each period knows the classes of the one before, in the same places."""
    for before, after in pairwise(subject.stream):
        if after.classes[: len(before.classes)] != before.classes:
            raise expected(
                f"the classes of period {after.index} to begin with {', '.join(before.classes)}",
                ", ".join(after.classes),
                "Append new classes: a learner's outputs are numbered by them",
            )
    for period in subject.stream:
        if len(set(period.classes)) < len(period.classes):
            raise expected("every class once", ", ".join(period.classes), "Name classes apart")
    return " to ".join(str(len(subject.stream[place].classes)) for place in (0, -1)) + " classes"


def inputs_are_finite(subject: StreamSubject) -> str:
    """Every input that is learned or tested on is finite."""
    stream = subject.stream
    if "input" not in stream.table.wide:
        raise Skipped("the table has no inputs: it was not prepared")
    column = stream.table.wide["input"]
    for name, samples in [*sides(stream), *stream.static.items()]:
        values = column[samples.rows]
        if values.dtype.kind != "f" or not len(values):
            continue
        bad = ~np.isfinite(values).reshape(len(values), -1).all(1)
        if bad.any():
            raise expected(
                f"finite inputs in {name}",
                f"NaN or infinity in row {samples.rows[bad][0]} and {bad.sum() - 1} more",
                "Look for a division by zero in the preparation",
            )
    return f"shape {column.shape[1:]}"


_SORT = "Sort periods by their start and number them from 0"
