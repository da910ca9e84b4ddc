"""``onward leaderboard``: a site of ranked submissions."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console
from onward.cli.progress import reading
from onward.configs import TABLES
from onward.report.leaderboard import leaderboard as ranked
from onward.reproduce.published_rows import published_rows
from onward.results.collect import collect
from onward.results.keys import known_keys, read_keys

_NAMED = 5


def leaderboard(
    results: Annotated[Path, typer.Argument(help="A folder with run folders, at any depth.")],
    *,
    out: Annotated[Path, typer.Option(help="The folder of the site.")] = Path("leaderboard"),
    title: Annotated[str, typer.Option(help="What is written above it.")] = "Leaderboard",
    key: Annotated[
        Path | None, typer.Option(help="What tests must be, as onward data key wrote it.")
    ] = None,
) -> None:
    """Make a static site of the runs in a folder, ranked, beside what papers published.

    Every run folder is checked first, as onward check results does; one with a problem is not
    ranked, and a page says why. Ranks begin anew for each edition of the data, recipe and budget.
    """
    # Whole paths, which the site then shortens to what lies below the folder.
    collected = collect([results.resolve()])
    published = published_rows(TABLES.values())
    keys = known_keys() if key is None else known_keys() | read_keys(key)
    with reading(len(collected.records), "run folders", "checking") as progress:
        found = ranked(collected, published, keys, progress)
    from onward.report.leaderboard_site import write_site  # drawings: heavy

    page = write_site(found, out, results, title)
    screen = console()
    for board in found.boards:
        entries = _count(len(board.entries), "entry", "entries")
        divisions = _count(len(board.divisions), "division", "divisions")
        rows = _count(len(board.published), "published row", "published rows")
        text = f"{board.benchmark}, {board.protocol}: {entries} in {divisions}, {rows}"
        screen.print(escape(text), soft_wrap=True)
    for each in found.refused[:_NAMED]:
        text = f"not accepted: {each.folder}: {each.reasons[0]}"
        screen.print(f"[yellow]{escape(text)}[/]", soft_wrap=True)
    more = len(found.refused) - _NAMED
    if more > 0:
        screen.print(f"[yellow]{more} more are not accepted: refused.html names them[/]")
    for note in found.notes:
        screen.print(f"[yellow]note[/]: {escape(note)}", soft_wrap=True)
    accepted = found.checked - len(found.refused)
    screen.print(f"{accepted} of {found.checked} runs accepted; the site: {page}", soft_wrap=True)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
