"""``onward curate embed``: a store of directions."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, print_json
from onward.cli.curate.model import Model, Pretrained, Weights
from onward.cli.curate.stages import say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import progress_bar


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
    from onward.curate.embed import embed as make
    from onward.curate.embed import told
    from onward.curate.embed_sources import embed_source
    from onward.curate.known_clip import known_clip
    from onward.curate.stage import POOLS, making, open_stage

    known = None if pool is None else open_stage(pool, *POOLS)
    chosen = None if model is None else known_clip(model, weights, pretrained)
    source = embed_source(images, embeddings, ids, chosen)
    progress = progress_bar("embedded {task.completed:,.0f}")
    bar = progress.add_task("", total=None)
    options = {**source.options, "pool": known and known.digest}
    with stage_in(out), making(out, "embed", options, on_wait=say_waiting) as folder:
        if folder.finished is None:
            with progress:
                make(source.parts(), folder, known, lambda rows: progress.advance(bar, rows))
        counts = folder.finished or {}
    if as_json:
        print_json(counts)
        return
    screen = console()
    size = f"{counts['embedded']:,} directions of {counts['width']:,} numbers"
    screen.print(f"{size} in {counts['shards']:,} shards: {escape(str(out))}", soft_wrap=True)
    random = chosen is not None and chosen.random
    warning = "random weights know nothing: give --weights FILE or --pretrained TAG"
    for line in [*[warning] * random, *told(counts)]:
        screen.print(f"[yellow]mind:[/] {escape(line)}", soft_wrap=True)
