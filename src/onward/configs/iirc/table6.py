"""IIRC, Table 6: how well all labels so far are answered, after each period of ImageNet-lite.

onward reproduce iirc/table6 --data emoji --recipe cpu --out DIR
onward reproduce iirc/table6 --data FOLDER --recipe paper --out DIR

Cost: 104 runs, 9 min of CPU time (cpu) or 49.4 years (paper).
"""

from onward.configs.iirc.followed import KEPT, followed_table
from onward.configs.iirc.runs import IMAGENET_LITE

TABLE = followed_table(
    6,
    "IIRC-ImageNet-lite",
    "imagenet",
    "lite",
    periods=10,
    orders=5,
    published=(*KEPT, "incremental joint"),
    seconds=IMAGENET_LITE,
)
