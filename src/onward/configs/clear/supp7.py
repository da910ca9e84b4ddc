"""CLEAR, supplement, Table 7: a two-layer network on five kinds of features, iid protocol.

onward reproduce clear/supp7 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp7 --data FOLDER --recipe paper --out DIR

Cost: 625 runs, 8.4 h of CPU time (cpu) or 17.4 days (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.columns import by_features
from onward.configs.clear.features_claims import DAMAGED, features_claims
from onward.configs.clear.rows import supplement_rows
from onward.configs.clear.runs import CITATION, EDITION, MLP, MLP_CUMULATIVE, PACKAGE, caveats, run
from onward.reproduce.table import PaperTable

TABLE = PaperTable(
    name="clear/supp7",
    title="A two-layer network on five kinds of features, iid protocol",
    citation=f"{CITATION}, supplement, Table 7",
    package=PACKAGE,
    file="supp7.csv",
    rows=supplement_rows("mlp", MLP, MLP_CUMULATIVE),
    columns=by_features("in_domain", "iid") + by_features("next_domain", "iid"),
    run=run,
    caveats=caveats,
    claims=features_claims(),
    notes=(DAMAGED,),
    edition=f"{EDITION}, MLP",
)
