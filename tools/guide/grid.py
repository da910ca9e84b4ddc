"""The page of every method on every benchmark."""

import itertools

from guide import docstring
from guide.writing import page, section, table
from onward.benchmarks import BENCHMARKS
from onward.grid import grid
from onward.methods import METHODS


def grid_page() -> dict[str, str]:
    """Return the page of every method on every benchmark."""
    cells, reasons, rows = grid(), dict[str, int](), []
    for method, row in itertools.groupby(cells, lambda found: found.method):
        marks = [
            '<span class="runs" title="runs">●</span>'
            if found.reason is None
            else f"[{(n := reasons.setdefault(found.reason, len(reasons) + 1))}](#reason-{n})"
            for found in row
        ]
        named = f"[`{method}`](methods/{method}.md)"
        rows.append([named, *marks, docstring.markdown(METHODS[method].summary)])
    heads = [f"[{name}](benchmarks/{name}.md)" for name in BENCHMARKS]
    running = sum(found.runs for found in cells)
    listed = [f'{n}. <span id="reason-{n}"></span>{reason}' for reason, n in reasons.items()]
    return {
        "grid.md": page(
            "---\nhide:\n  - navigation\n  - toc\n---",
            "# The grid",
            f"Every method on every benchmark, in its usual protocol: **{running} of {len(cells)} "
            f"run, {running / len(cells):.0%}**. Nobody keeps this table. A method says what it "
            "needs, a task kind, a protocol and a benchmark say what they lack "
            "([`onward.fit`](../src/onward/fit.py)), and the rest follows. A dot: it runs. A "
            "number: the reason below. In a terminal: `onward list grid`.",
            table(["method", *heads, "what it does"], rows),
            section("Why not", "\n".join(listed)),
        )
    }
