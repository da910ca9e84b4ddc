"""IIRC, Table 6: how well all labels so far are answered, after each period of ImageNet-lite.

onward reproduce iirc/table6 --data emoji --recipe cpu --out DIR
onward reproduce iirc/table6 --data FOLDER --recipe paper --out DIR

Cost: 104 runs, 9 min of CPU time (cpu) or 49.4 years (paper).
"""

from functools import partial

from onward.configs.iirc.claims import CLAIMS
from onward.configs.iirc.runs import (
    CITATION,
    IMAGENET_LITE,
    NOTES,
    PACKAGE,
    caveats,
    columns,
    rows,
    run,
)
from onward.reproduce.table import PaperTable

_PUBLISHED = ("ER", "iCaRL-CNN", "iCaRL-norm", "LUCIR", "incremental joint")

TABLE = PaperTable(
    name="iirc/table6",
    title="All labels so far, after each period: IIRC-ImageNet-lite",
    citation=f"{CITATION}, Table 6",
    package=PACKAGE,
    file="table6.csv",
    rows=rows(_PUBLISHED, IMAGENET_LITE),
    columns=columns(10),
    run=partial(run, "imagenet", "lite"),
    caveats=caveats,
    claims=CLAIMS,
    notes=NOTES,
    published_runs=5,
    upright=True,
)
