"""What the commands of curation share."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer

from onward.cli.progress import resumable
from onward.curate.stage import STAGE


@contextlib.contextmanager
def stage_in(out: Path) -> Iterator[None]:
    """Make a stage, or say that it is there already; after Ctrl-C, say how to go on."""
    there = (out / STAGE).is_file()
    with resumable(out):
        yield
    if there:
        typer.echo(f"already there: {out}", err=True)


def say_waiting() -> None:
    """Say that another process is at work on the same folder."""
    typer.echo("another process is at work on this folder; waiting for it", err=True)
