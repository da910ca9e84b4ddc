"""Print how often drift is found where there is none, and where there is, over samples.

The control deals the groups of one snapshot of the emoji to two sides; the redesigns are the two
steps in which most drawings changed. Each try draws n samples of either side anew.

    python tools/show_drift_power.py [TRIES] [FIRST SEED]
"""

import sys
import time

import numpy as np

import onward
from onward.metrics.two_samples import told_apart
from onward.types import Array, Rows

COUNTS = (25, 50, 100, 200, 300)
REDESIGNS = (("2017-05", "2017-12"), ("2020-10", "2022-03"))
LEVEL = 0.05


def found(values: Array, groups: Array, a: Rows, b: Rows, seed: int) -> bool:
    """Say whether two sets of samples are told apart at the 95 % level."""
    told = told_apart(values[a], values[b], groups[a], groups[b], level=LEVEL, seed=seed)
    return told.p <= LEVEL and told.accuracy > 0.5


def main(tries: int = 100, first: int = 0) -> None:
    """Print the table."""
    started = time.process_time()
    stream = onward.load("clear", data="emoji").stream(0)
    values = np.asarray(stream.table.wide["input"], np.float64)
    groups = stream.table.values("group").astype(str)
    rows = {p.name: np.unique(np.concatenate([p.train.rows, p.test.rows])) for p in stream}
    middle = stream[len(stream) // 2].name
    named = "  ".join(f"{a} → {b}" for a, b in REDESIGNS)
    print(f"drift found, of {tries} tries at the 95 % level; samples of either side")
    print(f"{'n':>5}  control ({middle})  {named}")
    for count in COUNTS:
        hits = np.zeros(1 + len(REDESIGNS), int)
        for seed in range(first, first + tries):
            rng = np.random.default_rng([seed, count])
            names = rng.permutation(np.unique(groups[rows[middle]]))
            one = np.isin(groups[rows[middle]], names[: len(names) // 2])
            sides = [(rows[middle][one], rows[middle][~one])]
            sides += [(rows[a], rows[b]) for a, b in REDESIGNS]
            for place, pair in enumerate(sides):
                a, b = (rng.permutation(side)[:count] for side in pair)
                hits[place] += found(values, groups, a, b, seed)
        cells = "  ".join(f"{hit:>17}" for hit in hits[1:])
        print(f"{count:>5}  {hits[0]:>17}  {cells}", flush=True)
    print(f"{time.process_time() - started:.0f} CPU seconds")


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:]))
