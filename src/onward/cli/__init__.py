"""The command line: every command is a thin call of a public function."""

import signal
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from onward import __version__
from onward.cli.group import Group, typer_app
from onward.cli.voice import one_voice

_COMMANDS = Group(
    "Continual learning on data that moves in time: train today, be right tomorrow.",
    {
        "list": "listing.list_catalogue",
        "run": "run.run",
        "pretrain": "pretrain.pretrain",
        "tune": "tune.tune",
        "show": "show.show",
        "compare": "compare.compare",
        "report": "report.report",
        "leaderboard": "leaderboard.leaderboard",
        "evaluate": "evaluate.evaluate",
        "plan": "plan.plan",
        "reproduce": "reproduce.reproduce",
        "budget": "budget.budget",
        "drift": "drift.drift",
        "check": Group(
            "Check results, methods, metrics, streams, data and devices.",
            {
                "results": "check.results",
                "method": "check.method",
                "metric": "check.metric",
                "stream": "check.stream",
                "data": "check.data",
                "device": "check_device.device",
            },
        ),
        "data": Group(
            "Look at data, and make some.",
            {"describe": "data.describe", "make": "data.make", "key": "data.key"},
        ),
        "curate": Group(
            "From a huge timestamped pool to a small, clean, labelled stream, or to dated pairs.",
            {
                "pool": "curate.pool.pool",
                "fetch": "curate.fetch.fetch",
                "embed": "curate.embed.embed",
                "retrieve": "curate.retrieve.retrieve",
                "preview": "curate.preview.preview",
                "review": "curate.review.review",
                "accept": "curate.accept.accept",
                "export": "curate.export.export",
                "date": "curate.date.date",
                "filter": "curate.filter.filter",
                "tests": "curate.tests.draw",
                "shards": "curate.shards.shards",
                "demo": "curate.demo.demo",
            },
        ),
        "demo": "demo.demo",
    },
)


def _version(asked: bool) -> None:  # noqa: FBT001
    if asked:
        typer.echo(__version__)
        raise typer.Exit


def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app = typer_app(_COMMANDS, _options)


_python_format = warnings.formatwarning


def _format_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """Return a warning of Onward as one line, and any other as Python formats it."""
    if issubclass(category, UserWarning) and Path(__file__).parents[1] in Path(filename).parents:
        return f"Warning: {message}\n"
    return _python_format(message, category, filename, lineno, line)


class _TerminatedError(BaseException):
    """The process was asked to end by SIGTERM. A sweep reports a `SystemExit` of a learner."""


def _terminate(number: int, frame: object) -> None:
    raise _TerminatedError


def main() -> None:
    """Run the command line; a user's mistake ends with one message and exit code 2."""
    # A scheduler's polite end is as good as Ctrl-C: workers are stopped, folders stay whole.
    signal.signal(signal.SIGTERM, _terminate)
    warnings.formatwarning = _format_warning
    try:
        with one_voice(next(iter(sys.argv[1:]), None)):
            app()
    except _TerminatedError:
        sys.exit(128 + signal.SIGTERM)
