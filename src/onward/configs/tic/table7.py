"""TiC-CLIP, Table 7: what is left of it under the basic filter of captions.

onward reproduce tic/table7 --data emoji --recipe cpu --out DIR

Cost: 19 runs, 60 min of CPU time (cpu) or 7.6 years (paper).
"""

from functools import partial

from onward.configs.tic.runs import CITATION, PACKAGE, caveats, columns, run
from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import PaperTable, Row

_TITLE = "TiC-DataComp (XL) basic filter"
_FEW, _DECIDING = 3, 8

TABLE = PaperTable(
    name="tic/table7",
    title="Keeping CLIP fresh on captions that pass the basic filter",
    citation=f"{CITATION}, Table 7",
    package=PACKAGE,
    file="table7.csv",
    rows=tuple(
        Row(
            name=name,
            label=label,
            key={"benchmark": _TITLE, "method": label},
            method=method,
            load={"captions": "basic"},
            seconds={"cpu": cpu, "paper": times * 8.1e6},
            seeds=_FEW,
        )
        for name, label, method, cpu, times in (
            ("all", "Cumulative-All", "cumulative", 125.0, 1.0),
            ("sequential", "Sequential", "finetune", 125.0, 1.0),
            ("oracle", "Oracle**", "oracle", 540.0, 4.5),
        )
    ),
    columns=columns(),
    run=partial(run, scale="datacomp-xl"),
    caveats=caveats,
    claims=(
        Claim(
            name="the past is worth replaying here too",
            text="With the same compute, training on everything so far is better on earlier years "
            "than training on the newest alone, also after filtering.",
            where="appendix F.2, Table 7",
            pairs=(Pair(Cell("all", "bwt"), Cell("sequential", "bwt")),),
            seeds=_DECIDING,
        ),
    ),
    notes=(
        "The filter's rules on language and size of images are about photos of the web; here, "
        "captions need more than two words and five letters. Filtering by a CLIP, Figure 9's "
        "other side, needs a model that has seen photos.",
    ),
    published_runs=1,
)
