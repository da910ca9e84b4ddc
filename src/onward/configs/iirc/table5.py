"""IIRC, Table 5: how well all labels so far are answered, after each period of CIFAR.

onward reproduce iirc/table5 --data emoji --recipe cpu --out DIR
onward reproduce iirc/table5 --data FOLDER --recipe paper --out DIR

Cost: 104 runs, 9 min of CPU time (cpu) or 120.4 days (paper).
"""

from onward.configs.iirc.followed import KEPT, followed_table
from onward.configs.iirc.runs import CIFAR

TABLE = followed_table(
    5,
    "IIRC-CIFAR",
    "cifar",
    None,
    periods=22,
    orders=10,
    published=(*KEPT, "A-GEM", "incremental joint", "ER-infinite"),
    seconds=CIFAR,
)
