"""TiC-CLIP, Table 4: eight ways of keeping CLIP fresh, beside TiC-RedCaps.

onward reproduce tic/table4_redcaps --data emoji --recipe cpu --out DIR
onward reproduce tic/table4_redcaps --data FOLDER --recipe paper --out DIR

Cost: 42 runs, 1.9 h of CPU time (cpu) or 55.4 days (paper).
"""

from onward.configs.tic.methods_of_the_paper import table

TABLE = table("table4_redcaps", "redcaps")
