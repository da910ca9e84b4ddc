"""What all forms of Table 4 share: eight ways of keeping CLIP fresh, and claims about them."""

from collections.abc import Mapping
from typing import Any

from onward.benchmarks.tic_recipes import SCALES
from onward.configs.tic.runs import PACKAGE, UNDECIDED, seconds, tic_table
from onward.reproduce.claims import Claim, above
from onward.reproduce.published import PublishedValues
from onward.reproduce.table import PaperTable, Row

# Seeds of rows that no claim names, and of those that one names.
_FEW, _DECIDING = 3, 8
_MORE = "all_more"
# Name, label as published, method of the catalogue, its options; CPU seconds of a run on emoji, by
# those of a step.
_ROWS: tuple[tuple[str, str, str, Mapping[str, Any], float], ...] = (
    ("restart", "Restart", "restart", {}, 125),
    ("sequential", "Sequential", "finetune", {}, 125),
    ("patching", "Patching", "patching", {}, 140),
    ("exp", "Cumulative-Exp", "cumulative_exp", {}, 125),
    ("equal", "Cumulative-Equal", "cumulative_equal", {}, 125),
    ("all", "Cumulative-All", "cumulative", {}, 125),
    ("lwf", "LwF*", "lwf", {"alpha": 1.0}, 165),
    (_MORE, "Cumulative-All*", "cumulative_more", {}, 160),
    ("oracle", "Oracle**", "oracle", {}, 540),
)

CLAIMS = (
    Claim(
        name="replaying everything keeps the past",
        text="With the same compute, training on everything so far is better on earlier years than "
        "training on the newest alone.",
        where="section 3, Table 4",
        pairs=above("bwt", ("all", "sequential")),
        seeds=_DECIDING,
    ),
    Claim(
        name="going on beats starting over",
        text="With the same compute, going on from the last weights is better than starting over, "
        "on earlier years, on the newest and on those to come.",
        where="section 3, Table 4",
        pairs=above(("bwt", "id", "fwt"), ("sequential", "restart")),
        seeds=_DECIDING,
    ),
    Claim(
        name="a small past is worth much",
        text="As many old samples as new ones, by halves or in equal shares, are better on earlier "
        "years than none.",
        where="section 3, Table 4",
        pairs=above("bwt", ("exp", "sequential"), ("equal", "sequential")),
        note=UNDECIDED,
        seeds=_FEW,
    ),
    Claim(
        name="patching keeps some of the past",
        text="Mixing old and new weights is better on earlier years than the new ones alone, and "
        "worse than replaying everything.",
        where="section 3, appendix C",
        pairs=above("bwt", ("patching", "sequential"), ("all", "patching")),
        note=UNDECIDED,
        seeds=_FEW,
    ),
    Claim(
        name="a teacher is worth less than the past",
        text="Holding on to the last model's similarities costs more and is worse on earlier years "
        "than replaying everything.",
        where="appendix C",
        pairs=above("bwt", ("all", "lwf")),
        note=UNDECIDED,
        seeds=_FEW,
    ),
)


def table(name: str, scale: str) -> PaperTable:
    """Return the table whose published rows are those at one scale."""
    size = SCALES[scale]
    published = {row["method"] for row in PublishedValues(PACKAGE, f"{name}.csv").rows}
    return tic_table(
        name,
        f"Keeping CLIP fresh under a budget, beside {size.title}",
        "Table 4",
        rows=tuple(
            Row(
                name=row,
                label=label,
                key={"method": label} if label in published else None,
                method=method,
                options=options,
                seconds=seconds(cpu, method, scale),
                adapted={"paper": {"times": size.more}} if row == _MORE else {},
                seeds=_FEW,
            )
            for row, label, method, options, cpu in _ROWS
        ),
        claims=CLAIMS,
        scale=scale,
        notes=(
            "Compute is forward multiply-accumulates of both towers, times pairs seen. LwF's "
            "teacher looks at every pair too: twice the count, a third more work, 1.2 times by the "
            "paper. Oracle spends (T + 1) / 2 times the budget of T periods: 450 % of eight.",
            f"Cumulative-All* spends {size.more} times the budget at this scale by what is printed "
            "of both, and 1.3 times in the recipe cpu. Restart and Oracle draw weights anew in "
            "every period, and warm up in the first one only, as all methods do in the paper.",
            "The cost of recipe paper is that of a card with 100 T multiply-accumulates a second.",
        ),
        edition=size.title,
    )
