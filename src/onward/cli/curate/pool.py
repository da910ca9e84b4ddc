"""``onward curate pool``: valid rows of metadata, in order of time, in buckets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, print_json, tell_reasons
from onward.cli.curate.metadata import (
    CaptionColumn,
    EngineName,
    IdColumn,
    Master,
    UrlColumn,
    column,
    named,
)
from onward.cli.curate.stages import Out, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.curate.extras import need


def pool(
    meta: Annotated[
        list[Path],
        typer.Argument(
            help="Files of metadata, folders of them, or patterns: YFCC100M's, img2dataset's, or "
            "any CSV, TSV, JSON lines or parquet with names. .gz, .bz2 and .zst are read, too."
        ),
    ],
    *,
    out: Out,
    buckets: Annotated[
        int | None, typer.Option(min=1, help="So many buckets with as many rows each.")
    ] = None,
    every: Annotated[str | None, typer.Option(help="A bucket per year, quarter or month.")] = None,
    time_column: Annotated[
        str | None, column("time", "time", " Of YFCC100M it is uploaded, else time or uploaded.")
    ] = None,
    taken_column: Annotated[
        str | None,
        column(
            "taken",
            "capture time",
            " Rows need a capture time before their time then. YFCC100M has it; none to ignore it.",
        ),
    ] = None,
    id_column: IdColumn = None,
    url_column: UrlColumn = None,
    page_column: Annotated[str | None, column("page", "page that shows it")] = None,
    author_column: Annotated[str | None, column("author", "author")] = None,
    title_column: Annotated[str | None, column("title", "title")] = None,
    caption_column: CaptionColumn = None,
    licence_column: Annotated[str | None, column("licence", "licence")] = None,
    licence_url_column: Annotated[str | None, column("licence-url", "text of the licence")] = None,
    format: Annotated[
        str | None, typer.Option(help="yfcc, img2dataset or table; seen from the file by default.")
    ] = None,
    earliest: Annotated[
        str | None,
        typer.Option(help="The first day taken for real; by default all but those of 1970."),
    ] = None,
    latest: Annotated[
        str | None, typer.Option(help="The last day taken for real; by default now.")
    ] = None,
    day_first: Annotated[
        bool | None, typer.Option("--day-first/--month-first", help="How 03/04/2020 is meant.")
    ] = None,
    engine: EngineName = "polars",
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Keep the valid rows of metadata, sort them by time, and cut them into buckets.

    Everything that is not kept is written down with a reason. A row needs an id that no earlier row
    has and a time that is understood, not in 1970 and not in the future; with a capture time,
    it has to be uploaded strictly after it. Equal buckets are cut in the order of time and id; if
    rows are over, the earliest buckets have one more.
    """
    need("polars", "narwhals")
    from onward.curate.pool import PoolOptions, make_pool  # heavy

    asked = {
        "id": id_column,
        "time": time_column,
        "taken": taken_column,
        "url": url_column,
        "page": page_column,
        "author": author_column,
        "title": title_column,
        "caption": caption_column,
        "licence": licence_column,
        "licence_url": licence_url_column,
    }
    options = PoolOptions(buckets, every, named(asked), format, earliest, latest, day_first)
    with stage_in(out):
        counts = make_pool(meta, out, options, engine_name=engine, master=master, watch=reading)
    if as_json:
        print_json(counts)
        return
    screen = console()
    screen.print(f"{counts['rows']:,} rows read, {counts['kept']:,} kept")
    tell_reasons(screen, "dropped", counts["dropped"])
    for number, bucket in enumerate(counts["buckets"]):
        name = f" {bucket['name']}" if "name" in bucket else ""
        screen.print(
            f"bucket {number:>2}{name}: {bucket['rows']:,} rows, {bucket['first']} to "
            f"{bucket['last']}"
        )
    screen.print(f"the pool: {escape(str(out))}", soft_wrap=True)
