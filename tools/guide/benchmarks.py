"""Pages of benchmarks: from the catalogue, their cards and their docstrings."""

import inspect
import sys
from collections.abc import Mapping
from typing import Any

from guide import docstring
from guide.examples import run_command
from guide.sources import ROOT
from guide.writing import block, cell, defaults, options, page, section, table
from onward.benchmarks import BENCHMARKS
from onward.benchmarks.listed import Listed
from onward.configs import TABLES
from onward.errors import OnwardError
from onward.grid import Cell, grid
from onward.types import Card

_WITHOUT_DATA = {"frames": 150}
_MANY = 12
# What a page's own example takes for granted, for whoever runs it.
_GIVEN = {"yours": "<!-- given: plain/table.csv -->"}


def benchmark_pages() -> dict[str, str]:
    """Return a page for every benchmark, and one that lists them."""
    cells = grid()
    found = {f"benchmarks/{name}.md": _benchmark(it, cells) for name, it in BENCHMARKS.items()}
    rows = [
        [f"[`{name}`]({name}.md)", it.summary, f"`{it.task.name}`", "; ".join(it.data)]
        for name, it in BENCHMARKS.items()
    ]
    found["benchmarks/index.md"] = page(
        "# Benchmarks",
        "Each is a stream of periods with a protocol: what is shown when, and what is tested when. "
        "All but `yours` run at once, on data that is embedded or drawn; all take official data "
        "or your own from a folder.",
        table(["benchmark", "the question that it asks", "task kind", "data"], rows),
    )
    return found


def _benchmark(listed: Listed, cells: list[Cell]) -> str:
    load, module = docstring.read(listed.load), docstring.read(sys.modules[listed.load.__module__])
    own = [found for found in cells if found.benchmark == listed.name]
    running = [f"[`{c.method}`](../methods/{c.method}.md)" for c in own if c.runs]
    others = [
        [f"[`{c.method}`](../methods/{c.method}.md)", c.reason or ""] for c in own if c.reason
    ]
    protocols = [
        [f"`{name}`" + (" (usual)" if number == 0 else ""), it.summary, _limits(it.limits)]
        for number, (name, it) in enumerate(listed.protocols.items())
    ]
    family = listed.name.split("-")[0]
    tables = [
        [f"`{name}`", it.title] for name, it in TABLES.items() if name.startswith(f"{family}/")
    ]
    return page(
        f"# {listed.name}",
        f"*{listed.summary}*",
        section("What it is", f"**{module.summary}**", *module.body, load.summary, *load.body),
        section("Why", module.why),
        section("Example", _example(listed)),
        section("What there is to choose", _choices(listed)),
        section("Protocols", table(["protocol", "what is shown and tested", "limits"], protocols)),
        section("Options", options(load, defaults(listed.load), skip=("data", "protocol"))),
        _card(listed),
        section("Known problems", module.problems),
        section(
            "Methods that run here", ", ".join(running), table(["not here", "because"], others)
        ),
        section(
            "Published tables",
            f"`onward reproduce {family}/…` puts ours beside theirs: "
            "[how](../howto/reproducing.md)."
            if tables
            else "",
            table(["table", "what it shows"], tables),
        ),
        _guides(family),
    )


def _example(listed: Listed) -> str:
    shown = block("sh", run_command(listed.name, "finetune"))
    return f"{_GIVEN[listed.name]}\n{shown}" if listed.name in _GIVEN else shown


def _choices(listed: Listed) -> str:
    rows = [
        [
            "data",
            "; ".join(listed.data),
            f"`{listed.usual}`" if listed.usual in listed.data else "",
        ],
        ["recipe", ", ".join(f"`{name}`" for name in listed.recipes), f"`{listed.recipes[0]}`"],
        ["task kind", f"[`{listed.task.name}`](../reference/tasks.md#{listed.task.name})", ""],
        ["headline", f"`{listed.task.headline}`", ""],
    ]
    return table(["", "", "usual"], rows)


def _limits(limits: Mapping[str, float]) -> str:
    return ", ".join(
        f"{name} ≤ {limit:,.0f}" if limit < float("inf") else f"{name}: what the recipe says"
        for name, limit in limits.items()
    )


def _card(listed: Listed) -> str:
    found = _loaded(listed)
    if found is None:
        return ""
    small = _smaller(listed)
    numbers = [] if small else [[name, _number(it)] for name, it in found.numbers.items()]
    rows = [["title", found.title], ["licence", found.licence], ["citation", found.citation]]
    return section("The card of its usual data", table(["", ""], [*rows, *numbers]))


def _loaded(listed: Listed) -> Card | None:
    """Return the card of what needs no download, if there is such data."""
    usual = next(iter(listed.protocols))
    try:
        return listed.load(data=listed.usual, protocol=usual, **_smaller(listed)).card
    except OnwardError:
        return None


def _smaller(listed: Listed) -> dict[str, Any]:
    known = inspect.signature(listed.load).parameters
    return {name: value for name, value in _WITHOUT_DATA.items() if name in known}


def _number(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) > _MANY:
        return f"{len(value)} of them"
    if isinstance(value, Mapping):
        return cell(", ".join(f"{name} {_number(it)}" for name, it in value.items()))
    return f"{value:,}" if isinstance(value, int) else cell(str(value))


def _guides(family: str) -> str:
    """Link what was written by hand about a family of benchmarks."""
    files = sorted((ROOT / "docs" / "benchmarks").glob(f"{family}_*.md"))
    links = [
        f"- [{file.read_text().split(chr(10))[0].lstrip('# ')}]({file.name})" for file in files
    ]
    if family == "yours":
        links.append("- [Your own data](../howto/your_data.md)")
    return section("Read on", "\n".join(links))
