"""All pairs of 64-bit hashes that differ in a few bits, without comparing all with all.

If two hashes differ in three bits at most and are cut into four blocks, one block is the same in
both: only hashes that share a block are compared. Where many share one, as those of pictures on a
white ground do, the rest of their bits is cut into four again. No pair is missed; the work grows
with the number of hashes, and with that of near pairs.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from onward.data.hashing import Hashes
from onward.types import Array

BITS = 3
"""In how many of 64 bits the hashes of near pictures differ, at most."""
# So many that share a block are compared with each other; among more, blocks are cut again.
_CROWD = 256
_FEW_BITS = 12
_COMPARED, _AT_ONCE = 1 << 22, 1 << 20

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def near_pairs(hashes: Hashes, marked: NDArray[np.bool_] | None = None) -> Iterator[Pairs]:
    """Yield the places of hashes that differ in `BITS` bits at most, some pairs at a time.

    Each pair is yielded at least once, the lower place first. With `marked`, only pairs with a
    marked one are wanted, and groups without one are passed over.

    Examples
    --------
    >>> found = near_pairs(np.array([0, 2**63 + 1, 2**40 - 1], np.uint64))
    >>> sorted({(int(a), int(b)) for ones, others in found for a, b in zip(ones, others)})
    [(0, 1)]
    """
    if len(hashes) < 2:
        return
    every, none = np.arange(len(hashes)), np.zeros(len(hashes), np.uint8)
    held: list[Pairs] = []
    count = 0
    for pairs in _within(hashes, every, none, range(64), marked):
        held.append(pairs)
        count += len(pairs[0])
        if count >= _AT_ONCE:
            yield _joined(held)
            held, count = [], 0
    if held:
        yield _joined(held)


def _joined(held: list[Pairs]) -> Pairs:
    ones, others = (np.concatenate(some) for some in zip(*held, strict=True))
    return np.minimum(ones, others), np.maximum(ones, others)


def _within(
    hashes: Hashes,
    rows: Array,
    groups: Array,
    free: range | list[int],
    marked: NDArray[np.bool_] | None,
) -> Iterator[Pairs]:
    """Yield the near pairs of rows that are in one group; they may differ in the `free` bits."""
    cuts = np.array_split(np.array(free), BITS + 1)
    for cut in cuts:
        block = _extracted(hashes[rows], cut)
        order = np.lexsort((block, groups))
        mine, its_group, its_block = rows[order], groups[order], block[order]
        first = np.empty(len(mine), np.bool_)
        first[:1] = True
        first[1:] = (its_group[1:] != its_group[:-1]) | (its_block[1:] != its_block[:-1])
        starts = np.flatnonzero(first)
        number = np.cumsum(first) - 1
        sizes = np.diff(np.append(starts, len(mine)))
        useful = sizes > 1
        if marked is not None:
            useful &= np.logical_or.reduceat(marked[mine], starts)
        rest = [bit for bit in free if bit not in set(cut.tolist())]
        crowded = useful & (sizes > _CROWD) & (len(rest) > _FEW_BITS)
        few = (useful & ~crowded)[number]
        yield from _compared(hashes, mine[few], number[few], marked)
        many = crowded[number]
        if many.any():
            yield from _within(hashes, mine[many], number[many], rest, marked)


def _compared(
    hashes: Hashes, rows: Array, groups: Array, marked: NDArray[np.bool_] | None
) -> Iterator[Pairs]:
    """Compare all rows of a group with each other; groups lie one after the other."""
    if not len(rows):
        return
    values = hashes[rows]
    ends = np.searchsorted(groups, groups, side="right")
    # Some groups at a time, so that what is held does not grow with the number of rows.
    for begin in range(0, len(rows), _COMPARED):
        places = np.arange(begin, min(begin + _COMPARED, len(rows)))
        step = 0
        while len(places):
            step += 1
            places = places[ends[places] > places + step]
            close = np.bitwise_count(values[places] ^ values[places + step]) <= BITS
            ones, others = rows[places[close]], rows[places[close] + step]
            if marked is not None:
                wanted = marked[ones] | marked[others]
                ones, others = ones[wanted], others[wanted]
            if len(ones):
                yield ones, others


def _extracted(hashes: Hashes, bits: Array) -> Array:
    """Return some bits of each hash, as small numbers: they are sorted faster."""
    found = np.zeros(len(hashes), np.uint32)
    # Neighbouring bits are taken together; after the first cut there are a few runs of them.
    runs = np.split(bits, np.flatnonzero(np.diff(bits) != 1) + 1)
    for run in runs:
        part = (hashes >> np.uint64(run[0])) & np.uint64((1 << len(run)) - 1)
        found = (found << np.uint32(len(run))) | part.astype(np.uint32)
    return found.astype(np.uint16) if len(bits) <= 16 else found
