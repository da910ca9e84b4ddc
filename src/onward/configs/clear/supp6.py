"""CLEAR, supplement, Table 6: a linear layer on five kinds of features, iid protocol.

onward reproduce clear/supp6 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp6 --data FOLDER --recipe paper --out DIR

Cost: 950 runs, 23 min of CPU time (cpu) or 6.0 h (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.features import DAMAGED, features_table

TABLE = features_table(
    6,
    "linear",
    "iid",
    DAMAGED,
    "Cumulative finetuning on MoCo-YFCC is 91.5 / 90.6 here and 92.3 / 91.8 in Table 4, for the "
    "same experiment.",
)
