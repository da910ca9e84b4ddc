"""``onward curate``: from a huge timestamped pool to a small, clean, labelled stream."""

import typer

from onward.cli.curate import accept, export

app = typer.Typer(
    help="From a huge timestamped pool to a small, clean, labelled stream.", no_args_is_help=True
)
app.command("accept")(accept.accept)
app.command("export")(export.export)
