"""CLEAR, supplement, Table 8: a linear layer on five kinds of features, streaming.

onward reproduce clear/supp8 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp8 --data FOLDER --recipe paper --out DIR

Cost: 950 runs, 23 min of CPU time (cpu) or 6.0 h (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.features import features_table

TABLE = features_table(8, "linear", "streaming")
