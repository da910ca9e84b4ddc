"""CLEAR, supplement, Table 7: a two-layer network on five kinds of features, iid protocol.

onward reproduce clear/supp7 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp7 --data FOLDER --recipe paper --out DIR

Cost: 625 runs, 8.4 h of CPU time (cpu) or 17.4 days (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.features import DAMAGED, features_table

TABLE = features_table(7, "mlp", "iid", DAMAGED)
