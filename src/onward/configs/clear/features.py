"""The supplement's four tables over five kinds of features, and what it concludes from them."""

from collections.abc import Sequence

from onward.configs.clear.columns import by_features
from onward.configs.clear.rows import biased_claim, supplement_table
from onward.configs.clear.runs import EDITION, FEATURES
from onward.reproduce.claims import Cell, Claim, Pair
from onward.reproduce.table import PaperTable

DAMAGED = (
    "The text of this table is damaged inside its blocks of eight: ~ marks what was repaired, "
    "87.7|87.8 what may be meant, ? what is lost. Take the published side as indicative."
)
_WHERE = "supplement, section 5, discussion"
_BEST = "Pretrain-ImgNet"
_WORST = "CLIP"
# One row of each kind, all of whose published numbers can be read.
_ROWS = ("nap", "scratch/cumulative", "finetune/cumulative")
_NETWORKS = {"linear": "A linear layer", "mlp": "A two-layer network"}
_EDITIONS = {"linear": f"{EDITION}, linear", "mlp": f"{EDITION}, MLP"}


def _in_each_row(kinds: Sequence[tuple[str, str]]) -> tuple[Pair, ...]:
    return tuple(
        Pair(Cell(row, f"next_{above}"), Cell(row, f"next_{below}"))
        for row in _ROWS
        for above, below in kinds
    )


# On next-domain: about each kind of features, and about their order.
_CLAIMS = (
    *(
        biased_claim(f"biased above plain reservoir on {name}", (f"next_{name}",), _WHERE)
        for name in FEATURES
    ),
    Claim(
        name="supervised ImageNet features best",
        text="On the next period, features of a supervised ImageNet model are above all others "
        "(nap, and both ways of learning from everything).",
        where=_WHERE,
        pairs=_in_each_row([(_BEST, name) for name in FEATURES if name != _BEST]),
        seeds=10,
    ),
    Claim(
        name="CLIP features worst",
        text="On the next period, CLIP's features are below all others (nap, and both ways of "
        "learning from everything).",
        where=_WHERE,
        pairs=_in_each_row([(name, _WORST) for name in FEATURES if name != _WORST]),
        seeds=10,
    ),
)


def features_table(number: int, model: str, protocol: str, *notes: str) -> PaperTable:
    """Return one of Tables 6 to 9 of the supplement."""
    columns = by_features("next_domain", protocol)
    if protocol == "iid":
        columns = by_features("in_domain", protocol) + columns
    title = f"{_NETWORKS[model]} on five kinds of features, {protocol} protocol"
    edition = _EDITIONS[model]
    return supplement_table(number, title, model, columns, _CLAIMS, *notes, edition=edition)
