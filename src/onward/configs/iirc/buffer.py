"""IIRC, appendix E: how many samples of each class plain replay should keep.

onward reproduce iirc/buffer --data emoji --recipe cpu --out DIR
onward reproduce iirc/buffer --data FOLDER --recipe paper --out DIR

Cost: 32 runs, 3 min of CPU time (cpu) or 37.0 days (paper).
"""

from functools import partial

from onward.configs.iirc.runs import CIFAR, CITATION, columns, iirc_table, run
from onward.reproduce.claims import Claim, above
from onward.reproduce.table import Row

TABLE = iirc_table(
    name="iirc/buffer",
    title="Plain replay with more or fewer samples of each class, IIRC-CIFAR",
    citation=f"{CITATION}, appendix E",
    file=None,
    rows=tuple(
        Row(
            name=f"er={size}",
            label=f"ER {size}",
            key=None,
            method="er",
            options={"per_class": size},
            seconds=CIFAR,
            seeds=8,
        )
        for size in (20, 50, 100, 200)
    ),
    columns=columns(22),
    run=partial(run, "cifar", None),
    claims=(
        Claim(
            name="a larger buffer is better",
            text="Fifty samples of a class score above twenty, and a hundred above fifty.",
            where="appendix E",
            pairs=above("mean", ("er=50", "er=20"), ("er=100", "er=50")),
            note="The emoji edition shows a subclass at most 64 samples, so a hundred is all there "
            "is of most classes.",
        ),
    ),
    published_runs=10,
    edition="IIRC-CIFAR",
)
