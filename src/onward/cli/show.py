"""``onward show``: what came out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from onward.cli.console import console, print_json
from onward.cli.runs import MoreMetrics
from onward.cli.skipped import say_resumed, say_skipped
from onward.errors import OnwardError
from onward.report.bibtex import bibtex
from onward.report.curves_terminal import CurvesChart
from onward.report.exchange import Rows, write_flat
from onward.report.formats import Format, as_csv, latex, markdown, to_json
from onward.report.summary import summarise, unfinished
from onward.report.terminal import tables
from onward.report.training_curves import curves_as_json, training_curves
from onward.results.collect import collect
from onward.results.record import RunRecord


def show(
    results: Annotated[
        list[Path], typer.Argument(help="Results folders, or single runs' folders.")
    ],
    *,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="table (for the terminal; the default), markdown, latex, csv or json.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write all scores as one flat table into FILE.parquet or FILE.csv."),
    ] = None,
    rows: Annotated[
        Rows, typer.Option(help="What a row of --out is: a score, or a run with its metrics.")
    ] = "scores",
    as_bibtex: Annotated[
        bool, typer.Option("--bibtex", help="Print BibTeX of what was used.")
    ] = False,
    curves: Annotated[
        bool,
        typer.Option(
            "--curves",
            help="Draw the training curves of each run, also of one under way; "
            "with --json, print their numbers.",
        ),
    ] = False,
    metric: MoreMetrics = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as --format json.")] = False,
) -> None:
    """Show the results in folders: mean ± deviation over seeds, and what they cost.

    Folders that cannot be read, and runs that are not finished, are left out, named and counted
    on the error stream.
    """
    asked = [out is not None, as_bibtex, as_json or form is not None]
    if sum(asked) > 1 or (as_json and form not in (None, "json")):
        raise OnwardError("expected one of --format, --json, --bibtex and --out, found several")
    if curves and (out is not None or as_bibtex or form not in (None, "json")):
        raise OnwardError("expected --curves alone or with --json, found another form beside it")
    if out is not None:
        written = write_flat(results, out, rows)
        say_skipped(written.left_out, 0 if rows == "scores" else written.unfinished)
        typer.echo(f"{written.rows:,} rows of {written.runs:,} runs in {out}")
        return
    found = collect(results)
    if not found.records:
        say_skipped(found.left_out, 0)
        raise OnwardError("expected at least one run that can be read, found none")
    if curves:
        _show_curves(found.records, as_json=as_json or form == "json")
        say_skipped(found.left_out, 0)
        return
    summaries = summarise(found.records, metric or ())
    if as_json or form == "json":
        print_json(to_json(summaries))
    elif as_bibtex:
        typer.echo(bibtex(summaries))
    elif form in ("markdown", "latex", "csv"):
        typer.echo({"markdown": markdown, "latex": latex, "csv": as_csv}[form](summaries))
    else:
        screen = console()
        for number, table in enumerate(tables(summaries)):
            if number:
                screen.print()
            screen.print(table)
    say_resumed(found.records)
    say_skipped(found.left_out, len(unfinished(found.records)))


def _show_curves(records: Sequence[RunRecord], *, as_json: bool) -> None:
    """Draw or print the training curves of runs."""
    found = [(record, training_curves(record.path)) for record in records if record.path]
    drawn = [(record, curves) for record, curves in found if curves.curves]
    if as_json:
        print_json([{**_named(r), **curves_as_json(curves, r.spec.periods)} for r, curves in drawn])
        return
    if not drawn:
        raise OnwardError(
            "expected runs with training metrics (training.jsonl), found none: older versions did "
            "not record them, and neither do methods with a training loop of their own. Run a "
            "gradient method, such as finetune"
        )
    screen = console()
    for record, curves in drawn:
        spec = record.spec
        title = f"{spec.benchmark} / {spec.data}, {spec.method}, {spec.protocol['name']}, "
        title += f"seed {spec.seed}" + ("" if record.complete else ", not finished")
        screen.print(CurvesChart(title, curves, spec.periods))
    if len(drawn) < len(found):
        screen.print(f"{len(found) - len(drawn)} runs have no training metrics")


def _named(record: RunRecord) -> dict[str, object]:
    spec = record.spec
    return {
        "benchmark": spec.benchmark,
        "data": spec.data,
        "protocol": spec.protocol["name"],
        "method": spec.method,
        "method_options": spec.method_options,
        "seed": spec.seed,
        "folder": str(record.path),
        "complete": record.complete,
    }
