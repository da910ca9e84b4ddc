"""What only those can measure who drew the pool: estimates beside the truth."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq

from onward.curate.demo.answering import PASS_MARK, given_answers
from onward.curate.demo.art import CONCEPTS, true_label_error, true_pictures
from onward.curate.demo.size import Folders
from onward.curate.review.campaign import open_campaign
from onward.curate.review.dashboard import overview
from onward.report.summary import summarise
from onward.results.record import RunRecord

VOTES_PER_IMAGE = 3


def measured(
    at: Folders, counts: Mapping[str, Any], records: Sequence[RunRecord]
) -> dict[str, Any]:
    """Return precision, people, label error, cost and scores, as JSON holds them."""
    candidates = pq.read_table(at.candidates / "candidates.parquet")
    labelled = pq.read_table(at.accepted / "labelled.parquet")
    estimate = counts["accept"]["label_error"]
    with open_campaign(at.campaign) as campaign:
        seen = overview(campaign)
    truth = {one.id: one.shows for one in true_pictures(at.art, candidates)}
    return {
        "precision": _precision(candidates.to_pylist(), truth),
        "agreement": {
            "krippendorff_alpha": _known(seen.alpha_single),
            "of_sets": _known(seen.alpha_sets),
        },
        "annotators": _people(seen.people, at, truth),
        "label_error": {"true": true_label_error(at.art, labelled), "estimated": estimate},
        "cost": _cost(counts),
        "run": {
            one.label: {
                name: {
                    "mean": _known(one.metrics[name].mean),
                    "deviation": _known(one.metrics[name].deviation),
                }
                for name in ("next_domain", "forward_transfer")
            }
            for one in summarise(records)
        },
    }


def _known(value: float) -> float | None:
    """Return a number, or None where there is none: JSON has no word for that."""
    return None if math.isnan(value) else value


def _precision(
    rows: Sequence[Mapping[str, Any]], truth: Mapping[str, frozenset[str]]
) -> dict[str, Any]:
    """Return how many candidates are right, by concept and bucket."""
    right: dict[str, Counter[int]] = defaultdict(Counter)
    total: dict[str, Counter[int]] = defaultdict(Counter)
    for row in rows:
        shows = truth[row["id"]] or {CONCEPTS.background}
        total[row["concept"]][row["bucket"]] += 1
        right[row["concept"]][row["bucket"]] += shows == {row["concept"]}
    names = [*(one.name for one in CONCEPTS.found), CONCEPTS.background]
    return {
        name: {
            "precision": right[name].total() / total[name].total(),
            "buckets": {
                str(bucket): right[name][bucket] / total[name][bucket]
                for bucket in sorted(total[name])
            },
        }
        for name in names
        if total[name]
    }


def _people(rows: Sequence[Any], at: Folders, truth: Mapping[str, frozenset[str]]) -> list[Any]:
    """Return each annotator: how often right in truth, and how often on the known answers."""
    right: dict[str, list[bool]] = defaultdict(list)
    for one in given_answers(at.campaign):
        right[one.annotator].append(one.labels == truth[one.id])
    return [
        {
            "name": row.name,
            "answered": row.answered,
            "counted": row.standing,
            "seconds": row.seconds,
            "true": sum(right[row.name]) / len(right[row.name]) if right[row.name] else None,
            "gold": {"right": row.gold.good, "of": row.gold.of},
            "interval": list(row.gold.interval),
            "same_again": {"right": row.same.good, "of": row.same.of},
            "revoked": row.revoked,
        }
        for row in sorted(rows, key=lambda row: row.name)
    ]


def _cost(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers that were asked for, beside those that the whole pool would take."""
    asked = counts["review"]["kept"]
    whole = VOTES_PER_IMAGE * counts["pool"]["kept"]
    return {
        "answers": asked,
        "answers_for_the_pool": whole,
        "share": asked / whole,
        "saved": 1 - asked / whole,
        "pass_mark": PASS_MARK,
    }
