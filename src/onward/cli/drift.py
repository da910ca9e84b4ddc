"""``onward drift``: how data has moved."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from onward.benchmarks import Source
from onward.cli.console import console, print_json
from onward.cli.options import AsJson, page_file
from onward.cli.progress import reading
from onward.cli.source import with_data_option
from onward.errors import OnwardError


@with_data_option
def drift(
    *,
    source: Source,
    out: Annotated[
        Path | None, typer.Option(help="Write a page: a new HTML file.", callback=page_file)
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(
            "--embeddings",
            "--store",
            help="Vectors by id: .npy with ids beside it, .parquet, or what curate embed wrote.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Embed images by a CLIP: a name, a file of weights, or a run folder."),
    ] = None,
    pretrained: Annotated[
        str | None, typer.Option(help="Published weights of --model, on this machine.")
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(help="Run folders: which part of the drift hurts them. May be repeated."),
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="The column of texts: new words, and nouns.")
    ] = None,
    nouns: Annotated[
        bool | None,
        typer.Option(
            "--nouns/--no-nouns",
            help="WordNet's nouns nearest to captions; by default where there are captions.",
        ),
    ] = None,
    wordnet: Annotated[Path | None, typer.Option(help="The folder of WordNet.")] = None,
    samples: Annotated[
        int, typer.Option(min=20, help="Samples of a period that are embedded, at most.")
    ] = 2000,
    width: Annotated[
        int, typer.Option(min=1, help="Principal components that the Fréchet distance sees.")
    ] = 128,
    draws: Annotated[
        int, typer.Option(min=19, help="Deals by chance that bands are made of.")
    ] = 39,
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="False alarms allowed, over all pairs.")
    ] = 0.05,
    by_sample: Annotated[
        bool,
        typer.Option("--by-sample", help="Leave groups aside, where few of them make a period."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Say how data moves: distances between its periods, beside what they are without drift.

    Each period is held against the first and against the one before: Fréchet distance of
    embeddings, total variation of labels and nouns, and whether a classifier tells them apart on
    groups that it has not seen. A page also shows the samples that are most typical of change.
    """
    # Figures and models: heavy.
    from onward.drift.measure import measure_drift, pairs_of
    from onward.drift.terminal import lines

    if embeddings is not None and model is not None:
        raise OnwardError("expected --embeddings or --model, found both")
    chosen = None if model is None else _clip(model, pretrained)
    made = source.load()
    periods = len(made.stream(seed))
    with reading(len(pairs_of(periods)), "pairs", "compared") as progress:
        found = measure_drift(
            made,
            embed=_embed(embeddings, chosen),
            nouns=_nouns(nouns, wordnet),
            text_column=text_column,
            samples=samples,
            width=width,
            draws=draws,
            level=level,
            by_sample=by_sample,
            seed=seed,
            progress=progress,
        )
    left_out: list[str] = []
    if run:
        from onward.drift.hurts import with_runs

        found, left_out = with_runs(found, run)
    if out is not None:
        from onward.drift.page import write_drift_page

        write_drift_page(found, out)
    if as_json:
        print_json(found.to_json())
        return
    screen = console()
    for line in lines(found):
        screen.print(line)
    for reason in left_out:
        screen.print(f"[yellow]left out:[/] {escape(reason)}", soft_wrap=True)
    if out is not None:
        screen.print(f"the page: {escape(str(out))}", soft_wrap=True)


def _clip(model: str, pretrained: str | None) -> Any:
    from onward.models.clip_choice import chosen_clip

    return chosen_clip(model, pretrained=pretrained)


def _embed(place: Path | None, chosen: Any) -> Any:
    from onward.drift.embedding import clip_embedding, given_embedding

    if place is not None:
        return lambda stream, rows: given_embedding(place.expanduser(), stream.table, rows)
    if chosen is not None:
        words = f"images as {chosen.name} sees them, its weights {chosen.weights}"
        return lambda stream, rows: clip_embedding(chosen.clip, words, stream.table, rows)
    return None


def _nouns(asked: bool | None, wordnet: Path | None) -> Any:  # noqa: FBT001
    """Return what finds nouns: if it was asked for, or if there are captions and all is there."""
    if asked is False:
        return None

    def found(texts: Any, parts: Any, column: str) -> Any:
        from onward.drift.texts import CAPTIONS

        if asked is None and column not in CAPTIONS:
            return None, "left out: only of captions, unless --nouns is given"
        try:
            from onward.drift.nouns import nearest_nouns

            named = nearest_nouns(texts, parts, wordnet=wordnet)
        except OnwardError as error:
            if asked:
                raise
            return None, f"left out: {error}"
        return named.tags, named.words

    return found
