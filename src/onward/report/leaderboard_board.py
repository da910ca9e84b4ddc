"""A board as a table: submitted entries by division, published rows by edition."""

import math
from collections.abc import Mapping
from typing import Any

from onward.errors import first_few
from onward.metrics.paired import Verdict
from onward.report.comparison import decided_best
from onward.report.leaderboard import Board, Division, Entry, memory_words
from onward.report.published import PublishedRow, PublishedValue
from onward.report.summary import Measure
from onward.report.words import NOT_METERED, metric_words

SUBMITTED, PUBLISHED = "submitted", "published"
_AS_PUBLISHED = "as published"
_UNSURE = {"note": "targets not verified"}


def board_table(board: Board, pages: Mapping[str, str]) -> dict[str, Any]:
    """Return what ``templates/table.js`` draws.

    Every division and every published edition is a group of its own, and groups are sorted each
    for itself: whatever a reader sorts by, emoji never stand among official data.

    Parameters
    ----------
    board
        What is shown.
    pages
        The address of each entry's page, by `onward.results.schema.RunSpec.without_seed`.
    """
    metrics = board.metrics
    editions = list(dict.fromkeys(row.data for row in board.published))
    rows, groups = [], []
    for division in board.divisions:
        groups.append(_heading(division))
        best = _best(division, metrics)
        for entry in division.entries:
            page = pages[entry.summary.spec.without_seed()]
            row = _submitted(entry, division, metrics, page)
            row["best"] = best.get(entry.summary.label, [])
            rows.append({**row, "group": len(groups)})
    for edition in editions:
        mine = [row for row in board.published if row.data == edition]
        papers = "; ".join(dict.fromkeys(row.paper for row in mine))
        groups.append(f"published, not ranked: {edition} · {papers}")
        rows += [{**_published(row, metrics), "group": len(groups)} for row in mine]
    return {
        "label": f"{board.benchmark}, {board.protocol}: entries and published rows",
        "columns": _columns(metrics),
        "rows": rows,
        "groups": groups,
        "words": ["row", "rows"],
    }


def _heading(division: Division) -> str:
    if division.first is None:
        return f"not ranked: {division.words()}"
    if division.ranked_on is None:
        return f"ranked here: {division.words()}"
    seeds = first_few(division.ranked_on, most=10)
    return f"ranked here, on the seeds that all have ({seeds}): {division.words()}"


def _columns(metrics: list[str]) -> list[dict[str, Any]]:
    measured = [
        {"heading": metric_words(name)[0], "note": metric_words(name)[1], "kind": "measure"}
        for name in metrics
    ]
    hidden = [
        {"heading": heading, "kind": "text", "filter": True, "hidden": True}
        for heading in ("data", "recipe", "budget", "samples kept", "from")
    ]
    return [
        {"heading": "method", "kind": "text"},
        {"heading": "rank", "kind": "number", "digits": 0, "missing": "not ranked"},
        *measured,
        {
            "heading": "to the first",
            "note": "points, over shared seeds",
            "kind": "measure",
            "signed": True,
            "missing": "nothing to compare",
        },
        {"heading": "seeds", "kind": "number", "digits": 0},
        {"heading": "CPU", "note": "seconds a run", "kind": "number"},
        {
            "heading": "compute",
            "note": "G MACs a run",
            "kind": "number",
            "missing": NOT_METERED,
        },
        {"heading": "stored", "note": "samples", "kind": "number", "digits": 0},
        *hidden,
    ]


def _submitted(entry: Entry, division: Division, metrics: list[str], page: str) -> dict[str, Any]:
    summary = entry.summary
    cost = summary.cost
    behind = None
    if entry.behind is not None:
        behind = [*_numbers(entry.behind.gain), _decided(entry.behind.verdict)]
    return {
        "cells": [
            {"text": summary.label, "href": f"../{page}", **({} if entry.verified else _UNSURE)},
            entry.rank,
            *(_measure(summary.metrics.get(name)) for name in metrics),
            behind,
            len(summary.seeds),
            cost["cpu_seconds"],
            None if math.isnan(cost["macs"]) else cost["macs"] / 1e9,
            cost["stored_samples"],
            division.data,
            division.recipe,
            division.budget,
            memory_words(summary),
            SUBMITTED,
        ]
    }


def _decided(verdict: Verdict) -> str:
    """Say as short as can be whether a difference is decided."""
    if verdict.same_rows:
        return "one split for all seeds"
    if verdict.answer == "cannot tell" and verdict.needed is not None:
        return f"needs {verdict.needed} seeds"
    return f"p = {verdict.p:.2g}"


def _published(row: PublishedRow, metrics: list[str]) -> dict[str, Any]:
    nothing = (None,) * 5
    filters = (row.data, *(_AS_PUBLISHED,) * 3, PUBLISHED)
    values = (_value(row.values.get(name)) for name in metrics)
    method = {"text": row.label, "note": f"published · {row.table}"}
    return {"cells": [method, None, *values, *nothing, *filters], "class": PUBLISHED}


def _measure(measure: Measure | None) -> list[float | None] | None:
    return None if measure is None or not measure.known else _numbers(measure)


def _numbers(measure: Measure) -> list[float | None]:
    spread = measure.deviation
    return [100 * measure.mean, None if math.isnan(spread) else 100 * spread]


def _value(value: PublishedValue | None) -> list[Any] | None:
    if value is None:
        return None
    spread = None if value.deviation is None else 100 * value.deviation
    # Where the text that we have is damaged, a number is marked.
    return [100 * value.mean, spread, *([] if value.certain else ["in doubt"])]


def _best(division: Division, metrics: list[str]) -> dict[str, list[int]]:
    """Return the columns in which an entry is decided to be best, by its label."""
    summaries = [entry.summary for entry in division.entries if entry.verified]
    found: dict[str, list[int]] = {}
    for at, name in enumerate(metrics):
        best = decided_best(summaries, name) if name in division.metrics else None
        if best is not None:
            found.setdefault(best.label, []).append(at + 2)
    return found
