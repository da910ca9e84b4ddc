"""IIRC's three tables of appendix H are one table of three datasets."""

from collections.abc import Mapping
from functools import partial

from onward.configs.iirc.claims import CLAIMS
from onward.configs.iirc.runs import CITATION, columns, iirc_table, rows, run
from onward.reproduce.table import PaperTable

KEPT = ("ER", "iCaRL-CNN", "iCaRL-norm", "LUCIR")
"""The methods that all three have published numbers of."""


def followed_table(
    number: int,
    name: str,
    kind: str,
    edition: str | None,
    *,
    periods: int,
    orders: int,
    published: tuple[str, ...],
    seconds: Mapping[str, float],
) -> PaperTable:
    """Return a table that follows methods from period to period.

    Its data have a name, and are of some kind and edition. The paper averages over so many orders
    of classes, and has published numbers of some methods. A run takes so many seconds by recipe.
    """
    return iirc_table(
        name=f"iirc/table{number}",
        title=f"All labels so far, after each period: {name}",
        citation=f"{CITATION}, Table {number}",
        file=f"table{number}.csv",
        rows=rows(published, seconds),
        columns=columns(periods),
        run=partial(run, kind, edition),
        claims=CLAIMS,
        notes=(
            "Means over periods are computed from the published numbers. The tables have neither "
            "finetuning nor BiC, which the paper's figures show, and no EWC, SI and LwF.",
        ),
        published_runs=orders,
        edition=name,
    )
