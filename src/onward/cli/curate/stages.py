"""What the commands of curation share."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from onward.cli.progress import resumable
from onward.curate.stage import STAGE
from onward.errors import unknown

Out = Annotated[Path, typer.Option(help="Where to: a new folder.")]
Images = Annotated[Path, typer.Option(help="Where the images lie: files, or tar shards.")]


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


def check_choices(verb: str, given: Mapping[str, str], kinds: Mapping[str, Any]) -> None:
    """Refuse what is none of the choices that a type has, by option."""
    for option, kind in kinds.items():
        if given[option] not in get_args(kind):
            raise unknown(
                f"choice for --{option}",
                given[option],
                get_args(kind),
                f"onward curate {verb} --help",
            )
