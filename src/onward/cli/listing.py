"""``onward list``: what there is."""

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from onward.benchmarks import BENCHMARKS
from onward.benchmarks.backbones import BACKBONES
from onward.benchmarks.listed import Listed
from onward.catalogue import Catalogue
from onward.cli.console import console, print_json
from onward.cli.options import AsJson
from onward.configs import TABLES
from onward.data import emoji_history
from onward.data.street.drives import FRAMES
from onward.fit import NEEDS
from onward.grid import grid
from onward.memory import MEMORIES
from onward.methods import METHODS, MethodCard
from onward.metrics import METRICS, Metric
from onward.models import MODEL_SOURCES, MODELS
from onward.reproduce.plan import RECIPES
from onward.reproduce.table import PaperTable
from onward.reproduce.words import duration
from onward.tasks import TASKS
from onward.train.recipe import Recipe


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
    pictures = "pictures"
    hyperparameters = "hyperparameters"
    grid = "grid"


def list_catalogue(
    kind: Annotated[
        Kind | None, typer.Argument(help="What to list; everything by default.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List what there is: by default everything but the grid.

    What another package has added is listed with its name. The grid is every method on every
    benchmark, in its usual protocol: whether it runs, and why not.
    """
    kinds = [kind] if kind else list(Kind)
    if kind is Kind.grid:
        _list_grid(as_json=as_json)
        return
    found = {k.value: _entries(k) for k in kinds if k is not Kind.grid}
    if as_json:
        print_json(found)
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


def _summary_and_source(entry: MethodCard | Metric) -> dict[str, Any]:
    return {"summary": entry.summary, "source": entry.source}


def _benchmark(listed: Listed) -> dict[str, Any]:
    return {
        "summary": listed.summary,
        "task": listed.task.name,
        "data": list(listed.data),
        "protocols": list(listed.protocols),
        "recipes": list(listed.recipes),
    }


def _table(table: PaperTable) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": table.title, "rows": len(table.rows)}
    for recipe in RECIPES:
        runs, seconds = table.cost(recipe)
        found[f"runs, CPU time ({recipe})"] = f"{runs}, {duration(seconds)}"
    return found


# Catalogues, and what is told of an entry beside its name.
_CATALOGUES: Mapping[Kind, tuple[Mapping[str, Any], Callable[[Any], dict[str, Any]]]] = {
    Kind.benchmarks: (BENCHMARKS, _benchmark),
    Kind.methods: (METHODS, _summary_and_source),
    Kind.metrics: (METRICS, _summary_and_source),
    Kind.tasks: (TASKS, lambda it: {"summary": _first_line(type(it)), "headline": it.headline}),
    Kind.models: (MODELS, lambda card: {"summary": card.summary}),
    Kind.memories: (MEMORIES, lambda it: {"summary": _first_line(it)}),
    Kind.tables: (TABLES, _table),
    Kind.backbones: (BACKBONES, lambda card: {"summary": card.summary}),
}


def _entries(kind: Kind) -> list[dict[str, Any]]:
    """Return the entries, and of those that other packages have added, which one has."""
    if kind is Kind.data:
        return _data()
    if kind is Kind.hyperparameters:
        return _hyperparameters()
    catalogue, told = _pictures() if kind is Kind.pictures else _CATALOGUES[kind]
    entries = [{"name": name, **told(entry)} for name, entry in catalogue.items()]
    origins = (
        [catalogue.origin(name) or "" for name in catalogue]
        if isinstance(catalogue, Catalogue)
        else []
    )
    if kind is Kind.models:
        entries += [{"name": name, "summary": what} for name, what in MODEL_SOURCES.items()]
        origins += [""] * len(MODEL_SOURCES)
    if not any(origins):
        return entries
    return [entry | {"added by": by} for entry, by in zip(entries, origins, strict=True)]


def _hyperparameters() -> list[dict[str, Any]]:
    """Return what ``--training`` sets, as the class `Recipe` documents it."""
    entries: list[dict[str, Any]] = []
    defaults = {
        field.name: "" if field.default is dataclasses.MISSING else str(field.default)
        for field in dataclasses.fields(Recipe)
    }
    _, _, documented = (inspect.getdoc(Recipe) or "").partition("----------\n")
    for line in documented.splitlines():
        if not line.startswith(" "):
            names = line.split(", ")
            default = ", ".join(dict.fromkeys(defaults[name] for name in names))
            entries.append({"name": line, "default": default, "summary": ""})
        else:
            entries[-1]["summary"] = f"{entries[-1]['summary']} {line.strip()}".strip()
    return [entry | {"summary": entry["summary"].replace("`", "")} for entry in entries]


def _pictures() -> tuple[Mapping[str, Any], Callable[[Any], dict[str, Any]]]:
    from onward.report.pictures import PICTURES  # matplotlib is loaded when it is needed

    return PICTURES, lambda painter: {"summary": _first_line(painter)}


def _data() -> list[dict[str, Any]]:
    card = emoji_history.card()
    known = [
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
    for benchmark, listed in BENCHMARKS.items():
        named = dict.fromkeys(listed.named, f"data of {benchmark}")
        if listed.official is not None:
            name, content = listed.official
            named[name] = f"official data of {benchmark}: a folder that holds {content}"
        new = [name for name in named if name not in {entry["name"] for entry in known}]
        known += [{"name": n, "summary": named[n], "samples": "", "sha256": ""} for n in new]
    return known


def _list_grid(*, as_json: bool) -> None:
    cells = grid()
    if as_json:
        print_json([cell.to_json() for cell in cells])
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


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
