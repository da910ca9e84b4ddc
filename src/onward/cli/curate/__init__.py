"""``onward curate``: from a huge timestamped pool to a small, clean, labelled stream."""

import typer

app = typer.Typer(
    help="From a huge timestamped pool to a small, clean, labelled stream.", no_args_is_help=True
)
