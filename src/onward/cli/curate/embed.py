"""``onward curate embed``: a store of embeddings."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json
from onward.cli.curate.model import Model, Pretrained, Weights
from onward.cli.curate.stages import say_waiting, stage_in
from onward.cli.options import AsJson, Device, Workers
from onward.cli.progress import counting

if TYPE_CHECKING:
    import torch

    from onward.curate.known_clip import KnownClip


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
    device: Device = "auto",
    workers: Workers = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute on. Default: one per core.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Embed images with a CLIP, or take vectors you have, into a store that retrieve searches.

    Images that cannot be read and vectors of zeros, NaN or infinity are listed in corrupt.csv and
    counted. After Ctrl-C or a kill, the same command resumes with the next shard.
    """
    from onward.curate.embed import told
    from onward.curate.embed_sources import embed_source, make_store
    from onward.curate.known_clip import known_clip
    from onward.curate.stage import POOLS, open_stage

    if pool is not None:
        open_stage(pool, *POOLS)  # before a model is loaded
    place = None if model is None else _device(device)
    chosen = None if model is None else known_clip(model, weights, pretrained)
    source = embed_source(images, embeddings, ids, chosen)
    with (
        _computing(chosen, place, workers, threads),
        stage_in(out),
        counting("embedded {task.completed:,.0f}") as watch,
    ):
        counts = make_store(source, out, pool, watch=watch, on_wait=say_waiting)
    if as_json:
        print_json(counts)
        return
    screen = console()
    size = f"{counts['embedded']:,} embeddings of {counts['width']:,} numbers"
    screen.print(f"{size} in {counts['shards']:,} shards: {escape(str(out))}", soft_wrap=True)
    random = chosen is not None and chosen.random
    warning = "the weights are random: give --weights FILE or --pretrained TAG"
    for line in [*[warning] * random, *told(counts)]:
        mind(screen, line)


@contextlib.contextmanager
def _computing(
    model: "KnownClip | None", device: "torch.device | None", workers: int, threads: int | None
) -> Iterator[None]:
    """Move a model to a device, and compute and load images as the options say."""
    if model is None:
        yield
        return
    import torch

    from onward.models.device import computing
    from onward.train.loading import loading_with

    model.clip.to(device)
    with computing(threads or torch.get_num_threads()), loading_with(workers):
        yield


def _device(name: str) -> "torch.device":
    from onward.models.device import resolve_device

    return resolve_device(name)
