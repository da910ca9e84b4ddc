"""CLEAR, supplement, Table 6: a linear layer on five kinds of features, iid protocol.

onward reproduce clear/supp6 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp6 --data FOLDER --recipe paper --out DIR

Cost: 950 runs, 23 min of CPU time (cpu) or 6.0 h (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.columns import by_features
from onward.configs.clear.features_claims import DAMAGED, features_claims
from onward.configs.clear.rows import supplement_rows
from onward.configs.clear.runs import CITATION, CUMULATIVE, EDITION, LINEAR, PACKAGE, caveats, run
from onward.reproduce.table import PaperTable

TABLE = PaperTable(
    name="clear/supp6",
    title="A linear layer on five kinds of features, iid protocol",
    citation=f"{CITATION}, supplement, Table 6",
    package=PACKAGE,
    file="supp6.csv",
    rows=supplement_rows("linear", LINEAR, CUMULATIVE),
    columns=by_features("in_domain", "iid") + by_features("next_domain", "iid"),
    run=run,
    caveats=caveats,
    claims=features_claims(),
    notes=(
        DAMAGED,
        "Cumulative finetuning on MoCo-YFCC is 91.5 / 90.6 here and 92.3 / 91.8 in Table 4, for "
        "the same experiment.",
    ),
    edition=f"{EDITION}, linear",
)
