"""Summaries for the terminal, and as plain data."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from onward.report.comparison import decided_best
from onward.report.summary import Measure, Summary, by_setting, shown_metrics
from onward.report.words import metric_words


def tables(summaries: Sequence[Summary]) -> list[Table]:
    """Return one `table` per setting: data, protocol, recipe and budget."""
    return [table(members) for members in by_setting(summaries)]


def table(summaries: Sequence[Summary]) -> Table:
    """Lay the methods of one setting out for a terminal of 80 columns.

    A metric that the protocol leaves empty has no column. Bold is a value that the paired test
    finds better than every other method's.

    Parameters
    ----------
    summaries
        One setting's, as `onward.report.summary.by_setting` returns them.
    """
    spec = summaries[0].spec
    parts = [spec.benchmark, spec.data, summaries[0].protocol, f"{spec.recipe_name} recipe"]
    parts += [f"{name} {value:,.15g}" for name, value in spec.limits.items()]
    shown = shown_metrics(summaries)
    best = {name: decided_best(summaries, name) for name in shown}
    result = Table(
        title=Text(" · ".join(parts), style="bold"),
        title_justify="left",
        caption=Text(_caption(summaries, decided=any(best.values())), style="dim"),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    result.add_column("method", overflow="fold", max_width=18)
    for name in shown:
        heading = metric_words(name)[0].replace("-", " ").replace(" ", "\n")
        result.add_column(heading, justify="right", no_wrap=True)
    result.add_column("CPU\nseconds", justify="right", no_wrap=True)
    result.add_column("stored\nsamples", justify="right", no_wrap=True)
    for item in summaries:
        cells = [
            # Without blanks round the sign, all five metrics fit into 80 columns.
            Text(
                item.metrics[name].percent().replace(" ± ", "±"),
                style="bold" if best[name] is item else "",
            )
            for name in shown
        ]
        cpu, stored = f"{item.cost['cpu_seconds']:.2f}", f"{item.cost['stored_samples']:,.0f}"
        result.add_row(Text(item.label), *cells, cpu, stored)
    return result


def to_json(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """Return the summaries as plain data: numbers in the unit of the scores, None for empty."""
    return [
        {
            "benchmark": item.spec.benchmark,
            "data": item.spec.data,
            "data_digest": item.spec.data_digest,
            "protocol": item.protocol,
            "recipe": item.spec.recipe_name,
            "method": item.spec.method,
            "label": item.label,
            "options": item.spec.method_options,
            "limits": item.spec.limits,
            "periods": item.spec.periods,
            "seeds": list(item.seeds),
            "metrics": {name: _plain(measure) for name, measure in item.metrics.items()},
            "matrix": [[_number(cell) for cell in row] for row in item.matrix.tolist()],
            "static": {name: _plain(measure) for name, measure in item.static.items()},
            "cost": item.cost,
        }
        for item in summaries
    ]


def _caption(summaries: Sequence[Summary], *, decided: bool) -> str:
    counts = sorted({len(item.seeds) for item in summaries})
    if counts == [1]:
        return "percent; one seed, so there is no deviation"
    number = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    text = f"percent, mean ± one standard deviation over {number} seeds"
    return f"{text}; bold: better than every other by the paired test" if decided else text


def _plain(measure: Measure) -> dict[str, Any]:
    return {
        "mean": _number(measure.mean),
        "deviation": _number(measure.deviation),
        "values": [_number(value) for value in measure.values],
    }


def _number(value: float | np.float64) -> float | None:
    return None if math.isnan(value) else float(value)
