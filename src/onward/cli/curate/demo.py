"""``onward curate demo``: the whole way, offline, in minutes."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from onward.cli.console import console, print_json
from onward.cli.curate.stages import say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.cli.runs import live, with_execution
from onward.curate.extras import need
from onward.executors.executor import Execution


@with_execution
def demo(
    *,
    out: Annotated[Path, typer.Option(help="The folder of all stages and of the page.")],
    seed: Annotated[
        int, typer.Option(min=0, help="Draws the art, the model, the annotators and the dataset.")
    ] = 0,
    execution: Execution,
    as_json: AsJson = False,
) -> None:
    """See the whole way on emoji art whose truth is known: one page, offline, in minutes.

    A pool of dated art with much in the way, a small CLIP trained on its earliest period, ten
    concepts, annotators who are simulated, a finished dataset and runs on it. It goes through pool,
    embed, retrieve, preview, review, accept and export; each stage is a folder below OUT. After
    Ctrl-C or a kill, the same command goes on where it stopped.
    """
    need("polars", "narwhals")
    from onward.curate.demo.size import PAGE, Voice
    from onward.curate.demo.whole_way import whole_way

    def say(line: str) -> None:
        typer.echo(line, err=True)

    with stage_in(out):
        counts = whole_way(
            out,
            seed=seed,
            voice=Voice(say, reading, live),
            on_wait=say_waiting,
            **execution,
        )
    if as_json:
        print_json({**counts, "page": str(out / PAGE)})
        return
    screen = console()
    for line in _lines(counts):
        screen.print(escape(line), soft_wrap=True)
    screen.print(f"the page: {escape(str(out / PAGE))}", soft_wrap=True)


def _lines(counts: Any) -> list[str]:
    """Say what came out, and how it compares with the truth."""
    precision = [f"{name} {one['precision']:.0%}" for name, one in counts["precision"].items()]
    error, cost = counts["label_error"], counts["cost"]
    found = error["estimated"]
    scores = [f"{name} {one['next_domain']['mean']:.1%}" for name, one in counts["run"].items()]
    return [
        f"{counts['pool']['kept']:,} images without labels, {counts['export']['images']:,} with: "
        f"{cost['share']:.1%} of the answers that the whole pool would take",
        f"precision of retrieval: {', '.join(precision)}",
        f"agreement: Krippendorff's α = {counts['agreement']['krippendorff_alpha']:.3f}",
        f"label error: {error['true']:.2%} in truth, {found['estimate']:.2%} estimated, between "
        f"{found['low']:.2%} and {found['high']:.2%} with {found['level']:.0%} certainty",
        f"right on the next bucket: {', '.join(scores)}",
    ]
