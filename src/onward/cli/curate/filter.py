"""``onward curate filter``: named steps, each of which keeps some pairs, counted by period."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from onward.cli.console import console, print_json
from onward.cli.curate.model import Model, Pretrained, Weights
from onward.cli.curate.stages import Out, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.curate.extras import need


def filter(
    dated: Annotated[Path, typer.Argument(help="What curate date, filter or tests wrote.")],
    *,
    out: Out,
    step: Annotated[
        list[str],
        typer.Option(
            help="english, caption, size, aspect; basic (these four); clip_score, imagenet_near; "
            "bestpool (these two). With options: clip_score:top=0.3. Several make a chain."
        ),
    ],
    images: Annotated[
        Path | None,
        typer.Option(help="Images or tar shards, to read sizes that the pool does not have."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="What curate embed made of the images, for clip_score.")
    ] = None,
    model: Model = None,
    weights: Weights = None,
    pretrained: Pretrained = None,
    reference: Annotated[
        Path | None,
        typer.Option(help="imagenet_near: directions of ImageNet's images, .npy or a store."),
    ] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="A period may lose all its pairs.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Keep the pairs that pass every step, and show how many survive in each period.

    What a step drops is written down with its name. For each step the share that survives is
    compared over time, so that a filter that favours old data is seen: survival.png has the curves.
    """
    need("polars", "narwhals")
    from onward.curate.filter import PICTURE, make_filtered
    from onward.curate.filters import Given, read_steps
    from onward.curate.known_clip import known_clip

    steps = read_steps(step)
    clip = None if model is None else known_clip(model, weights, pretrained)
    given = Given(images, store, clip, reference)
    with stage_in(out):
        counts = make_filtered(dated, out, steps, given, allow_empty=allow_empty, watch=reading)
    if as_json:
        print_json(counts)
        return
    screen = console()
    screen.print(f"{counts['rows']:,} pairs read, {counts['kept']:,} kept")
    screen.print(_table(counts))
    screen.print("survival a year later, in points, with a 95 % interval:")
    for one in [*counts["steps"], {"name": "all steps", "bias": counts["bias"], "notes": {}}]:
        more = "".join(f"; {what} {number:,}" for what, number in one["notes"].items())
        screen.print(f"{escape(one['name'])}: {_told(one['bias'])}{more}", soft_wrap=True)
    screen.print(
        f"the picture: {escape(str(out / PICTURE))}; filtered pairs: {escape(str(out))}",
        soft_wrap=True,
    )


def _table(counts: Mapping[str, Any]) -> Table:
    """Show the share of each period that survives each step."""
    table = Table(box=None, padding=(0, 2))
    table.add_column("period")
    table.add_column("pairs", justify="right")
    for one in counts["steps"]:
        table.add_column(escape(one["name"].partition(":")[0]), justify="right")
    table.add_column("kept", justify="right")
    for number, bucket in enumerate(counts["buckets"]):
        pairs = counts["steps"][0]["before"][number]
        shares = [_share(one["before"][number], one["after"][number]) for one in counts["steps"]]
        table.add_row(bucket["name"], f"{pairs:,}", *shares, f"{bucket['rows']:,}")
    return table


def _share(before: int, after: int) -> str:
    return f"{after / before:.1%}" if before else "-"


def _told(bias: Mapping[str, Any]) -> str:
    """Say how a step's survival changes over time, and what that means."""
    verdict = bias["verdict"]
    if bias["slope"] is None:
        return f"[dim]{verdict}, with fewer than three periods[/]"
    found = f"{100 * bias['slope']:+.2f} ({100 * bias['low']:+.2f} to {100 * bias['high']:+.2f})"
    if "favours" not in verdict:
        return f"{found}, [dim]{verdict}[/]"
    return f"{found}, [yellow]{verdict}{'' if bias['steady'] else ', not steadily'}[/]"
