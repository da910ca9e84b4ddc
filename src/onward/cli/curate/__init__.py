"""``onward curate``: from a huge timestamped pool to a small, clean, labelled stream."""

import typer

from onward.cli.curate import embed, preview, retrieve

app = typer.Typer(
    help="From a huge timestamped pool to a small, clean, labelled stream.", no_args_is_help=True
)
app.command("embed")(embed.embed)
app.command("retrieve")(retrieve.retrieve)
app.command("preview")(preview.preview)
