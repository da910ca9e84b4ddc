"""The command line: every command is a thin call of a public function."""

import signal
import sys
from typing import Annotated

import typer

from onward import __version__
from onward.cli import (
    budget,
    check,
    compare,
    curate,
    data,
    demo,
    drift,
    evaluate,
    leaderboard,
    listing,
    plan,
    pretrain,
    report,
    reproduce,
    run,
    show,
    tune,
)
from onward.cli.voice import one_voice


def _version(asked: bool) -> None:  # noqa: FBT001
    if asked:
        typer.echo(__version__)
        raise typer.Exit


app = typer.Typer(
    name="onward",
    help="Continual learning on data that moves in time: train today, be right tomorrow.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing.list_catalogue)
app.command("run")(run.run)
app.command("pretrain")(pretrain.pretrain)
app.command("tune")(tune.tune)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("evaluate")(evaluate.evaluate)
app.command("plan")(plan.plan)
app.command("reproduce")(reproduce.reproduce)
app.command("budget")(budget.budget)
app.command("drift")(drift.drift)
app.add_typer(check.app, name="check")
app.add_typer(data.app, name="data")
app.add_typer(curate.app, name="curate")
app.command("demo")(demo.demo)


@app.callback()
def onward(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Continual learning on data that moves in time: train today, be right tomorrow."""


def main() -> None:
    """Run the command line; a user's mistake ends with one message and exit code 2."""
    # A scheduler's polite end is as good as Ctrl-C: workers are stopped, folders stay whole.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
    with one_voice(next(iter(sys.argv[1:]), None)):
        app()
