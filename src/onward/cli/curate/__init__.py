"""``onward curate``: from a huge timestamped pool to a small, clean, labelled stream."""

import typer

from onward.cli.curate import (
    accept,
    date,
    demo,
    embed,
    export,
    fetch,
    filter,
    pool,
    preview,
    retrieve,
    review,
)
from onward.cli.curate.shards import shards
from onward.cli.curate.tests import draw

app = typer.Typer(
    help="From a huge timestamped pool to a small, clean, labelled stream, or to dated pairs.",
    no_args_is_help=True,
)
app.command("pool")(pool.pool)
app.command("fetch")(fetch.fetch)
app.command("embed")(embed.embed)
app.command("retrieve")(retrieve.retrieve)
app.command("preview")(preview.preview)
app.command("review")(review.review)
app.command("accept")(accept.accept)
app.command("export")(export.export)
app.command("date")(date.date)
app.command("filter")(filter.filter)
app.command("tests")(draw)
app.command("shards")(shards)
app.command("demo")(demo.demo)
