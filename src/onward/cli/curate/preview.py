"""``onward curate preview``: candidates at a glance."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json
from onward.cli.curate.stages import say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import counting


def preview(
    retrieved: Annotated[Path, typer.Argument(help="What curate retrieve wrote.")],
    *,
    images: Annotated[Path, typer.Option(help="A folder of the images, or of tar shards.")],
    out: Annotated[Path, typer.Option(help="The folder of the page.")],
    shown: Annotated[
        int, typer.Option(min=1, max=60, help="Images of each concept and bucket.")
    ] = 12,
    as_json: AsJson = False,
) -> None:
    """Write a page with images of each concept and bucket, from the best to the last.

    With the scores of the candidates beside those of the whole bucket, and precision estimated from
    clicks on what is wrong. The page is one file that needs no server and no network.
    """
    from onward.curate.preview import PAGE, make_preview

    with stage_in(out), counting("shown {task.completed:,.0f} images") as watch:
        counts = make_preview(retrieved, images, out, shown=shown, watch=watch, on_wait=say_waiting)
    if as_json:
        print_json(counts)
        return
    screen = console()
    for name in ("not_there", "unreadable"):
        if counts[name]:
            told = f"{counts[name]:,} images {name.replace('_', ' ')}, marked as such on the page"
            mind(screen, told)
    screen.print(f"{counts['images']:,} images: {escape(str(out / PAGE))}", soft_wrap=True)
