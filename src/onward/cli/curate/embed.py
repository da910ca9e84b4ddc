"""``onward curate embed``: a store of directions."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, print_json
from onward.cli.curate.model import Model, Pretrained, Weights
from onward.cli.options import AsJson
from onward.cli.progress import progress_bar, resumable
from onward.errors import OnwardError


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
        Path | None, typer.Option(help="What curate pool wrote: says which bucket an id is in.")
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
    from onward.curate.embed_images import image_parts, images_digest
    from onward.curate.given_vectors import given_digest, given_files, given_parts
    from onward.curate.images import image_shards
    from onward.curate.stage import making, open_stage

    if (images is None) == (embeddings is None):
        raise OnwardError("expected --images or --embeddings, found both or neither")
    if images is not None and model is None:
        raise OnwardError("expected --model with --images, such as ViT-B-32, found none")
    if images is not None and ids is not None:
        raise OnwardError("expected --ids with --embeddings, found it with --images")
    clip, identity, notes = None, None, []
    if model is not None:
        from onward.curate.queries import identity as identity_of
        from onward.models.clip_choice import RANDOM, chosen_clip

        chosen = chosen_clip(model, weights=weights, pretrained=pretrained)
        clip, identity = chosen.clip, identity_of(chosen, weights, pretrained, model)
        if chosen.weights == RANDOM:
            notes.append("random weights know nothing: give --weights FILE or --pretrained TAG")
    known = None if pool is None else open_stage(pool, "pool")
    if images is not None:
        shards = image_shards(images)
        source = {"images": str(images), "found": images_digest(shards)}
    else:
        assert embeddings is not None
        files = given_files(embeddings, ids)
        source = {"embeddings": str(embeddings), "found": given_digest(files)}
    options = {**source, "model": identity, "pool": known and known.digest}
    progress = progress_bar("embedded {task.completed:,.0f}")
    bar = progress.add_task("", total=None)
    wait = lambda: progress.console.print("another process is at this; waiting for it")  # noqa: E731
    with resumable(out), making(out, "embed", options, on_wait=wait) as folder:
        before = folder.finished is not None
        if folder.finished is None:
            with progress:
                parts = (
                    image_parts(clip, shards)
                    if clip is not None and images is not None
                    else given_parts(files)
                )
                make(parts, folder, known, lambda rows: progress.advance(bar, rows))
        counts = folder.finished or {}
    if as_json:
        print_json(counts)
        return
    screen = console()
    if before:
        screen.print("already there: not made again")
    size = f"{counts['embedded']:,} directions of {counts['width']:,} numbers"
    screen.print(f"{size} in {counts['shards']:,} shards: {escape(str(out))}", soft_wrap=True)
    for line in [*notes, *told(counts)]:
        screen.print(f"[yellow]mind:[/] {escape(line)}", soft_wrap=True)
