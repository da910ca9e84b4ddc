"""Live progress: what is done, and the time that is left. Quiet without a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def progress_bar(done: str, *more: str) -> Progress:
    """Return a bar on the error stream, with the time that is left; none without a terminal.

    Templates of rich stand in front of it and behind it.
    """
    console = Console(stderr=True)
    return Progress(
        TextColumn(done),
        BarColumn(bar_width=24),
        *map(TextColumn, more),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextlib.contextmanager
def reading(total: int, what: str, verb: str = "reading") -> Iterator[Callable[[int], None]]:
    """Show how many things have been read, or made; yield what to call with how many more."""
    progress = progress_bar(f"{verb} {{task.completed:,.0f}} of {{task.total:,.0f}} {what}")
    bar = progress.add_task("", total=total)
    with progress:
        yield lambda done: progress.advance(bar, done)


@contextlib.contextmanager
def counting(words: str) -> Iterator[Callable[[int], None]]:
    """Show how many are done, of nobody knows how many; yield what to call with how many more."""
    progress = progress_bar(words)
    bar = progress.add_task("", total=None)
    with progress:
        yield lambda more: progress.advance(bar, more)


@contextlib.contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Say after Ctrl-C how to go on, and keep what learners print out of the results."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        typer.echo(
            f"stopped; the same command goes on where it stopped (results in {out})", err=True
        )
        raise typer.Exit(130) from None
