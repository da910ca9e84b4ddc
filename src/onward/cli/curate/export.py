"""``onward curate export``: a dataset to keep, to publish and to learn from."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from onward.cli.console import console, mind, print_json, tell_reasons
from onward.cli.curate.stages import Images, Out, check_choices, say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.errors import first_few


def export(
    accepted: Annotated[Path, typer.Argument(help="A folder of onward curate accept.")],
    *,
    pool: Annotated[Path, typer.Option(help="The folder of onward curate pool it comes from.")],
    images: Images,
    out: Out,
    layout: Annotated[
        str, typer.Option(help="CLEAR's layout: old (five splits) or new (train and test).")
    ] = "old",
    features: Annotated[
        Path | None,
        typer.Option(help="A folder of onward curate embed: its directions go along as clip."),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Images that are missing or broken: stop, or skip them.")
    ] = "stop",
    licences: Annotated[
        str, typer.Option(help="all, or shareable: leave out what may not be handed on.")
    ] = "all",
    all_metadata: Annotated[
        bool, typer.Option(help="old: write the metadata of the whole pool, too.")
    ] = True,
    name: Annotated[str | None, typer.Option(help="The dataset's; that of --out.")] = None,
    creator: Annotated[str | None, typer.Option(help="Who made the dataset.")] = None,
    url: Annotated[str | None, typer.Option(help="Where it is published.")] = None,
    price: Annotated[
        float | None, typer.Option(min=0, help="Of one vote, for the cost in the card.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Export the labelled stream: CLEAR's layout, a table, a card, licences and Croissant.

    onward run clear --data OUT works on it at once. Images are copied byte by byte. Labelled
    buckets are named from 1; if the stream has labels in bucket 0, each name is one more than the
    number in the pool.
    """
    from onward.curate.clear_layout import Layout
    from onward.curate.export import Licences, Missing
    from onward.curate.export import export as exported

    chosen: dict[str, Any] = {"layout": layout, "missing": missing, "licences": licences}
    kinds = {"layout": Layout, "missing": Missing, "licences": Licences}
    check_choices("export", chosen, kinds)
    with stage_in(out):
        counts = exported(
            accepted,
            pool,
            images,
            out,
            **chosen,
            features=features,
            all_metadata=all_metadata,
            name=name,
            creator=creator,
            url=url,
            price=price,
            progress=reading,
            on_wait=say_waiting,
        )
    if as_json:
        print_json(dict(counts))
        return
    screen = console()
    screen.print(
        f"{counts['images']:,} images of {len(counts['classes'])} classes in "
        f"{len(counts['buckets'])} buckets, {layout} layout"
    )
    tell_reasons(screen, "left out", counts["left_out"], "images: ")
    tell_reasons(screen, "mind", counts["mind"], "images: ")
    if counts["without_images"]:
        mind(screen, f"no image at all of {first_few(counts['without_images'])}")
    screen.print(f"the dataset: {escape(str(out))} (its card: README.md)", soft_wrap=True)
    screen.print(f"learn from it: onward run clear --data {escape(str(out))}", soft_wrap=True)
