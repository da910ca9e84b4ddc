"""What commands that run methods share: options, and their progress."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from onward.cli.options import parse_pairs
from onward.cli.progress import progress_bar
from onward.cli.progress_lines import ProgressLines
from onward.cli.source import extended, keyword
from onward.executors.executor import Execution, On
from onward.executors.slurm import OPTIONS
from onward.metrics import METRICS
from onward.turns import Event, Watch


def _known(names: list[str] | None) -> list[str] | None:
    for name in names or ():
        METRICS.find(name)
    return names


Seeds = Annotated[str, typer.Option(help="Such as 0, 0-4 or 0,2,5-7.")]
_EXECUTION = {
    "jobs": Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many jobs at a time. Default: what the GPUs have room for, or the cores.",
        ),
    ],
    "on": Annotated[
        On,
        typer.Option(help="Where: processes here, a Ray cluster, or Slurm. Ctrl-C ends all jobs."),
    ],
    "gpus_per_job": Annotated[
        float | None,
        typer.Option(
            min=0, help="GPUs of each job, such as 0.5 or 2. Default: 1 if there are any."
        ),
    ],
    "slurm": Annotated[
        list[str] | None,
        typer.Option(help=f"name=value: {', '.join(OPTIONS)}. May be repeated."),
    ],
}
CheckpointSeconds = Annotated[
    float, typer.Option(min=0, help="How much work a kill may cost at most.")
]
AllowUnmetered = Annotated[
    bool,
    typer.Option(
        "--allow-unmetered",
        help="Also run learners that do not report what a limit is about; they are not ranked.",
    ),
]
MoreMetrics = Annotated[
    list[str] | None,
    typer.Option(
        help="A metric of onward list metrics beside the usual ones. May be repeated.",
        callback=_known,
    ),
]


def with_execution(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of where runs are made, and hand it an `Execution`."""
    options = [
        keyword(name, kind, "local" if name == "on" else None) for name, kind in _EXECUTION.items()
    ]
    return extended(command, options, _made_execution, "execution", last=True)


def _made_execution(
    jobs: int | None = None,
    on: On = "local",
    gpus_per_job: float | None = None,
    slurm: list[str] | None = None,
) -> Execution:
    options = parse_pairs(slurm or [], "slurm")
    return Execution(workers=jobs, on=on, gpus_per_job=gpus_per_job, slurm=options)


@contextlib.contextmanager
def live(runs: int, periods: int) -> Iterator[Watch]:
    """Show progress over runs of so many periods on the error stream; yield what watches them.

    On a terminal that is a bar; in a file or a pipe, a line at least every minute.
    """
    progress = progress_bar(
        "[bold]{task.fields[runs_done]}/{task.fields[runs]} runs",
        "[cyan]{task.fields[now]}",
        "{task.fields[last]}",
    )
    bar = progress.add_task("", total=runs * periods, runs=runs, runs_done=0, now="", last="")
    lines = ProgressLines(runs, periods)
    done: dict[str, int] = {}
    finished: set[str] = set()

    def watch(event: Event) -> None:
        if progress.disable:
            lines.watch(event)
        name = f"{event.spec.method} {event.spec.protocol['name']} seed {event.spec.seed}"
        run = event.spec.hash
        if event.kind == "learning" and event.period is not None:
            progress.update(bar, now=f"{name} · {event.spec.periods[event.period]}")
        elif event.kind == "training" and event.period is not None:
            loss = event.records[-1].values.get("loss")
            shown = "" if loss is None else f" · loss {loss:.3g}"
            place = event.spec.periods[event.period]
            steps = "step {:,}/{:,}".format(*event.steps)
            progress.update(bar, now=f"{name} · {place} · {steps}{shown}")
        elif event.kind in ("tested", "resumed") and event.period is not None:
            done[run] = event.period + (event.kind == "tested")
        elif event.kind in ("done", "done before"):
            done[run] = periods
            finished.add(run)
        elif event.kind == "failed":
            # The bar goes on without what this run will not do.
            done[run] = periods
        if event.scores:
            metric, value = next(iter(event.scores[0].scores.items()))
            shown = "—" if value is None else f"{value:.3f}"
            progress.update(bar, last=f"last {metric} {shown}")
        if event.kind in _NOTES:
            note = _NOTES[event.kind].format(name=name)
            progress.console.print(note, highlight=False)
        progress.update(bar, completed=sum(done.values()), runs_done=len(finished))

    with progress, lines.ticking() if progress.disable else contextlib.nullcontext():
        yield watch


_NOTES = {
    "waiting": "{name}: another process is running this; waiting for it",
    "resumed": "{name}: resumed where it had stopped",
    "replayed": "{name}: no checkpoint to go on from, so it learns again from the first period",
    "failed": "{name}: failed",
}
