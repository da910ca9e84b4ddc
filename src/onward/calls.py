"""What each call of `learn` shows: which training samples, and how many classes."""

from collections.abc import Iterator

import numpy as np

from onward.seeds import Draws, draws
from onward.types import Period, Protocol, Rows, Stream


def calls(
    stream: Stream, period: Period, protocol: Protocol, seed: int
) -> Iterator[tuple[int, int]]:
    """Yield which training samples each call shows: all of them, or online a few at a time.

    Online, sizes differ by at most one and come in random order: a short last view would tell
    where a period ends.
    """
    samples, most = len(period.train), protocol.batch
    if not samples:
        return
    if most == "day":
        days = stream.table.values("time")[period.train.rows].astype("datetime64[D]")
        ends = [*(np.flatnonzero(days[1:] != days[:-1]) + 1).tolist(), samples]
    else:
        number = -(-samples // most) if most else 1
        sizes = samples // number + (np.arange(number) < samples % number)
        draws(Draws.VIEW_SIZES, seed, period.index).shuffle(sizes)
        ends = np.cumsum(sizes).tolist()
    yield from zip([0, *ends], ends, strict=False)


def known_classes(stream: Stream, period: Period, protocol: Protocol) -> Rows:
    """Return how many classes may be known after each number of training samples.

    Online, a class is known once it is seen: a label space that grows at once would tell where
    a period begins.
    """
    if protocol.batch is None:
        return np.full(len(period.train) + 1, len(period.classes))
    earlier = [int(p.train.newest.max(initial=-1)) + 1 for p in stream[: period.index]]
    before = max(len(stream[0].classes), *earlier, 0)
    return np.maximum.accumulate(np.concatenate([[before], period.train.newest + 1]))
