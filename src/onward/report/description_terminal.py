"""A description of data for a terminal of 100 columns."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from onward.errors import first_few
from onward.report.plain_table import plain_table

_CLASSES = 6
_WIDTH = 9
_LISTED = 4
_BAR = 6
_SCREEN = 100
# Samples, their bar, the drift and the sum of the classes that are not shown.
_OTHER_COLUMNS = 40
_DRIFT = "label drift: total variation between the label mixes of neighbouring periods, from 0 to 1"


def lines(found: Mapping[str, Any], command: str) -> Iterator[Table | Text]:
    """Yield what to print, from top to bottom.

    Parameters
    ----------
    found
        What `onward.report.description.describe` returned.
    command
        What to run next.
    """
    yield Text(
        f"{found['title']}: {found['file_row_count']:,} rows ({found['format']})", style="bold"
    )
    yield _understood(found)
    yield Text("")
    yield _periods(found)
    yield Text(_DRIFT, style="dim")
    yield from _come_and_go(found)
    yield _repeated(found)
    for remark in found["mind"]:
        yield Text.assemble(("Mind: ", "bold yellow"), remark)
    yield Text("")
    yield Text.assemble(("Next:  ", "bold green"), command)


def _understood(found: Mapping[str, Any]) -> Table:
    columns = found["columns"]
    spelled = ", ".join(f"{name} ({count:,})" for name, count in found["time_formats"].items())
    facts = {
        "time": f"{columns['time']}: {spelled}; {found['time_zone']}",
        "label": f"{columns['label']}: {len(found['periods'][0]['classes'])} classes",
        "group": columns["group"] or "none: every row by itself",
        "id": columns["id"] or "none: the number of the row",
        "input": "; ".join(found["input"]),
        "not used": ", ".join(found["ignored"]) or "nothing",
        "left out": "; ".join(f"{n:,} {why}" for why, n in found["left_out"].items()) or "nothing",
        "split": f"{found['protocol']['name']}: {found['protocol']['summary']}",
        "periods": _cut(found),
    }
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text(value))
    return table


def _cut(found: Mapping[str, Any]) -> str:
    periods, empty = found["periods"], found["periods_without_labels"]
    first, last = periods[0], periods[-1]
    said = f"{len(periods)}, {found['periods_by']}, from {first['start']} to {last['end']}"
    return f"{said}; {empty} without labels left out" if empty else said


def _periods(found: Mapping[str, Any]) -> Table:
    """Lay out samples, drift and the largest classes; the others are summed."""
    periods = found["periods"]
    totals: dict[str, int] = {}
    for period in periods:
        for name, count in period["classes"].items():
            totals[name] = totals.get(name, 0) + count
    room = _SCREEN - _OTHER_COLUMNS - max(len(period["name"]) for period in periods)
    most_shown = min(room // (_WIDTH + 1), _CLASSES)
    shown = sorted(totals, key=lambda name: -totals[name])[:most_shown]
    others = len(totals) - len(shown)
    most = max(period["samples"] for period in periods)
    table = plain_table()
    table.add_column("period", no_wrap=True)
    table.add_column("samples", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("label\ndrift", justify="right", no_wrap=True)
    for name in shown:
        table.add_column(Text(_short(name)), justify="right", no_wrap=True)
    if others:
        table.add_column(f"{others:,}\nmore", justify="right", no_wrap=True)
    for period in periods:
        counts = period["classes"]
        cells = [_count(counts[name]) for name in shown]
        if others:
            cells.append(_count(period["samples"] - sum(counts[name] for name in shown)))
        drift = "" if period["drift"] is None else f"{period['drift']:.2f}"
        bar = "█" * max(round(_BAR * period["samples"] / most), 1)
        size = f"{period['samples']:,}"
        table.add_row(period["name"], size, Text(bar, style="blue"), drift, *cells)
    return table


def _short(name: str) -> str:
    """Cut the middle out of a long name: names often begin alike."""
    return name if len(name) <= _WIDTH else f"{name[:4]}…{name[-4:]}"


def _count(count: int) -> str:
    return f"{count:,}" if count else "·"


def _come_and_go(found: Mapping[str, Any]) -> Iterator[Text]:
    for word, changes in (("Come", found["come"]), ("Go", found["go"])):
        told = [f"{first_few(names, most=_LISTED)} ({period})" for period, names in changes.items()]
        text = first_few(told, "; ", _LISTED)
        yield Text.assemble((f"{word}: ", "bold"), text or "no class")


def _repeated(found: Mapping[str, Any]) -> Text:
    repeated = found["duplicates"]
    return Text.assemble(
        ("Learned before they are tested: ", "bold"),
        f"{repeated['exact']:,} of {repeated['tested']:,} test samples have an exact copy among "
        f"the training samples, {repeated['near']:,} more have a near one",
    )
