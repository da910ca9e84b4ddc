"""Live progress: what is running, the last score, the time left. Quiet without a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from onward.turns import Event, Watch


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
def live(runs: int, periods: int) -> Iterator[Watch]:
    """Show progress over runs of so many periods on the error stream; yield what watches them."""
    progress = progress_bar(
        "[bold]{task.fields[runs_done]}/{task.fields[runs]} runs",
        "[cyan]{task.fields[now]}",
        "{task.fields[last]}",
    )
    bar = progress.add_task("", total=runs * periods, runs=runs, runs_done=0, now="", last="")
    done: dict[str, int] = {}
    finished: set[str] = set()

    def watch(event: Event) -> None:
        name = f"{event.spec.method} {event.spec.protocol['name']} seed {event.spec.seed}"
        run = event.spec.hash
        if event.kind == "learning" and event.period is not None:
            progress.update(bar, now=f"{name} · {event.spec.periods[event.period]}")
        elif event.kind in ("tested", "resumed") and event.period is not None:
            done[run] = event.period + (event.kind == "tested")
        elif event.kind in ("done", "done before"):
            done[run] = periods
            finished.add(run)
        if event.scores:
            metric, value = next(iter(event.scores[0].scores.items()))
            shown = "—" if value is None else f"{value:.3f}"
            progress.update(bar, last=f"last {metric} {shown}")
        if event.kind in ("waiting", "resumed", "replayed"):
            note = _NOTES[event.kind].format(name=name)
            progress.console.print(note, highlight=False)
        progress.update(bar, completed=sum(done.values()), runs_done=len(finished))

    with progress:
        yield watch


@contextlib.contextmanager
def reading(total: int, what: str, verb: str = "reading") -> Iterator[Callable[[int], None]]:
    """Show how many things have been read, or made; yield what to call with how many more."""
    progress = progress_bar(f"{verb} {{task.completed:,.0f}} of {{task.total:,.0f}} {what}")
    bar = progress.add_task("", total=total)
    with progress:
        yield lambda done: progress.advance(bar, done)


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


_NOTES = {
    "waiting": "{name}: another process is running this; waiting for it",
    "resumed": "{name}: resumed where it had stopped",
    "replayed": "{name}: no checkpoint to go on from, so it learns again from the first period",
}
