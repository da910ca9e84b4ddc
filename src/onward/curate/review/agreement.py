"""How far annotators agree beyond chance: Krippendorff's α for names."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable

from onward.curate.review.campaign import Campaign


def alpha(units: Iterable[Collection[Hashable]]) -> float:
    """Return Krippendorff's α of values without order, one collection of values per unit.

    ``α = 1 - (n - 1) (n - a) / (n² - Σ_c n_c²)``: n values stand in units that have two or more of
    them, n_c of them are c, and a is how many agree: ``Σ_u Σ_c k (k - 1) / (m - 1)`` for units of m
    values, k of which are c. 1 is agreement, 0 is what chance gives, NaN is nothing to compare.

    Why: percentages of agreement are high wherever one answer is common, α is not; and units may
    have any number of values.

    Examples
    --------
    >>> alpha(["aa", "bb", "ab"])  # three images, two votes each
    0.4444444444444444

    References
    ----------
    Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.
    """
    totals: Counter[Hashable] = Counter()
    agreeing = 0.0
    for values in units:
        if len(values) > 1:
            counted = Counter(values)
            totals += counted
            agreeing += sum(k * (k - 1) for k in counted.values()) / (len(values) - 1)
    return _alpha(agreeing, totals.values())


def alpha_of_sets(campaign: Campaign) -> float:
    """Return α of what stands, each set of labels taken as a value."""
    return _of(campaign, "votes", "pairs", "1")


def alpha_of_single(campaign: Campaign) -> float:
    """Return α of the votes for one label, or for none of them; those for several are left out."""
    return _of(campaign, "single", "single_pairs", "instr(labels, ',') = 0")


def _of(campaign: Campaign, votes: str, pairs: str, which: str) -> float:
    db = campaign.db
    agreeing = db.execute(
        f"select sum({pairs}) / ({votes} - 1.0) from items where {votes} > 1 group by {votes}"
    ).fetchall()
    totals = Counter(
        dict(db.execute(f"select labels, count(*) from standing where {which} group by labels"))
    )
    # A vote that stands alone is compared with nothing.
    alone = db.execute(
        "select labels, count(*) from items join standing using (item) "
        f"where {votes} = 1 and {which} group by labels"
    )
    totals -= Counter(dict(alone.fetchall()))
    return _alpha(sum(a for (a,) in agreeing), totals.values())


def _alpha(agreeing: float, totals: Collection[int]) -> float:
    n = sum(totals)
    by_chance = n * n - sum(total * total for total in totals)
    # One value only: there is nothing that agreement could be told from.
    return 1 - (n - 1) * (n - agreeing) / by_chance if by_chance else math.nan
