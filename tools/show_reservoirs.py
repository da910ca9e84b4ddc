"""Print how often samples of each bucket end up in memory, beside the closed form.

    python tools/show_reservoirs.py

Three buckets of four samples, capacities 4 and 1, 2,000 seeds: for each variant the share of seeds
in which a sample of bucket 1, 2, 3 is kept, the same in closed form, and the largest difference in
standard errors.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from inclusion import inclusion

from onward.memory import BiasedReservoir, Reservoir, dynamic
from onward.memory.memory import Memory

SEEDS = 2000
SIZES = [4, 4, 4]
ALPHAS = (0.5, 1.0, 2.0, 5.0, dynamic(0.25), dynamic(0.5), dynamic(0.75), dynamic(1.0))


def kept(make: Callable[[int], Memory]) -> np.ndarray:
    """Return for each bucket the share of seeds in which one of its samples is kept."""
    counts = np.zeros(sum(SIZES))
    for seed in range(SEEDS):
        memory = make(seed)
        for end, size in zip(np.cumsum(SIZES), SIZES, strict=True):
            memory.admit(np.arange(end - size, end), np.zeros(size, np.int64))
        counts[memory.rows] += 1
    return np.array([part.mean() for part in np.split(counts, np.cumsum(SIZES)[:-1])]) / SEEDS


def show(name: str, capacity: int, found: np.ndarray, expected: list[float]) -> None:
    """Print one line."""
    wanted = np.array(expected)
    error = np.sqrt(wanted * (1 - wanted) / (SEEDS * np.array(SIZES)))
    off = np.abs(found - wanted) / np.maximum(error, 1e-12)
    ours, closed = (" ".join(f"{value:.3f}" for value in row) for row in (found, wanted))
    # A certain sample has no error to be off by.
    far = max((o for o, e in zip(off, error, strict=True) if e > 0), default=0.0)
    print(f"{name:28} k={capacity}   found {ours}   closed form {closed}   {far:.1f} s.e.")


for capacity in (4, 1):
    uniform = [capacity / sum(SIZES)] * len(SIZES)
    found = kept(lambda seed, k=capacity: Reservoir(k, seed=seed))
    show("reservoir", capacity, found, uniform)
    for alpha in ALPHAS:
        found = kept(lambda seed, k=capacity, a=alpha: BiasedReservoir(k, alpha=a, seed=seed))
        name = f"dynamic({alpha.c})" if not isinstance(alpha, float) else f"{alpha}"
        show(f"biased, alpha {name}", capacity, found, inclusion(capacity, alpha, SIZES))
