"""The console that commands print to, and what several of them print."""

import io
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from onward.types import Card

# A pipe or a file has no width of its own; the tables are laid out for this many columns.
PIPE_WIDTH = 100


def console() -> Console:
    """Return a console for results: as wide as the terminal, never narrower than a table."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a letter shows another in its place.
        sys.stdout.reconfigure(errors="replace")
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=PIPE_WIDTH)


def print_json(plain: Any) -> None:
    """Print plain data as JSON."""
    typer.echo(json.dumps(plain, indent=1))


def tell(screen: Console, card: "Card") -> None:
    """Print what is left out of the data, what is missing in it, and what else is to be known."""
    told = card.numbers
    tell_reasons(screen, "left out", told.get("left_out", {}), "rows ")
    for line in (*told.get("gaps", ()), *told.get("notes", ())):
        mind(screen, line)


def mind(screen: Console, words: str) -> None:
    """Print what should not be overlooked."""
    screen.print(f"[yellow]mind:[/] {escape(words)}", soft_wrap=True)


def tell_reasons(screen: Console, fate: str, counts: Mapping[str, int], things: str = "") -> None:
    """Print what became of how many, and why."""
    for reason, number in counts.items():
        screen.print(f"[yellow]{fate}:[/] {number:,} {things}{escape(reason)}", soft_wrap=True)
