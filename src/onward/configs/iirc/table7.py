"""IIRC, Table 7: how well all labels so far are answered, after each period of ImageNet-full.

onward reproduce iirc/table7 --data emoji --recipe cpu --out DIR
onward reproduce iirc/table7 --data FOLDER --recipe paper --out DIR

Cost: 104 runs, 9 min of CPU time (cpu) or 164.8 years (paper).
"""

from onward.configs.iirc.followed import KEPT, followed_table
from onward.configs.iirc.runs import IMAGENET_FULL

TABLE = followed_table(
    7,
    "IIRC-ImageNet-full",
    "imagenet",
    "full",
    periods=35,
    orders=5,
    published=(*KEPT, "joint"),
    seconds=IMAGENET_FULL,
)
