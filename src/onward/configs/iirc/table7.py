"""IIRC, Table 7: how well all labels so far are answered, after each period of ImageNet-full.

onward reproduce iirc/table7 --data emoji --recipe cpu --out DIR
onward reproduce iirc/table7 --data FOLDER --recipe paper --out DIR

Cost: 104 runs, 9 min of CPU time (cpu) or 164.8 years (paper).
"""

from functools import partial

from onward.configs.iirc.claims import CLAIMS
from onward.configs.iirc.runs import (
    CITATION,
    IMAGENET_FULL,
    NOTES,
    PACKAGE,
    caveats,
    columns,
    rows,
    run,
)
from onward.reproduce.table import PaperTable

_PUBLISHED = ("ER", "iCaRL-CNN", "iCaRL-norm", "LUCIR", "joint")

TABLE = PaperTable(
    name="iirc/table7",
    title="All labels so far, after each period: IIRC-ImageNet-full",
    citation=f"{CITATION}, Table 7",
    package=PACKAGE,
    file="table7.csv",
    rows=rows(_PUBLISHED, IMAGENET_FULL),
    columns=columns(35),
    run=partial(run, "imagenet", "full"),
    caveats=caveats,
    claims=CLAIMS,
    notes=NOTES,
    published_runs=5,
    upright=True,
)
