"""TiC-CLIP, Table 9: the highest learning rate of later periods.

onward reproduce tic/table9 --data emoji --recipe cpu --out DIR

Cost: 15 runs, 31 min of CPU time (cpu) or 15.3 days (paper).
"""

from onward.benchmarks.tic_recipes import SCALES, SMALL
from onward.configs.tic.runs import UNDECIDED, seconds, tic_table
from onward.reproduce.claims import Claim, above
from onward.reproduce.table import Row

_SCALE = "datacomp-m"
_USUAL = SCALES[_SCALE].recipe.lr
# As published, and the same as shares of the first period's.
_RATES = ("5e-05", "0.0001", "0.00025", "0.0005", "0.001")
_SEEDS = 3

TABLE = tic_table(
    "table9",
    "The highest learning rate of later periods, for Cumulative-All",
    "Table 9",
    scale=_SCALE,
    rows=tuple(
        Row(
            name=rate,
            label=f"{float(rate) / _USUAL:g} x the first period's",
            key={"max_lr": rate},
            method="cumulative",
            training={
                "cpu": {"next_lr": SMALL.lr * float(rate) / _USUAL},
                "paper": {"next_lr": float(rate)},
            },
            seconds=seconds(125.0, "cumulative", _SCALE),
            seeds=_SEEDS,
        )
        for rate in _RATES
    ),
    claims=(
        Claim(
            name="the same highest rate is best",
            text="Later periods are learned best with the learning rate of the first: lower ones "
            "and higher ones are worse on the newest year.",
            where="appendix F.3, Table 9",
            pairs=above("id", *(("0.00025", rate) for rate in _RATES if rate != "0.00025")),
            note=f"Published: accuracy on ImageNet in the end; 0.001 diverged. {UNDECIDED}",
            seeds=_SEEDS,
        ),
    ),
)
