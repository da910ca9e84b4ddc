"""``onward curate retrieve``: candidates for review."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json
from onward.cli.curate.model import Model, Pretrained, Weights
from onward.cli.curate.stages import say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import progress_bar
from onward.errors import OnwardError

_MOST_LINES = 12


def retrieve(
    store: Annotated[
        Path, typer.Argument(help="What curate embed wrote, or one .npy file of directions.")
    ],
    *,
    concepts: Annotated[str, typer.Option(help="A file of concepts, or clear10.")],
    out: Annotated[Path, typer.Option(help="The folder of the candidates.")],
    model: Model = None,
    weights: Weights = None,
    pretrained: Pretrained = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="Instead of a model: .npy, one row per concept in the file's order."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Images of each concept and bucket.")] = 600,
    background: Annotated[
        int, typer.Option(min=0, help="Lowest-scoring images of each concept and bucket.")
    ] = 60,
    sub_queries: Annotated[
        bool, typer.Option("--sub-queries", help="Ask for each narrower text; the best one counts.")
    ] = False,
    skip_bucket: Annotated[
        list[int] | None,
        typer.Option(help="Leave a bucket alone, as CLEAR does with 0. May be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the images of each bucket that are nearest to each concept, and a background.

    Images among the best of several concepts are removed, and the next best take their place. A
    bucket that is too small, a concept with fewer images than asked for, and one that matches
    nothing are named.
    """
    from onward.curate.candidates import Search, make_candidates
    from onward.curate.queries import find_concepts
    from onward.curate.retrieve_words import told

    if (model is None) == (queries is None):
        raise OnwardError("expected --model or --queries, found both or neither")
    if queries is not None and sub_queries:
        raise OnwardError("expected --sub-queries with --model, found it with --queries")
    by = queries or (str(model), weights, pretrained)
    search = Search(by, top, background, sub_queries, skip_bucket or ())
    with stage_in(out):
        counts = make_candidates(
            store,
            find_concepts(concepts),
            out,
            search,
            progress=_scanning,
            on_wait=say_waiting,
        )
    if as_json:
        print_json(counts)
        return
    screen = console()
    screen.print(
        f"{counts['candidates']:,} candidates and {counts['background']:,} of background from "
        f"{counts['images']:,} images in {counts['buckets']:,} buckets; {counts['removed']:,} "
        f"removed for several concepts: {escape(str(out))}",
        soft_wrap=True,
    )
    lines = told(counts)
    for line in lines[:_MOST_LINES]:
        mind(screen, line)
    if len(lines) > _MOST_LINES:
        mind(screen, f"and {len(lines) - _MOST_LINES} more, see --json")


@contextlib.contextmanager
def _scanning(total: int, what: str, verb: str) -> Iterator[Callable[[int], None]]:
    progress = progress_bar(f"{verb} {{task.completed:,.0f}} of {{task.total:,.0f}} {what}")
    bar = progress.add_task("", total=total)

    def watch(rows: int) -> None:
        if progress.tasks[bar].completed >= total:  # a second scan, for what ran out
            progress.reset(bar)
        progress.advance(bar, rows)

    with progress:
        yield watch
