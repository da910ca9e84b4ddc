"""What verbs of curation say about a folder before they begin."""

from pathlib import Path

import typer

from onward.curate.stage import STAGE


def say_if_there(out: Path) -> None:
    """Say that there is nothing to do, if there is nothing to do."""
    if (out / STAGE).is_file():
        typer.echo(f"already there: {out}", err=True)


def say_waiting() -> None:
    """Say that another process is at work."""
    typer.echo("another process is at work on this folder; waiting for it", err=True)
