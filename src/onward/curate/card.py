"""What goes with a dataset so that others can trust it: a card, for people and for programs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from onward.curate.exported import Exported

_STAGES = {
    "pool": "Rows of metadata were sorted by time and cut into buckets.",
    "fetch": "Images were fetched by their addresses.",
    "embed": "Images were turned into directions by a model of images and texts.",
    "retrieve": "Candidates for each concept and bucket were retrieved by their directions.",
    "review": "People looked at the candidates and voted.",
    "accept": "Candidates were accepted on which people agreed.",
}


def card_of(
    name: str,
    samples: Sequence[Exported],
    classes: Sequence[str],
    lineage: Sequence[Mapping[str, Any]],
    left_out: Sequence[tuple[str, str]],
    price: float | None,
) -> dict[str, Any]:
    """Return all that is to be known, as plain data."""
    accepted = next(one["counts"] for one in lineage if one["kind"] == "accept")
    pool: Mapping[str, Any] = next((one["counts"] for one in lineage if one["kind"] == "pool"), {})
    buckets = []
    for bucket in sorted({one.bucket for one in samples}):
        here = [one for one in samples if one.bucket == bucket]
        times = [one.row["time"] for one in here]
        buckets.append(
            {
                "bucket": bucket,
                "bucket_of_pool": here[0].pooled,
                "first": min(times).isoformat(),
                "last": max(times).isoformat(),
                "images": dict(Counter(one.label for one in here)),
            }
        )
    looked_at, rows = accepted["candidates"], pool.get("kept")
    return {
        "name": name,
        "images": len(samples),
        "classes": list(classes),
        "buckets": buckets,
        "authors": len({one.row["author"] for one in samples}),
        "licences": dict(Counter(one.licence.name or "none given" for one in samples)),
        "mind": _problems(samples),
        "left_out": dict(Counter(reason for _, reason in left_out)),
        "label_error": accepted["label_error"],
        "krippendorff_alpha": accepted["krippendorff_alpha"],
        "cost": {
            "votes": accepted["votes"],
            "annotators": accepted["annotators"],
            "hours": accepted["hours"],
            "price": None if price is None else round(price * accepted["votes"], 2),
            "images_looked_at": looked_at,
            "images_in_the_pool": rows,
            "share_looked_at": None if not rows else looked_at / rows,
        },
        "stages": list(lineage),
    }


def _problems(samples: Sequence[Exported]) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for one in samples:
        if one.licence.problem:
            found.setdefault(one.licence.problem, []).append(one.id)
    return {why: {"images": len(ids), "ids": ids} for why, ids in sorted(found.items())}


def readme(card: Mapping[str, Any], layout: str, kinds: Sequence[str]) -> str:
    """Return the card as a page to read."""
    cost, error = card["cost"], card["label_error"]
    lines = [
        f"# {card['name']}",
        "",
        f"{card['images']:,} labelled images of {len(card['classes'])} classes in "
        f"{len(card['buckets'])} buckets of time, in the {layout} layout of CLEAR. "
        "`stream.parquet` is the same as one table.",
        "",
        "```sh",
        "onward run clear --data . --method nap",
        "onward run yours --data stream.parquet --image-column path --id-column id",
        "```",
        "",
        "## How right it is",
        "",
        _error_words(error),
        _agreement_words(card["krippendorff_alpha"]),
        "",
        "## What it cost",
        "",
        f"{cost['votes']:,} votes of {cost['annotators']:,} people, {cost['hours']:,.1f} hours"
        + (f", {cost['price']:,.2f} in all" if cost["price"] is not None else "")
        + f". They looked at {cost['images_looked_at']:,} images"
        + (
            f" of {cost['images_in_the_pool']:,} ({cost['share_looked_at']:.2%})."
            if cost["images_in_the_pool"]
            else "."
        ),
        "",
        "## How it was made",
        "",
        *(f"1. *{one['kind']}*: {_STAGES.get(one['kind'], '')}" for one in card["stages"]),
        "",
        "Options and counts of each are in `card.json`.",
        "",
        "## Images",
        "",
        "| bucket | in the pool | from | to | images |",
        "|---|---|---|---|---|",
        *(
            f"| {b['bucket']} | {b['bucket_of_pool']} | {b['first'][:10]} | {b['last'][:10]} | "
            f"{sum(b['images'].values()):,} |"
            for b in card["buckets"]
        ),
        "",
        *([f"Features: {', '.join(kinds)}.", ""] if kinds else []),
        *(f"Left out: {n:,}, {why}.  " for why, n in card["left_out"].items()),
        "## Licences",
        "",
        "Every image belongs to its author, who is named with its licence in `attribution.csv`.",
        "",
        *(f"- {name}: {number:,}" for name, number in sorted(card["licences"].items())),
        *(f"- Mind: {one['images']:,} with {why}." for why, one in card["mind"].items()),
        "",
    ]
    return "\n".join(lines)


def _error_words(error: Mapping[str, float] | None) -> str:
    if error is None:
        return "How many labels are wrong could not be estimated."
    return (
        f"Estimated from the votes, {error['estimate']:.1%} of the labels are wrong: between "
        f"{error['low']:.1%} and {error['high']:.1%} with {error['level']:.0%} certainty, if "
        "annotators err independently of each other."
    )


def _agreement_words(alpha: float | None) -> str:
    return "" if alpha is None else f"Agreement of the annotators, Krippendorff's α: {alpha:.3f}."
