"""What the commands of curation share."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.markup import escape

from onward.cli.progress import progress_bar, resumable
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


@contextlib.contextmanager
def counting(words: str) -> Iterator[Callable[[int], None]]:
    """Show how many are done, of nobody knows how many; yield what to call with how many more."""
    progress = progress_bar(words)
    bar = progress.add_task("", total=None)
    with progress:
        yield lambda more: progress.advance(bar, more)


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


def mind(screen: Console, words: str) -> None:
    """Print what should not be overlooked."""
    screen.print(f"[yellow]mind:[/] {escape(words)}", soft_wrap=True)


def tell_reasons(screen: Console, fate: str, counts: Mapping[str, int], things: str = "") -> None:
    """Print what became of how many, and why."""
    for reason, number in counts.items():
        screen.print(f"[yellow]{fate}:[/] {number:,} {things}{escape(reason)}", soft_wrap=True)
