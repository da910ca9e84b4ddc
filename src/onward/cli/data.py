"""``onward data``: look at data."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from onward.data import emoji_history
from onward.errors import unknown

app = typer.Typer(help="Look at data.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Look at data."""


@app.command()
def describe(
    name: Annotated[str, typer.Argument(help="Which data: onward list data.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Describe data: where it comes from, what it holds, under which terms."""
    if name != "emoji":
        raise unknown("data", name, ["emoji"], "onward list data")
    card = emoji_history.card()
    samples = len(emoji_history.load_emoji())
    if as_json:
        typer.echo(json.dumps(card, indent=1))
        return
    console = Console(highlight=False)
    console.print(f"[bold]{card['title']}[/]: {samples} samples, hashes verified")
    console.print(card["description"])
    table = Table(box=None, padding=(0, 2))
    for column in ("snapshot", "emoji", "new", "redrawn", "unchanged", "source"):
        table.add_column(column, justify="left" if column in ("snapshot", "source") else "right")
    for source in card["snapshots"]:
        table.add_row(
            *(
                str(source[key])
                for key in ("date", "rows", "new", "redrawn", "unchanged", "package")
            )
        )
    console.print(table)
    for licence in card["licences"]:
        console.print(f"· {licence['covers']}: {licence['licence']}. {licence['attribution']}")
