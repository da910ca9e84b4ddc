"""The table of a setting: scores, comparisons and cost of each method, and published rows."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onward.report.comparison import Comparison, against, decided_best
from onward.report.published import PublishedRow
from onward.report.style import COLOURS
from onward.report.summary import Measure, Summary, shown_metrics
from onward.report.verdict import BASELINE
from onward.report.words import NOT_METERED, decision, metric_words, seeds, unit, votes

_PUBLISHED = "published, on other data and not ranked among runs: {}"
# Names of static tests beyond these do not fit beside the rest; exports have them all.
_MOST_TESTS = 6
# More seeds than this, nobody will run: the two are equal for all practical purposes.
_ENDLESS = 1000


def results_table(
    group: Sequence[Summary],
    numbers: Mapping[str, int],
    palette: Mapping[str, str],
    published: Sequence[PublishedRow] = (),
) -> dict[str, Any]:
    """Return the table of one setting, as ``templates/table.js`` takes it.

    Parameters
    ----------
    group
        The methods of one setting.
    numbers
        What figures know each label by.
    palette
        The colour of those that figures show.
    published
        What papers say under this protocol.
    """
    shown = shown_metrics(group)
    tests = sorted({name for item in group for name in item.static})[:_MOST_TESTS]
    best = {name: decided_best(group, name) for name in shown}
    compared = against(group, BASELINE, shown[0]) if shown else {}
    metered = [macs for item in group if not math.isnan(macs := item.cost["macs"])]
    size, word = unit(max(metered, default=0.0))
    columns: list[dict[str, Any]] = [{"heading": "method", "kind": "text"}]
    columns += [_measured(*metric_words(name)) for name in shown]
    columns += [_measured(test, "static test, last model") for test in tests]
    if compared:
        note = f"{metric_words(shown[0])[0]}, points, paired"
        columns.append({**_measured(f"against {BASELINE}", note), "signed": True})
    on_device = any("device_seconds" in item.cost for item in group)
    columns += [
        _number("CPU", "seconds", 2),
        *([_number("device", "seconds", 2)] if on_device else []),
        {**_number("arithmetic", f"{word} multiply-adds".strip(), 2), "missing": NOT_METERED},
        _number("stored", "samples", 0),
        _number("seeds", "", 0),
    ]
    rows: list[dict[str, Any]] = [
        {
            "cells": [
                {"text": item.label, "note": _said(item)},
                *(_cell(item.metrics[name]) for name in shown),
                *(_cell(item.static.get(test)) for test in tests),
                *([_gain(compared.get(item.label))] if compared else []),
                *_cost(item, size, on_device=on_device),
                len(item.seeds),
            ],
            "best": [1 + at for at, name in enumerate(shown) if best[name] is item],
            "method": numbers[item.label],
            **_coloured(palette.get(item.label)),
        }
        for item in group
    ]
    published = sorted(published, key=_beside_the_text)
    papers = list(dict.fromkeys(_paper(row) for row in published))
    rows += [
        _published(row, shown, len(columns)) | {"group": 1 + papers.index(_paper(row))}
        for row in published
    ]
    spec: dict[str, Any] = {
        "label": f"Results, {group[0].protocol}",
        "columns": columns,
        "rows": rows,
        # What papers printed are rows, and no methods of ours.
        "words": ["row", "rows"] if published else ["method", "methods"],
        "groups": [_PUBLISHED.format(paper) for paper in papers],
        "folded": True,  # papers have ten times the rows of most folders
    }
    if shown:
        spec["sort"] = {"column": 1, "descending": True}
    if published:
        columns.append({"heading": "from", "kind": "text", "filter": True, "hidden": True})
        for row in rows:
            row["cells"].append("papers" if row.get("group") else "runs")
    return spec


def _measured(heading: str, note: str) -> dict[str, Any]:
    unbroken = heading.replace("-", "\N{NON-BREAKING HYPHEN}")
    return {"heading": unbroken, "note": note, "kind": "measure"}


def _number(heading: str, note: str, digits: int) -> dict[str, Any]:
    return {"heading": heading, "note": note, "kind": "number", "digits": digits}


def _said(item: Summary) -> str:
    """Mark what rests on one seed: a number without deviation is easily read as a certain one."""
    return "1 seed: no deviation" if len(item.seeds) == 1 else ""


def _cell(measure: Measure | None) -> list[float | None] | None:
    if measure is None or not measure.known:
        return None
    spread = measure.deviation
    return [round(100 * measure.mean, 3), None if np.isnan(spread) else round(100 * spread, 3)]


def _gain(comparison: Comparison | None) -> list[Any] | None:
    if comparison is None:
        return None
    wanted, answer = comparison.more_seeds, comparison.verdict.answer
    if not any(comparison.gain.values):
        return [*(_cell(comparison.gain) or []), votes(comparison.verdict)]
    if answer != "cannot tell":
        said = f"{answer}, {decision(comparison.verdict)}"
    elif wanted is None or wanted > _ENDLESS:
        said = answer
    else:
        said = f"{answer}: ~{seeds(wanted, more=True)}"
    return [*(_cell(comparison.gain) or []), votes(comparison.verdict), said]


def _cost(item: Summary, size: float, *, on_device: bool) -> list[float | None]:
    spent = item.cost
    macs = None if math.isnan(spent["macs"]) else spent["macs"] / size
    # Rounded once, where they are written: twice, they would differ from what the terminal says.
    device = [spent.get("device_seconds")] if on_device else []
    return [spent["cpu_seconds"], *device, macs, spent["stored_samples"]]


def _coloured(colour: str | None) -> dict[str, str]:
    return {} if colour is None else {"colour": f"--m{COLOURS.index(colour)}"}


def _paper(row: PublishedRow) -> str:
    return f"{row.paper}; {row.data}"


def _beside_the_text(row: PublishedRow) -> bool:
    """Sort the tables of a paper itself before those of its supplement."""
    return not row.table.rpartition("/")[2].startswith("table")


def _published(row: PublishedRow, shown: Sequence[str], columns: int) -> dict[str, Any]:
    cells: list[Any] = [{"text": row.label}]
    for name in shown:
        value = row.values.get(name)
        if value is None:
            cells.append(None)
            continue
        spread = None if value.deviation is None else round(100 * value.deviation, 3)
        doubt = [] if value.certain else ["in doubt"]
        cells.append([round(100 * value.mean, 3), spread, *doubt])
    cells += [None] * (columns - len(cells))
    return {"cells": cells, "class": "published"}
