"""The methods table for other places than a terminal: Markdown, LaTeX, CSV and plain data."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from onward.report.numbers import MISSING, finite
from onward.report.sheet import Sheet, sheets
from onward.report.summary import COSTS, DEVICE_COSTS, Measure, Summary
from onward.results.schema import RunSpec

Format = Literal["table", "markdown", "latex", "csv", "json"]
"""What ``onward show`` prints; a table is for the terminal."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "·": r"\textperiodcentered{}",
    MISSING: "--",
}


def markdown(summaries: Sequence[Summary]) -> str:
    """Return a Markdown table for each setting, below its title.

    Bold is a value that the paired test finds better than every other method's.
    """
    return "\n\n".join("\n".join(_markdown(sheet)) for sheet in sheets(summaries))


def _markdown(sheet: Sheet) -> Iterator[str]:
    yield f"**{escape_markdown(' · '.join(sheet.title))}**"
    yield ""
    yield _line(["method", *sheet.headings])
    yield _line([":--", *["--:"] * len(sheet.headings)])
    for item in sheet.summaries:
        cells = [item.metrics[name].percent() for name in sheet.metrics]
        best = [sheet.best[name] is item for name in sheet.metrics]
        shown = [f"**{cell}**" if bold else cell for cell, bold in zip(cells, best, strict=True)]
        costs = [sheet.cost_text(item, name) for name in sheet.costs]
        yield _line([escape_markdown(item.label), *shown, *costs])
    yield ""
    yield f"{sheet.note().capitalize()}."


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is; an underscore inside a word is left alone.

    Examples
    --------
    >>> print(escape_markdown("cumulative_more <b>|x|</b> _y_"))
    cumulative_more \<b\>\|x\|\</b\> \_y\_
    """
    text = re.sub(r"([\\`*\[\]<>|&~$])", r"\\\1", text)
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def latex(summaries: Sequence[Summary]) -> str:
    """Return a LaTeX table for each setting, in the manner of booktabs.

    Bold is a value that the paired test finds better than every other method's.
    """
    tables = ["\n".join(_latex(sheet)) for sheet in sheets(summaries)]
    return "\n\n".join([r"% \usepackage{booktabs}, and \usepackage[T1]{fontenc}", *tables])


def _latex(sheet: Sheet) -> Iterator[str]:
    words = [*sheet.title[:-1], f"{sheet.title[-1]}: {sheet.note()}."]
    yield r"\begin{table}[t]"
    yield r"\centering"
    yield rf"\caption{{{escape_latex(', '.join(words))}}}"
    yield rf"\label{{tab:{re.sub('[^a-z0-9]+', '-', ' '.join(sheet.title).lower()).strip('-')}}}"
    yield rf"\begin{{tabular}}{{l{'r' * len(sheet.headings)}}}"
    yield r"\toprule"
    yield " & ".join(["method", *map(escape_latex, sheet.headings)]) + r" \\"
    yield r"\midrule"
    for item in sheet.summaries:
        cells = [
            _latex_value(item.metrics[name], bold=sheet.best[name] is item)
            for name in sheet.metrics
        ]
        costs = [sheet.cost_text(item, name) for name in sheet.costs]
        yield " & ".join([escape_latex(item.label), *cells, *costs]) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _latex_value(measure: Measure, *, bold: bool) -> str:
    if not measure.known:
        return "--"
    number = measure.percent().replace("±", r"\pm")
    return rf"$\mathbf{{{number}}}$" if bold else f"${number}$"


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    Examples
    --------
    >>> print(escape_latex(r"er(memory=50%) #a1 \x_1"))
    er(memory=50\%) \#a1 \textbackslash{}x\_1
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)


def as_csv(summaries: Sequence[Summary]) -> str:
    """Return the methods table as CSV: a row per method, numbers in the unit of the scores.

    The settings share one table: a metric that a protocol leaves empty is empty there.
    """
    metrics = list(dict.fromkeys(name for item in summaries for name in item.metrics))
    spent = [name for name in DEVICE_COSTS if any(name in item.cost for item in summaries)]
    rows = [_csv_row(item, metrics, [*COSTS, *spent]) for item in summaries]
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().removesuffix("\n")


def _csv_row(item: Summary, metrics: Sequence[str], spent: Sequence[str]) -> dict[str, Any]:
    row = {}
    for name in metrics:
        measure = item.metrics.get(name, Measure((math.nan,)))
        row[name] = finite(measure.mean)
        row[f"{name}_deviation"] = finite(measure.deviation)
    costs = {name: finite(item.cost.get(name, math.nan)) for name in spent}
    return {**who(item.spec, item.label), "seeds": len(item.seeds), **row, **costs}


def who(spec: RunSpec, label: str) -> dict[str, Any]:
    """Return what tells the rows of a flat table apart, but for their seeds."""
    return {
        "benchmark": spec.benchmark,
        "data": spec.data,
        "data_digest": spec.data_digest,
        "protocol": spec.protocol.get("name"),
        "recipe": spec.recipe_name,
        "limits": as_text(spec.limits),
        "method": spec.method,
        "label": label,
        "options": as_text(spec.method_options),
    }


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
            "matrix": [[finite(cell) for cell in row] for row in item.matrix.tolist()],
            "static": {name: _plain(measure) for name, measure in item.static.items()},
            "cost": {name: finite(value) for name, value in item.cost.items()},
        }
        for item in summaries
    ]


def _plain(measure: Measure) -> dict[str, Any]:
    return {
        "mean": finite(measure.mean),
        "deviation": finite(measure.deviation),
        "values": [finite(value) for value in measure.values],
    }


def as_text(values: dict[str, Any]) -> str:
    """Return settings as JSON, the same text for the same settings."""
    return json.dumps(values, sort_keys=True, ensure_ascii=False)
