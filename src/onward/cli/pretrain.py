"""``onward pretrain``: learn features from images without labels."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from onward.benchmarks import BENCHMARKS, with_values
from onward.cli.console import console
from onward.cli.options import Device, Precision, Threads, Workers, parse_pairs, with_typed
from onward.cli.progress import progress_bar, resumable
from onward.cli.runs import CheckpointSeconds
from onward.errors import unknown
from onward.hardware import Hardware


def pretrain(
    benchmark: Annotated[str, typer.Argument(help="A benchmark: onward list benchmarks.")],
    *,
    data: Annotated[
        str, typer.Option(help="emoji, a CLEAR download with bucket 0, or a folder of images.")
    ] = "emoji",
    recipe: Annotated[str, typer.Option(help="How it is trained: cpu or paper.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="The folder for the weights.")] = Path("weights"),
    precision: Precision = None,
    training: Annotated[
        list[str] | None,
        typer.Option(help="Other hyperparameters of pre-training, such as epochs=10."),
    ] = None,
    device: Device = "auto",
    workers: Workers = 0,
    threads: Threads = 1,
    checkpoint_seconds: CheckpointSeconds = 30.0,
) -> None:
    """Pre-train an encoder by MoCo v2 on the unlabelled images from before the first period.

    After Ctrl-C or a kill, the same command resumes where it stopped. Use the weights with
    onward run BENCHMARK --backbone moco --weights OUT.
    """
    from onward.train.moco import RECIPES  # torch is loaded when it is needed
    from onward.train.pretrain import pretrain as train

    with_past = {name: read for name in BENCHMARKS if (read := BENCHMARKS[name].past) is not None}
    if benchmark not in with_past:
        raise unknown("benchmark with a past to pre-train on", benchmark, with_past, "onward list")
    if recipe not in RECIPES:
        raise unknown("recipe", recipe, RECIPES, "onward pretrain --help")
    changes = with_typed(parse_pairs(training or [], "training"), {"precision": precision}, {})
    settings = with_values(RECIPES[recipe], changes)
    past = with_past[benchmark](data, settings.image_size)
    screen = console()
    with resumable(out), _live() as (watch, wait):
        new = train(
            past,
            settings,
            seed,
            out,
            hardware=Hardware(device, workers, threads),
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
            on_wait=wait,
        )
    if not new:
        screen.print("complete already: not trained again")
    screen.print(f"{settings.encoder} on {past.images.shape[0]} images ({past.name}): {out}")


@contextlib.contextmanager
def _live() -> Iterator[tuple[Callable[[int, int, float | None], None], Callable[[], None]]]:
    """Show progress on the error stream; yield what to call after a step, and while waiting."""
    progress = progress_bar("[bold]step {task.completed}/{task.total}", "{task.fields[loss]}")
    terminal = progress.console
    bar = progress.add_task("", total=None, loss="")

    def watch(done: int, steps: int, loss: float | None) -> None:
        if loss is None and done:
            terminal.print(f"resumed after step {done} of {steps}", highlight=False)
        shown = "" if loss is None else f"loss {loss:.3f}"
        progress.update(bar, completed=done, total=steps, loss=shown)

    with progress:
        yield watch, lambda: terminal.print("another process trains in this folder; waiting for it")
