"""``onward curate date``: pairs of image and caption, dated by the first snapshot that has them."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json, tell_reasons
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


def date(
    pool: Annotated[
        list[Path],
        typer.Argument(
            help="Pairs of URL and caption: DataComp's metadata, img2dataset's parquet, or any "
            "CSV, TSV, JSON lines or parquet with names. Files, folders of them, or patterns."
        ),
    ],
    *,
    snapshots: Annotated[
        list[Path],
        typer.Option(
            help="A folder of dated snapshots, or files: 2016-06.parquet, CC-MAIN-2016-26, or with "
            "a column month. May be given several times."
        ),
    ],
    out: Out,
    every: Annotated[str, typer.Option(help="A bucket per year or month.")] = "year",
    known: Annotated[
        Path | None,
        typer.Option(
            help="True dates of some pairs, to compare with: a table with uid, id or url, and date."
        ),
    ] = None,
    id_column: IdColumn = None,
    url_column: UrlColumn = None,
    caption_column: CaptionColumn = None,
    width_column: Annotated[str | None, column("width", "width of the image")] = None,
    height_column: Annotated[str | None, column("height", "height of the image")] = None,
    snapshot_url_column: Annotated[str | None, column("snapshot-url", "URL in snapshots")] = None,
    snapshot_caption_column: Annotated[
        str | None, column("snapshot-caption", "caption in snapshots")
    ] = None,
    month_column: Annotated[str | None, column("month", "month in snapshots")] = None,
    engine: EngineName = "polars",
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Date pairs of image and caption by the first snapshot that has their URL and caption.

    Everything that is not kept is written down with a reason. Captions are compared as they are,
    and written without HTML. With --known, assigned dates are compared with true ones, and drawn.
    """
    need("polars", "narwhals")
    from onward.curate.date import DateOptions, make_dated  # heavy
    from onward.curate.known_dates import compare_dates

    asked = {
        "id": id_column,
        "url": url_column,
        "caption": caption_column,
        "width": width_column,
        "height": height_column,
    }
    of_snapshots = {
        "url": snapshot_url_column,
        "caption": snapshot_caption_column,
        "month": month_column,
    }
    options = DateOptions(every, named(asked), named(of_snapshots))
    with stage_in(out):
        counts: dict[str, Any] = dict(
            make_dated(
                pool, snapshots, out, options, engine_name=engine, master=master, watch=reading
            )
        )
    if known is not None:
        counts["known"] = compare_dates(out, known)
    if as_json:
        print_json(counts)
        return
    _tell(counts, out)


def _tell(counts: dict[str, Any], out: Path) -> None:
    screen = console()
    screen.print(f"{counts['rows']:,} pairs read, {counts['kept']:,} dated")
    tell_reasons(screen, "dropped", counts["dropped"])
    if counts["hashed_ids"]:
        mind(screen, f"{counts['hashed_ids']:,} ids are hashes of URL and caption")
    if not counts["snapshots_in_order"]:
        mind(screen, "snapshots were taken in the order of their months")
    for one in counts["snapshots"]:
        if one["undecoded"]:
            mind(screen, f"{one['undecoded']:,} rows of {one['month']} are not in UTF-8")
    for bucket in counts["buckets"]:
        screen.print(f"{bucket['name']}: {bucket['rows']:,} pairs")
    if "known" in counts:
        found = counts["known"]
        together = found["spearman"]
        ranks = "all of one month" if together is None else f"Spearman {together:.3f}"
        screen.print(
            f"true dates: {found['compared']:,} compared, {ranks}, "
            f"median lag {found['median_lag_months']:g} months, "
            f"{found['within_a_year']:.1%} within a year; {escape(found['picture'])}",
            soft_wrap=True,
        )
    screen.print(f"dated pairs: {escape(str(out))}", soft_wrap=True)
