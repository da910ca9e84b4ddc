"""CLEAR, supplement, Table 5: what is kept and which weights are started from, streaming.

onward reproduce clear/supp5 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp5 --data FOLDER --recipe paper --out DIR

Cost: 190 runs, 5 min of CPU time (cpu) or 72 min (paper).
"""

from onward.configs.clear.columns import STREAMING_ALONE
from onward.configs.clear.rows import biased_claim, finetuning_claims, supplement_rows
from onward.configs.clear.runs import CITATION, CUMULATIVE, EDITION, LINEAR, PACKAGE, caveats, run
from onward.reproduce.table import PaperTable

_WHERE = "supplement, caption of Table 5"

TABLE = PaperTable(
    name="clear/supp5",
    title="Memory and start on MoCo-YFCC features, streaming protocol",
    citation=f"{CITATION}, supplement, Table 5",
    package=PACKAGE,
    file="supp5.csv",
    rows=supplement_rows("linear", LINEAR, CUMULATIVE),
    columns=STREAMING_ALONE,
    run=run,
    caveats=caveats,
    claims=(
        *finetuning_claims("next_domain", _WHERE),
        biased_claim("biased above plain reservoir", ("next_domain", "fwt"), _WHERE),
    ),
    edition=f"{EDITION}, linear on MoCo-YFCC features",
)
