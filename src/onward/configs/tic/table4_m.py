"""TiC-CLIP, Table 4: eight ways of keeping CLIP fresh, beside TiC-DataComp (M).

onward reproduce tic/table4_m --data emoji --recipe cpu --out DIR
onward reproduce tic/table4_m --data FOLDER --recipe paper --out DIR

Cost: 42 runs, 1.9 h of CPU time (cpu) or 53.9 days (paper).
"""

from onward.configs.tic.methods_of_the_paper import table

TABLE = table("table4_m", "datacomp-m")
