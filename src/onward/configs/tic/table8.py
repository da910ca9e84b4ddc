"""TiC-CLIP, Table 8: warming up in every period, or in the first one only.

onward reproduce tic/table8 --data emoji --recipe cpu --out DIR

Cost: COST
"""

from functools import partial

from onward.configs.tic.runs import CITATION, PACKAGE, caveats, columns, run
from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import PaperTable, Row

_TITLE = "TiC-DataComp (M)"
# As long in later periods as in the first one.
_WARM = {"cpu": {"later_warmup": 23}, "paper": {"later_warmup": 500}}
_SEEDS = 8

TABLE = PaperTable(
    name="tic/table8",
    title="Warming up in the first period, or in all of them",
    citation=f"{CITATION}, Table 8",
    package=PACKAGE,
    file="table8.csv",
    rows=tuple(
        Row(
            name=name,
            label=f"Cumulative-All, {name} later warm-up",
            key={"benchmark": _TITLE, "warmup": name},
            method="cumulative",
            load={"training": training},
            seconds={"cpu": 125.0, "paper": 9.0e4},
            seeds=_SEEDS,
        )
        for name, training in (("without", {}), ("with", _WARM))
    ),
    columns=columns(),
    run=partial(run, scale="datacomp-m"),
    caveats=caveats,
    claims=(
        Claim(
            name="warming up again hurts",
            text="Without a warm-up in later periods, a model is better on earlier years, on the "
            "newest and on those to come.",
            where="appendix F.3, Table 8",
            pairs=tuple(
                Pair(Cell("without", column), Cell("with", column))
                for column in ("bwt", "id", "fwt")
            ),
            seeds=_SEEDS,
        ),
    ),
    published_runs=1,
)
