"""What the periods of a stream are made of, by name, with the real future and with noise."""

import numpy as np

from onward.checks.digests import digest, digest_rows
from onward.checks.noise import with_noise
from onward.types import Benchmark, Stream

WHAT = ("rows", "labels", "classes", "inputs")
Facts = list[tuple[str, ...]]


def period_facts(stream: Stream) -> Facts:
    """Name what each period is made of, in the order of `WHAT`."""
    column = stream.table.wide["input"]
    return [
        (
            digest(period.train.rows, period.unlabelled, period.test.rows),
            digest(period.train.labels, period.test.labels),
            digest(period.classes),
            digest_rows(column, np.concatenate([period.shown, period.test.rows])),
        )
        for period in stream
    ]


def noised_facts(benchmark: Benchmark, stream: Stream, seed: int) -> list[Facts]:
    """Name what each period is made of, with noise after each period in turn.

    The earliest comes first: what is kept from the first call, if anything is, saw the least.
    """
    return [
        period_facts(with_noise(benchmark, stream, upto).stream(seed))
        for upto in range(len(stream))
    ]
