"""CLEAR, Table 2: how strongly a memory of one bucket should prefer recent samples.

onward reproduce clear/table2 --data emoji --recipe cpu --out DIR
onward reproduce clear/table2 --data FOLDER --recipe paper --out DIR

Cost: 160 runs, 3 min of CPU time (cpu) or 43 min (paper).
"""

from onward.configs.clear.columns import IID, STREAMING
from onward.configs.clear.rows import ALPHAS
from onward.configs.clear.runs import CITATION, LINEAR, ON_MOCO, clear_table
from onward.reproduce.claims import Claim, above
from onward.reproduce.table import Curves, Panel, Row

ROWS = tuple(
    Row(
        name=alpha.name,
        label=alpha.label,
        key={"alpha": alpha.published},
        method="biased_reservoir",
        options={"alpha": alpha.option},
        seconds=LINEAR,
        seeds=10,
    )
    for alpha in ALPHAS
)

TABLE = clear_table(
    name="clear/table2",
    title="Analysis of biased reservoir sampling",
    citation=f"{CITATION}, Table 2",
    file="table2.csv",
    rows=ROWS,
    columns=IID + STREAMING,
    claims=tuple(
        Claim(
            name=f"{label} above plain reservoir",
            text=f"Preferring recent samples with {label} is better than not preferring any "
            "(α = 1) on all seven metrics.",
            where="caption of Table 2",
            pairs=above((column.name for column in IID + STREAMING), (name, "alpha=1")),
            seeds=10,
        )
        for name, label in (("alpha=5", "α = 5"), ("c=0.75", "α = 0.75 i/k"))
    ),
    notes=(
        "FwT of α = 2 under iid (89.1) is out of line with its neighbours (87.4, 88.5) and with "
        "its own next-domain (89.8): probably a misprint.",
    ),
    curves=Curves(
        title="How strongly should a memory of one bucket prefer recent samples?",
        reference="alpha=1",
        parameters=(
            Panel(
                axis="fixed α",
                rows={alpha.number: alpha.name for alpha in ALPHAS if not alpha.dynamic},
                logarithmic=True,
            ),
            Panel(
                axis="c in α = c i/k",
                rows={alpha.number: alpha.name for alpha in ALPHAS if alpha.dynamic},
            ),
        ),
        columns=("iid_bwt", "iid_in_domain", "iid_next_domain", "stream_next_domain"),
    ),
    edition=ON_MOCO,
)
