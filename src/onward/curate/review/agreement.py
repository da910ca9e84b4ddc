"""How far annotators agree beyond chance: Krippendorff's α for names."""

from collections import Counter

from onward.curate.review.campaign import Campaign
from onward.metrics.agreement import alpha_of_counts


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
    return alpha_of_counts(sum(a for (a,) in agreeing), totals.values())
