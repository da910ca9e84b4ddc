"""The page of one entry: its runs, what they scored and spent, and how to make them again."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from onward.errors import first_few
from onward.report.commands import commands
from onward.report.figures import score_limits
from onward.report.leaderboard import Division, Entry
from onward.report.numbers import MISSING, percent
from onward.report.provenance import environments, readable_card
from onward.report.style import MAP, ink_on
from onward.report.summary import DEVICE_COSTS, Summary
from onward.report.words import amount, metric_words
from onward.results.predictions import POOLED
from onward.results.record import RunRecord

_COSTS = {
    "cpu_seconds": ("CPU seconds", 1),
    "wall_seconds": ("seconds by the clock", 1),
    "device_seconds": ("seconds on the device", 1),
    "peak_memory_bytes": ("most memory, MB", 1e-6),
    "peak_device_memory_bytes": ("most memory of the device, MB", 1e-6),
    "samples": ("samples read", 1),
    "iterations": ("optimiser steps", 1),
    "macs": ("forward multiply-accumulates", 1),
    "parameters": ("model parameters", 1),
    "stored_samples": ("samples kept", 1),
}


def entry_content(entry: Entry, division: Division) -> dict[str, Any]:
    """Return what ``templates/leaderboard_entry.html.j2`` shows, but for addresses."""
    summary = entry.summary
    spec = summary.spec
    return {
        "title": summary.label,
        "division": division,
        "standing": _standing(entry, division),
        "metrics": _metrics(summary, division),
        "matrix": _matrix(summary, division),
        "static": _static(summary),
        "runs": _runs(summary, division),
        "costs": _costs(summary),
        "commands": commands(record.spec for record in summary.records),
        "spec": spec.model_copy(update={"seed": 0}).model_dump_json(indent=1),
        "card": readable_card(summary.records),
        "machines": environments(summary.records),
    }


def _standing(entry: Entry, division: Division) -> str:
    """Say in a sentence where an entry stands, and how sure that is."""
    if not entry.verified:
        return (
            "Not ranked, targets not verified: no key is known that says what it had to be tested "
            "on. Whoever has the data can make one, with onward data key."
        )
    if entry.rank is None:
        return "Not ranked: the metric that its division is ranked by was not measured."
    name = metric_words(division.metrics[0])[0]
    score = entry.summary.metrics[division.metrics[0]].percent()
    count = division.ranked
    place = f"Rank {entry.rank} of {count} by {name}: {score} %."
    if count == 1:
        return f"The only ranked entry of its division so far: {name} {score} %."
    if division.ranked_on is not None:
        seeds = first_few(division.ranked_on, most=10)
        place += f" Ranks are by the seeds that all entries have: {seeds}."
    if entry.behind is None:
        sure = (
            "Every other entry is decided to be behind"
            if division.decided
            else ("It has the highest mean; that is not decided against every other entry")
        )
        return f"{place} {sure}."
    return f"{place} Against the first, {entry.behind.baseline}: {entry.behind.phrase()}."


def _metrics(summary: Summary, division: Division) -> list[dict[str, Any]]:
    return [
        {
            "name": metric_words(name)[0],
            "words": metric_words(name)[1],
            "value": summary.metrics[name].percent(),
            "seeds": [percent(value) for value in summary.metrics[name].values],
        }
        for name in division.metrics
    ]


def _matrix(summary: Summary, division: Division) -> list[dict[str, Any]]:
    """Return the rows of the mean score matrix, coloured on the scale of the whole division."""
    if not np.isfinite(summary.matrix).any():
        return []
    low, high = score_limits([entry.summary for entry in division.entries])
    shades = mpl.colormaps[MAP]
    rows = []
    for period, scores in zip(summary.spec.periods, summary.matrix, strict=True):
        cells: list[dict[str, str] | None] = []
        for score in scores:
            if np.isnan(score):
                cells.append(None)
                continue
            colour = shades((score - low) / max(high - low, 1e-9))
            paper, ink = to_hex(colour), ink_on(colour)
            cells.append({"text": percent(score), "paper": paper, "ink": ink})
        rows.append({"name": period, "cells": cells})
    return rows


def _static(summary: Summary) -> list[dict[str, Any]]:
    """Return the mean score on each test that belongs to no period, after each period."""
    records = summary.records
    tests = [
        test
        for test in records[0].static_tests
        if all(test in record.static_tests for record in records)
    ]
    return [
        {
            "name": "all periods so far" if test == POOLED else test,
            "scores": [
                percent(value)
                for value in np.mean([record.static(test) for record in records], axis=0)
            ],
        }
        for test in tests
    ]


def _runs(summary: Summary, division: Division) -> list[dict[str, Any]]:
    names = division.metrics[:1]
    return [
        {
            "seed": record.spec.seed,
            "hash": record.hash,
            "score": percent(summary.metrics[names[0]].values[at]) if names else MISSING,
            "cpu": f"{_spent(record, 'cpu_seconds'):,.1f}",
            "decisions": sum(score.samples for score in record.scores),
        }
        for at, record in enumerate(summary.records)
    ]


def _spent(record: RunRecord, name: str) -> float:
    found = getattr(record.cost, name, None)
    return float("nan") if found is None else float(found)


def _costs(summary: Summary) -> list[tuple[str, str]]:
    return [
        (words, amount(unit * float(np.mean([_spent(record, name) for record in summary.records]))))
        for name, (words, unit) in _COSTS.items()
        if name not in DEVICE_COSTS or name in summary.cost
    ]
