"""TiC-CLIP, Table 8: warming up in every period, or in the first one only, beside TiC-DataComp (M).

onward reproduce tic/table8 --data emoji --recipe cpu --out DIR

Cost: 16 runs, 33 min of CPU time (cpu) or 16.4 days (paper).
"""

from onward.configs.tic.warming_up import table

TABLE = table("table8", "datacomp-m")
