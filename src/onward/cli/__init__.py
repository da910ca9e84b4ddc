"""The command line: every command is a thin call of a public function."""

import sys

import typer
from rich.console import Console

from onward.cli import check, data, demo, listing, run, show
from onward.errors import OnwardError

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
app.command("show")(show.show)
app.add_typer(check.app, name="check")
app.add_typer(data.app, name="data")
app.command("demo")(demo.demo)


def main() -> None:
    """Run the command line; a user's mistake ends with one message and exit code 2."""
    try:
        app()
    except OnwardError as error:
        Console(stderr=True).print(f"[bold red]onward:[/] {_plain(str(error))}", soft_wrap=True)
        sys.exit(2)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
