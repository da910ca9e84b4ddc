"""What the supplement concludes from its tables over five kinds of features."""

from onward.configs.clear.rows import biased_claim
from onward.configs.clear.runs import FEATURES
from onward.reproduce.claims import Cell, Claim, Pair

DAMAGED = (
    "The text of this table is damaged inside its blocks of eight: ~ marks what was repaired, "
    "87.7|87.8 what may be meant, ? what is lost. Take the published side as indicative."
)
_WHERE = "supplement, section 5, discussion"
_BEST = "Pretrain-ImgNet"
_WORST = "CLIP"
# One row of each kind, all of whose published numbers can be read.
_ROWS = ("nap", "scratch/cumulative", "finetune/cumulative")


def features_claims() -> tuple[Claim, ...]:
    """Return the claims on next-domain: about each kind of features, and about their order."""
    biased = tuple(
        biased_claim(f"biased above plain reservoir on {name}", (f"next_{name}",), _WHERE)
        for name in FEATURES
    )
    return (
        *biased,
        Claim(
            name="supervised ImageNet features best",
            text="On the next period, features of a supervised ImageNet model are above all others "
            "(nap, and both ways of learning from everything).",
            where=_WHERE,
            pairs=tuple(
                Pair(Cell(row, f"next_{_BEST}"), Cell(row, f"next_{name}"))
                for row in _ROWS
                for name in FEATURES
                if name != _BEST
            ),
            seeds=10,
        ),
        Claim(
            name="CLIP features worst",
            text="On the next period, CLIP's features are below all others (nap, and both ways of "
            "learning from everything).",
            where=_WHERE,
            pairs=tuple(
                Pair(Cell(row, f"next_{name}"), Cell(row, f"next_{_WORST}"))
                for row in _ROWS
                for name in FEATURES
                if name != _WORST
            ),
            seeds=10,
        ),
    )
