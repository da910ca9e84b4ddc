"""CLEAR, supplement, Table 8: a linear layer on five kinds of features, streaming.

onward reproduce clear/supp8 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp8 --data FOLDER --recipe paper --out DIR

Cost: 950 runs, 23 min of CPU time (cpu) or 6.0 h (paper), for all five
kinds of features; the emoji edition has one.
"""

from onward.configs.clear.columns import by_features
from onward.configs.clear.features_claims import features_claims
from onward.configs.clear.rows import supplement_rows
from onward.configs.clear.runs import CITATION, CUMULATIVE, EDITION, LINEAR, PACKAGE, caveats, run
from onward.reproduce.table import PaperTable

TABLE = PaperTable(
    name="clear/supp8",
    title="A linear layer on five kinds of features, streaming protocol",
    citation=f"{CITATION}, supplement, Table 8",
    package=PACKAGE,
    file="supp8.csv",
    rows=supplement_rows("linear", LINEAR, CUMULATIVE),
    columns=by_features("next_domain", "streaming"),
    run=run,
    caveats=caveats,
    claims=features_claims(),
    edition=f"{EDITION}, linear",
)
