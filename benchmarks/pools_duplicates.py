"""Near-duplicates among a million images' hashes: how long, and whether any pair is missed.

Every tenth hash is another one with up to three bits flipped. `uniform` hashes have all bits by
chance; of `sparse` ones a fifth is set, as of pictures with much empty ground, which share blocks
of bits far more often. Small samples are compared all with all. The ratio is to sorting the hashes
once with numpy, on the same machine at the same time.
"""

import time

import numpy as np

from onward.data.hashing import Hashes
from onward.data.near_duplicates import clusters
from onward.data.near_pairs import BITS, near_pairs
from onward.types import Array

SECONDS = 60
_SET = {"uniform": 0.5, "sparse": 0.2}
_COMPARED = 4000


def main(rows: int = 1_000_000) -> None:
    """Print seconds, and the share of near pairs that are found."""
    for name, share in _SET.items():
        rng = np.random.default_rng(0)
        hashes, ones, others = planted(rng, rows, share)
        start = time.perf_counter()
        np.sort(hashes)
        sorting = time.perf_counter() - start
        start, busy = time.perf_counter(), time.process_time()
        label = clusters(hashes)
        took, busy = time.perf_counter() - start, time.process_time() - busy
        found = float((label[ones] == label[others]).mean())
        right = "as many as asked" if took <= SECONDS else f"more than {SECONDS}"
        known = recall(planted(rng, _COMPARED, share)[0])
        print(
            f"{name}: {rows:,} hashes, {rows - len(np.unique(label)):,} near-duplicates removed in "
            f"{took:.1f} s, {busy:.1f} of the processor ({right}; {took / sorting:.0f} times a "
            f"sort); planted pairs found: {found:.2%}; all pairs of {_COMPARED:,}, against "
            f"comparing all with all: {known:.2%}"
        )


def planted(rng: np.random.Generator, rows: int, share: float) -> tuple[Hashes, Array, Array]:
    """Return hashes, and the places of pairs that are near."""
    fresh = rows - rows // 10
    hashes = np.packbits(rng.random((fresh, 64)) < share, axis=1).view(np.uint64)[:, 0]
    near = rng.integers(0, fresh, rows - fresh)
    copies = hashes[near].copy()
    for _ in range(BITS):
        copies ^= np.uint64(1) << rng.integers(0, 64, len(copies)).astype(np.uint64)
    return np.concatenate([hashes, copies]), near, np.arange(fresh, rows)


def recall(hashes: Hashes) -> float:
    """Return the share of near pairs that are found."""
    apart = np.bitwise_count(hashes[:, None] ^ hashes[None])
    every = np.argwhere(np.triu(apart <= BITS, 1))
    found = {
        pair
        for ones, others in near_pairs(hashes)
        for pair in zip(ones.tolist(), others.tolist(), strict=True)
    }
    return sum(tuple(pair) in found for pair in every.tolist()) / max(len(every), 1)


if __name__ == "__main__":
    main()
