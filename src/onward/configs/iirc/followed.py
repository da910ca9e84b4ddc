"""IIRC's three tables of appendix H are one table of three datasets."""

from collections.abc import Mapping
from functools import partial

from onward.configs.iirc.claims import CLAIMS
from onward.configs.iirc.runs import CITATION, NOTES, PACKAGE, caveats, columns, rows, run
from onward.reproduce.table import PaperTable


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

    Parameters
    ----------
    number, name
        Of the table, and of its data.
    kind, edition
        What the folder of its data holds.
    periods, orders
        How many periods there are, and over how many orders of classes the paper averages.
    published
        The methods that the paper has numbers of.
    seconds
        CPU seconds of a run, by recipe.
    """
    return PaperTable(
        name=f"iirc/table{number}",
        title=f"All labels so far, after each period: {name}",
        citation=f"{CITATION}, Table {number}",
        package=PACKAGE,
        file=f"table{number}.csv",
        rows=rows(published, seconds),
        columns=columns(periods),
        run=partial(run, kind, edition),
        caveats=caveats,
        claims=CLAIMS,
        notes=NOTES,
        published_runs=orders,
        upright=True,
        edition=name,
    )
