"""TiC-CLIP, Table 8: warming up in every period, or in the first one only, beside TiC-DataComp (L).

onward reproduce tic/table8_l --data emoji --recipe cpu --out DIR

Cost: 16 runs, 33 min of CPU time (cpu) or 147.3 days (paper).
"""

from onward.configs.tic.warming_up import table

TABLE = table("table8_l", "datacomp-l")
