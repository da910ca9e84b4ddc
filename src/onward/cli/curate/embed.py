"""``onward curate embed``: a store of directions."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json
from onward.cli.curate.model import Model, Pretrained, Weights
from onward.cli.curate.stages import say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import counting


def embed(
    *,
    out: Annotated[Path, typer.Option(help="The folder of the store.")],
    images: Annotated[
        Path | None, typer.Option(help="A folder of images, or of tar shards (curate fetch).")
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(
            help="Vectors that you have: .npy with ids beside it, .parquet, or a folder of them."
        ),
    ] = None,
    ids: Annotated[
        Path | None, typer.Option(help="The ids of one .npy file: .parquet, .txt or .npy.")
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(help="What curate pool or date wrote: says which bucket an id is in."),
    ] = None,
    model: Model = None,
    weights: Weights = None,
    pretrained: Pretrained = None,
    as_json: AsJson = False,
) -> None:
    """Make directions of images, or take those you have, into a store that retrieve searches.

    Images that cannot be read and vectors without a direction are listed in corrupt.csv and
    counted. After Ctrl-C or a kill, the same command goes on with the next shard.
    """
    from onward.curate.embed import told
    from onward.curate.embed_sources import embed_source, make_store
    from onward.curate.known_clip import known_clip
    from onward.curate.stage import POOLS, open_stage

    if pool is not None:
        open_stage(pool, *POOLS)  # before a model is loaded
    chosen = None if model is None else known_clip(model, weights, pretrained)
    source = embed_source(images, embeddings, ids, chosen)
    with stage_in(out), counting("embedded {task.completed:,.0f}") as watch:
        counts = make_store(source, out, pool, watch=watch, on_wait=say_waiting)
    if as_json:
        print_json(counts)
        return
    screen = console()
    size = f"{counts['embedded']:,} directions of {counts['width']:,} numbers"
    screen.print(f"{size} in {counts['shards']:,} shards: {escape(str(out))}", soft_wrap=True)
    random = chosen is not None and chosen.random
    warning = "random weights know nothing: give --weights FILE or --pretrained TAG"
    for line in [*[warning] * random, *told(counts)]:
        mind(screen, line)
