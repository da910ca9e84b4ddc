"""CLEAR, supplement, Table 9: a two-layer network on five kinds of features, streaming.

onward reproduce clear/supp9 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp9 --data FOLDER --recipe paper --out DIR

Cost: 625 runs, 8.4 h of CPU time (cpu) or 17.4 days (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.features import DAMAGED, features_table

TABLE = features_table(9, "mlp", "streaming", DAMAGED)
