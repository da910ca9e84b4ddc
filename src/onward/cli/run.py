"""``onward run``: run methods on a benchmark."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from onward.benchmarks import Source, warn_of_lr
from onward.budget import Budget
from onward.cli.console import console, print_json, tell
from onward.cli.options import AsJson, parse_budget, parse_pairs, parse_seeds
from onward.cli.progress import resumable
from onward.cli.runs import (
    AllowUnmetered,
    CheckpointSeconds,
    MoreMetrics,
    Seeds,
    live,
    with_execution,
)
from onward.cli.source import with_source
from onward.cli.voice import only_once
from onward.errors import FileImportError
from onward.executors.executor import Execution
from onward.failures import RunsFailedError
from onward.learners import choose, require_metered
from onward.loggers import LOGGERS, check_loggers
from onward.report.formats import to_json
from onward.report.summary import Summary, by_setting, summarise
from onward.report.terminal import tables
from onward.report.verdict import findings
from onward.sweep import Job, benchmark_of, sweep
from onward.tuning import load_tuned
from onward.turns import Event


@with_source
@with_execution
def run(
    *,
    source: Source,
    method: Annotated[
        list[str],
        typer.Option(
            help="A method (onward list methods) or path/to/file.py:Name. May be repeated."
        ),
    ],
    seeds: Seeds = "0",
    out: Annotated[Path, typer.Option(help="The results folder.")] = Path("results"),
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method, name=value.")
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="A limit, such as iterations=500 or stored_samples=100."),
    ] = None,
    tuned: Annotated[
        Path | None, typer.Option(help="Use the settings that onward tune chose, from its folder.")
    ] = None,
    predictions: Annotated[bool, typer.Option(help="Keep every single decision.")] = True,
    allow_unmetered: AllowUnmetered = False,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    execution: Execution,
    log: Annotated[
        list[str] | None,
        typer.Option(
            "--log",
            "--logger",  # torchrun takes --log for an option of its own
            help=f"Also send training metrics and scores to: {', '.join(LOGGERS)}. Repeatable.",
        ),
    ] = None,
    log_every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Record the metrics of every so many training steps; by default of every step "
            "(of at most 10,000 of a call), and of linear probes of every epoch.",
            show_default=False,
        ),
    ] = None,
    metric: MoreMetrics = None,
    as_json: AsJson = False,
) -> None:
    """Run methods on a benchmark, or finish what was begun.

    A run that is complete is not run again. After Ctrl-C or a kill, the same command goes on
    where it stopped. A run that fails does not end the others; the same command tries it again.
    """
    options, limits = parse_pairs(option or [], "option"), parse_budget(budget or [])
    Budget(limits)
    loggers = check_loggers(log or ())
    chosen = None if tuned is None else load_tuned(tuned)
    if chosen is not None:
        for name in method:
            source = chosen.for_run(source, name)
        options = {**chosen.options, **options}
    sources = {name: source.fitting(name) for name in method}
    here = execution.get("on", "local") == "local"
    for name, its_own in sources.items():
        # A mistake in the command is refused before any run begins. An error in a method's file
        # fails the runs of that method only.
        with contextlib.suppress(FileImportError):
            benchmark = benchmark_of(its_own, here=here)
            found = choose(name, options, benchmark)
            allowed = benchmark.protocol.limits_of(found.name, limits)
            require_metered(found, allowed, allow_unmetered=allow_unmetered)
    made = benchmark_of(sources[method[0]], here=here)
    warn_of_lr(benchmark_of(replace(sources[method[0]], training={}), here=here), source.training)
    wanted = [
        Job(
            source=its_own,
            method=name,
            seed=seed,
            options=options,
            limits=limits,
            tuned=None if chosen is None else chosen.summary(),
            keep_predictions=predictions,
            allow_unmetered=allow_unmetered,
            checkpoint_seconds=checkpoint_seconds,
            log=loggers,
            log_every=log_every,
        )
        for name, its_own in sources.items()
        for seed in parse_seeds(seeds)
    ]
    before = []

    def note(event: Event) -> None:
        if event.kind == "done before":
            before.append(event.spec.hash)
        watch(event)

    failure: RunsFailedError | None = None
    with resumable(out), live(len(wanted), len(made.stream(wanted[0].seed))) as watch:
        try:
            records = sweep(wanted, out, watch=note, **execution)
        except RunsFailedError as error:
            failure, records = error, error.records
    if failure is None:
        only_once()
    elif not records:
        raise failure
    summaries = summarise(records, metric or ())
    if as_json:
        print_json(to_json(summaries))
    else:
        screen = console()
        tell(screen, made.card)
        for name, its_own in sources.items():
            if its_own != source:
                model = its_own.options["model"]
                screen.print(f"{escape(name)} needs images: it trains a {model}, see --model")
        _print(screen, summaries)
        if before:
            screen.print(
                f"{len(before)} of {len(wanted)} runs were complete already: not run again"
            )
        screen.print(f"results in {out}")
    if failure is not None:
        raise failure


def _print(screen: Console, summaries: list[Summary]) -> None:
    for table in tables(summaries):
        screen.print(table)
    if len(summaries) > 1:
        for finding in findings(by_setting(summaries), None):
            screen.print(f"[bold]{finding.question}[/] {escape(finding.answer)}")
