"""``onward list``: what there is."""

import itertools
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from onward.benchmarks import BENCHMARKS
from onward.benchmarks.backbones import BACKBONES
from onward.catalogue import Catalogue
from onward.cli.console import console
from onward.configs import TABLES
from onward.data import emoji_history
from onward.data.street.drives import FRAMES
from onward.fit import NEEDS
from onward.grid import grid
from onward.memory import MEMORIES
from onward.methods import METHODS
from onward.metrics import METRICS
from onward.models import MODELS
from onward.reproduce.plan import RECIPES
from onward.reproduce.table import PaperTable
from onward.reproduce.words import duration
from onward.tasks import TASKS


class Kind(StrEnum):
    """What can be listed."""

    benchmarks = "benchmarks"
    methods = "methods"
    metrics = "metrics"
    tasks = "tasks"
    models = "models"
    memories = "memories"
    data = "data"
    tables = "tables"
    backbones = "backbones"
    grid = "grid"


def list_catalogue(
    kind: Annotated[
        Kind | None, typer.Argument(help="What to list; everything by default.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what there is: by default everything but the grid.

    What another package has added is listed with its name. The grid is every method on every
    benchmark: whether it runs, and why not.
    """
    kinds = [kind] if kind else list(Kind)
    if kind is Kind.grid:
        _list_grid(as_json=as_json)
        return
    found = {k.value: _with_origins(k) for k in kinds if k is not Kind.grid}
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    screen = console()
    for name, entries in found.items():
        table = Table(
            title=name, title_justify="left", title_style="bold", box=None, padding=(0, 2)
        )
        for number, column in enumerate(entries[0]):
            table.add_column(column, overflow="fold", no_wrap=number == 0)
        for entry in entries:
            table.add_row(*(_text(value) for value in entry.values()))
        screen.print(table)
        screen.print()


_CATALOGUES: Mapping[Kind, Catalogue[Any]] = {
    Kind.benchmarks: BENCHMARKS,
    Kind.methods: METHODS,
    Kind.metrics: METRICS,
    Kind.tasks: TASKS,
    Kind.models: MODELS,
    Kind.memories: MEMORIES,
    Kind.tables: TABLES,
}


def _with_origins(kind: Kind) -> list[dict[str, Any]]:
    """Return the entries, and of those that other packages have added, which one has."""
    entries, catalogue = _entries(kind), _CATALOGUES.get(kind)
    origins = [catalogue.origin(entry["name"]) for entry in entries] if catalogue else []
    if not any(origins):
        return entries
    return [
        entry | {"added by": origin or ""} for entry, origin in zip(entries, origins, strict=True)
    ]


def _entries(kind: Kind) -> list[dict[str, Any]]:
    if kind is Kind.benchmarks:
        return [
            {
                "name": name,
                "summary": listed.summary,
                "task": listed.task.name,
                "data": list(listed.data),
                "protocols": list(listed.protocols),
                "recipes": list(listed.recipes),
            }
            for name, listed in BENCHMARKS.items()
        ]
    if kind is Kind.methods:
        return [
            {"name": c.name, "summary": c.summary, "source": c.source} for c in METHODS.values()
        ]
    if kind is Kind.metrics:
        return [
            {"name": m.name, "summary": m.summary, "source": m.source} for m in METRICS.values()
        ]
    if kind is Kind.tasks:
        return [
            {"name": task.name, "summary": _first_line(type(task)), "headline": task.headline}
            for task in TASKS.values()
        ]
    if kind is Kind.models:
        return [{"name": card.name, "summary": card.summary} for card in MODELS.values()]
    if kind is Kind.memories:
        return [{"name": name, "summary": _first_line(made)} for name, made in MEMORIES.items()]
    if kind is Kind.tables:
        return [
            {"name": table.name, "summary": table.title, "rows": len(table.rows)}
            | {f"runs, CPU time ({recipe})": _cost(table, recipe) for recipe in RECIPES}
            for table in TABLES.values()
        ]
    if kind is Kind.backbones:
        return [{"name": name, "summary": card.summary} for name, card in BACKBONES.items()]
    card = emoji_history.card()
    return [
        {
            "name": "emoji",
            "summary": card["title"],
            "samples": card["counts"]["rows"],
            "sha256": card["content_sha256"],
        },
        {
            "name": "street",
            "summary": "Emoji Street: street scenes in SODA10M's layout, drawn when asked for",
            "samples": FRAMES,
            "sha256": "",
        },
    ]


def _list_grid(*, as_json: bool) -> None:
    cells = grid()
    if as_json:
        typer.echo(json.dumps([cell.to_json() for cell in cells], indent=1))
        return
    screen, running = console(), sum(cell.runs for cell in cells)
    table = Table(title="grid", title_justify="left", title_style="bold", box=None, padding=(0, 2))
    table.add_column("method", no_wrap=True)
    for name in BENCHMARKS:
        table.add_column(name, justify="center", no_wrap=True)
    # What is needed and lacking, with the methods that need it: what for is in the JSON.
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for method, row in itertools.groupby(cells, lambda cell: cell.method):
        marks = []
        for cell in row:
            if cell.misfit is None:
                marks.append("[green]runs[/]")
                continue
            why = (cell.misfit.need, cell.misfit.lack)
            reasons.setdefault(why, {})[method] = None
            marks.append(f"[dim]{[*reasons].index(why) + 1}[/]")
        table.add_row(method, *marks)
    screen.print(table)
    screen.print()
    below = Table(box=None, padding=(0, 2), show_header=False)
    below.add_column(justify="right", style="dim")
    for number, ((need, lack), methods) in enumerate(reasons.items(), start=1):
        verb = "needs" if len(methods) == 1 else "need"
        below.add_row(str(number), escape(f"{', '.join(methods)} {verb} {NEEDS[need]}; {lack}."))
    screen.print(below)
    screen.print(f"\n{running} of {len(cells)} run: {running / len(cells):.0%}")


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]


def _cost(table: PaperTable, recipe: str) -> str:
    runs, seconds = table.cost(recipe)
    return f"{runs}, {duration(seconds)}"


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
