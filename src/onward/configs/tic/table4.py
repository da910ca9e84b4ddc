"""TiC-CLIP, Table 4: eight ways of keeping CLIP fresh, beside TiC-YFCC.

onward reproduce tic/table4 --data emoji --recipe cpu --out DIR
onward reproduce tic/table4 --data FOLDER --recipe paper --out DIR

The published rows are those at the scale of YFCC, which has all methods; tic/table4_redcaps,
_m, _l and _xl set others beside the same runs.

Cost: 42 runs, 1.9 h of CPU time (cpu) or 55.4 days (paper).
"""

from onward.configs.tic.methods_of_the_paper import table

TABLE = table("table4", "yfcc")
