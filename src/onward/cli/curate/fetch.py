"""``onward curate fetch``: the images of a pool, by their URLs, until enough have arrived."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json, tell_reasons
from onward.cli.curate.stages import Out, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.curate.extras import need


def fetch(
    pool: Annotated[Path, typer.Argument(help="What onward curate pool has written.")],
    *,
    count: Annotated[int, typer.Option(min=1, help="How many images are wanted.")],
    out: Out,
    shard_size: Annotated[
        int, typer.Option(min=1, help="About how many downloads make a shard.")
    ] = 10_000,
    min_edge: Annotated[
        int, typer.Option(min=1, help="How many pixels the shorter edge has at least.")
    ] = 120,
    max_aspect: Annotated[
        float, typer.Option(min=1, help="How often the longer edge is the shorter one at most.")
    ] = 2.0,
    min_bytes: Annotated[int, typer.Option(min=1, help="How large an image is at least.")] = 10,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="The size above which an answer is not read on.")
    ] = 30_000_000,
    connections: Annotated[int, typer.Option(min=1, help="Downloads at the same time.")] = 32,
    per_host: Annotated[int, typer.Option(min=1, help="Of these from one host.")] = 8,
    per_second: Annotated[
        float, typer.Option(min=0.01, help="Requests to one host in a second.")
    ] = 20.0,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one answer.")] = 30.0,
    retries: Annotated[
        int, typer.Option(min=0, help="How often to ask again after what may pass.")
    ] = 2,
    contact: Annotated[
        str, typer.Option(help="Your address or page, for those who run the hosts.")
    ] = "",
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also ask hosts inside your own network.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch images by their URLs until enough have arrived, into tar shards.

    The order is that of a hash of the ids: a sample of the whole pool, the same every time. Images
    stay as they came. What is too small, too long or not an image is not kept, as in CLEAR; each
    download that failed is written down with its reason. A host's Retry-After is heeded.
    """
    need("urllib3", "polars")
    from onward.curate.client import Manners
    from onward.curate.fetch import FetchOptions
    from onward.curate.fetch import fetch as fetch_images
    from onward.curate.picture_filters import Filters

    options = FetchOptions(
        count, shard_size, Filters(min_bytes, min_edge, max_aspect), max_bytes, allow_private
    )
    manners = Manners(connections, per_host, per_second, timeout, retries, contact)
    with stage_in(out):
        counts = fetch_images(pool, out, options, manners, watch=reading)
    if as_json:
        print_json(counts)
        return
    screen = console()
    screen.print(f"{counts['fetched']:,} of {counts['wanted']:,} images, {counts['asked']:,} asked")
    tell_reasons(screen, "failed", counts["failed"])
    if counts["fetched"] < counts["wanted"]:
        mind(screen, "the pool has no more rows to ask for")
    screen.print(f"the images: {escape(str(out))}", soft_wrap=True)
