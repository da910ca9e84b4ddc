"""``onward data``: look at data."""

import json
from typing import Annotated

import typer
from rich.table import Table

from onward.cli.console import console
from onward.data import emoji_history
from onward.errors import unknown

app = typer.Typer(help="Look at data.", no_args_is_help=True)


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
    screen = console()
    screen.print(f"[bold]{card['title']}[/]: {samples} samples, hashes verified")
    screen.print(card["description"])
    table = Table(box=None, padding=(0, 2))
    for column in ("snapshot", "emoji", "new", "redrawn", "unchanged", "from"):
        table.add_column(column, justify="left" if column in ("snapshot", "from") else "right")
    for source, change in zip(card["sources"], card["change"]["counts"], strict=True):
        counts = (change[kind] for kind in ("new", "redrawn", "unchanged"))
        package = f"{source['package']} {source['version']}"
        table.add_row(source["date"], str(source["rows"]), *map(str, counts), package)
    screen.print(table)
    screen.print(f"[bold]Mind:[/] {card['warning']}")
    for licence in card["licences"]:
        credit = licence.get("attribution", licence["work"])
        screen.print(f"· {licence['covers']}: {licence['licence']}. {credit}")
