"""CLEAR, supplement, Table 5: what is kept and which weights are started from, streaming.

onward reproduce clear/supp5 --data emoji --recipe cpu --out DIR
onward reproduce clear/supp5 --data FOLDER --recipe paper --out DIR

Cost: 190 runs, 5 min of CPU time (cpu) or 72 min (paper).
"""

from onward.configs.clear.columns import STREAMING_ALONE
from onward.configs.clear.rows import biased_claim, finetuning_claims, supplement_table

_WHERE = "supplement, caption of Table 5"

TABLE = supplement_table(
    5,
    "Memory and start on MoCo-YFCC features, streaming protocol",
    "linear",
    STREAMING_ALONE,
    (
        *finetuning_claims("next_domain", _WHERE),
        biased_claim("biased above plain reservoir", ("next_domain", "fwt"), _WHERE),
    ),
)
