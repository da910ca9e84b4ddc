"""The check of the online protocol: a learner that cannot look twice."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from onward.checks.method_subject import MethodSubject, observe
from onward.checks.noise import dates
from onward.checks.observer import Log
from onward.checks.report import Skipped, expected
from onward.fit import ONE_CLASS
from onward.types import Samples, Stream

_BATCH = 7


def online_shows_each_sample_once(subject: MethodSubject) -> str:
    """Online, each sample is shown once, in order of time, and nothing tells where a period ends.

    Views of one period are of one size, give or take one sample, and a class is known once it is
    seen: a short last view, or a label space that grows at once, would tell.
    """
    protocol = subject.benchmark.protocol
    if protocol.batch is None and not subject.benchmark.stream(subject.seed).dated:
        raise Skipped("the periods have an order and no dates")
    batch = protocol.batch if isinstance(protocol.batch, int) else _BATCH
    online = replace(protocol, batch=batch, labelled=1.0, limits={**protocol.limits, "passes": 1})
    benchmark = replace(subject.benchmark, protocol=online)
    watched = observe(benchmark, subject.chosen, subject.seed)
    if watched.error is not None:
        raise Skipped(f"it does not learn online: {watched.error}")
    views, stream = watched.log.views, benchmark.stream(subject.seed)
    if not np.array_equal(np.concatenate(views), Samples.join([p.train for p in stream]).rows):
        raise expected("every training sample once, in order", "others", _MEND)
    days = [dates(stream.table)[rows] for rows in views]
    if any(before.max() > after.min() for before, after in pairwise(days)):
        raise expected(
            "no view older than the one before",
            "one that is",
            "Sort the samples of a period by time in the benchmark's cut",
        )
    views_of = np.repeat([p.index for p in stream], [len(p.train) for p in stream])
    first = np.cumsum([0, *map(len, views)])[:-1]
    for period in stream:
        sizes = [len(views[place]) for place in np.flatnonzero(views_of[first] == period.index)]
        if sizes and (max(sizes) > batch or max(sizes) - min(sizes) > 1):
            raise expected(f"views of one size, {batch} at most", f"sizes {sizes}", _MEND)
    if ONE_CLASS not in subject.benchmark.task.lacks:
        _knows_only_what_it_has_seen(watched.log, stream)
    return f"{len(views)} views of at most {batch} samples"


def _knows_only_what_it_has_seen(log: Log, stream: Stream) -> None:
    label_of = {
        row: label
        for period in stream
        for row, label in zip(period.train.rows.tolist(), period.train.labels.tolist(), strict=True)
    }
    seen = len(stream[0].classes)
    for rows, known in zip(log.views, log.known, strict=True):
        seen = max(seen, *(label_of[row] + 1 for row in rows.tolist()))
        if known != seen:
            raise expected(
                f"{seen} classes known with row {rows[-1]}",
                f"{known}",
                "Let a class be known once it is seen",
            )


_MEND = "Mend the loop"
