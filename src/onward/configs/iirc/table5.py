"""IIRC, Table 5: how well all labels so far are answered, after each period of CIFAR.

onward reproduce iirc/table5 --data emoji --recipe cpu --out DIR
onward reproduce iirc/table5 --data FOLDER --recipe paper --out DIR

Cost: 104 runs, 9 min of CPU time (cpu) or 120.4 days (paper).
"""

from functools import partial

from onward.configs.iirc.claims import CLAIMS
from onward.configs.iirc.runs import CIFAR, CITATION, NOTES, PACKAGE, caveats, columns, rows, run
from onward.reproduce.table import PaperTable

_PUBLISHED = ("ER", "iCaRL-CNN", "iCaRL-norm", "LUCIR", "A-GEM", "incremental joint", "ER-infinite")

TABLE = PaperTable(
    name="iirc/table5",
    title="All labels so far, after each period: IIRC-CIFAR",
    citation=f"{CITATION}, Table 5",
    package=PACKAGE,
    file="table5.csv",
    rows=rows(_PUBLISHED, CIFAR),
    columns=columns(22),
    run=partial(run, "cifar", None),
    caveats=caveats,
    claims=CLAIMS,
    notes=NOTES,
    published_runs=10,
    upright=True,
)
