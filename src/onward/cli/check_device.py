"""``onward check device``: whether a device computes the same as the CPU, and how fast."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from onward.checks.device import DeviceReport, DeviceRow, check_device
from onward.checks.device_plan import Case
from onward.cli.console import console, print_json
from onward.cli.options import AsJson
from onward.cli.progress import progress_bar
from onward.report.numbers import MISSING
from onward.report.plain_table import plain_table

_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


def device(
    *,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:NUMBER or mps.")] = "auto",
    precision: Annotated[str, typer.Option(help="fp32, or bf16 or fp16 by autocast.")] = "fp32",
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that read and augment batches; 0: none.")
    ] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute on.")] = 1,
    models: Annotated[
        str, typer.Option(help="Only these, such as linear,timm:resnet10t: any that onward runs.")
    ] = "",
    methods: Annotated[
        str, typer.Option(help="Only these, such as er,lwf, with every model that they fit.")
    ] = "",
    quick: Annotated[bool, typer.Option("--quick", help="One method for each model.")] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="ResNet-18 at 224 x 224 on the CPU too; it takes minutes."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that models and methods compute on a device as they do on the CPU, and how fast.

    Each row is a model and a method, run on a tiny benchmark. Outputs must agree with those of the
    CPU up to rounding, and a run that is interrupted within a call of learn and resumed must end
    with the same bytes. On the CPU itself, repeats must be equal. Exit code 0 if all rows pass, 1
    if one fails, 2 for a mistake such as a device that is not there.
    """
    bar = progress_bar("{task.completed:.0f} of {task.total:.0f} rows", "{task.fields[row]}")
    task = bar.add_task("", total=None, row="")
    done = -1

    def start(count: int) -> None:
        bar.update(task, total=count)

    def progress(case: Case) -> None:
        nonlocal done
        done += 1
        bar.update(task, completed=done, row=escape(str(case)))

    with bar:
        found = check_device(
            device,
            precision=precision,
            workers=workers,
            threads=threads,
            models=_names(models),
            methods=_names(methods),
            quick=quick,
            full=full,
            progress=progress,
            start=start,
        )
    if as_json:
        print_json(found.to_json())
    else:
        _print(found)
    if not found.ok:
        raise typer.Exit(1)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _print(found: DeviceReport) -> None:
    screen = console()
    name = f"{found.device_name} ({found.device})" if found.device_name else found.device
    counts = [(found.workers, "worker"), (found.threads, "thread")]
    on = [name, found.precision, *(f"{n} {word}{'s' * (n != 1)}" for n, word in counts)]
    on += [f"torch {found.packages['torch']}"]
    screen.print(Text(" · ".join(on), style="bold"))
    screen.print(_table(found))
    for row in found.rows:
        if row.message:
            style = _STYLES[row.status]
            where = f"[{style}]{row.status}[/] {escape(row.model)}, {escape(row.method)}"
            screen.print(f"{where}: {escape(row.message)}", soft_wrap=True)
    screen.print(Text(found.verdict, style="bold green" if found.ok else "bold red"))


def _table(found: DeviceReport) -> Table:
    table = plain_table()
    for heading in ("", "model", "method", "data"):
        table.add_column(heading, overflow="fold")
    is_cpu = found.device == "cpu"
    for heading in (
        "repeat" if is_cpu else "differs\nfrom CPU",
        "resume",
        "samples\nper s",
        "data\nwait",
        "memory\nMB",
        "time\ns",
    ):
        table.add_column(heading, justify="right")
    for row in found.rows:
        table.add_row(_status(row), row.model, row.method, row.data, *_measures(row))
    return table


def _measures(row: DeviceRow) -> list[str]:
    difference = MISSING
    if row.difference is not None:
        difference = "equal" if row.difference == 0 else f"{row.difference:.1e}"
    speed, waiting, memory = row.samples_per_second, row.waiting_share, row.peak_memory_bytes
    return [
        difference,
        row.resume or MISSING,
        MISSING if speed is None else f"{speed:,.0f}",
        MISSING if waiting is None else f"{waiting:.0%}",
        MISSING if memory is None else f"{memory / 1e6:,.0f}",
        f"{row.seconds:.1f}",
    ]


def _status(row: DeviceRow) -> Text:
    return Text(row.status, style=_STYLES[row.status])
