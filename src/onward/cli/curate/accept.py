"""``onward curate accept``: votes become labels."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from onward.cli.console import console, mind, print_json, tell_reasons
from onward.cli.curate.stages import Out, check_choices, say_waiting, stage_in
from onward.cli.options import AsJson
from onward.errors import first_few


def accept(
    retrieved: Annotated[Path, typer.Argument(help="A folder of onward curate retrieve.")],
    *,
    votes: Annotated[
        Path,
        typer.Option(help="A folder of onward curate review, or votes as a parquet or CSV file."),
    ],
    out: Out,
    rule: Annotated[str, typer.Option(help="majority, or dawid-skene (crowd-kit).")] = "majority",
    sensitive: Annotated[
        str,
        typer.Option(help="strict: one yes leaves an image out; published: more than two do."),
    ] = "strict",
    per_class: Annotated[
        int, typer.Option(min=1, help="Images to draw per class and bucket.")
    ] = 300,
    short: Annotated[
        str, typer.Option(help="Where there are fewer: keep, drop-bucket or error.")
    ] = "keep",
    votes_per_image: Annotated[
        int, typer.Option(min=1, help="Images with fewer votes are not accepted.")
    ] = 3,
    certainty: Annotated[
        float, typer.Option(min=0, max=1, help="What dawid-skene must reach.")
    ] = 0.9,
    relabel: Annotated[
        bool,
        typer.Option(help="Accept an image that shows another concept as that one."),
    ] = False,
    gold: Annotated[
        Path | None,
        typer.Option(help="Candidates whose truth is known (id, label), for the label error."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws the images of each class.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Turn votes into labels; say what was rejected and why, and how many labels are wrong.

    The label error is estimated from the votes alone, with an interval of 95 %;
    docs/howto/curate.md says what it assumes. --gold makes it sharper.
    """
    from onward.curate.accept import Short, Terms
    from onward.curate.accept import accept as accepted
    from onward.curate.verdicts import Rule, Sensitive

    chosen: dict[str, Any] = {"rule": rule, "sensitive": sensitive, "short": short}
    check_choices("accept", chosen, {"rule": Rule, "sensitive": Sensitive, "short": Short})
    terms = Terms(
        **chosen,
        votes_per_image=votes_per_image,
        certainty=certainty,
        relabel=relabel,
        per_class=per_class,
        seed=seed,
    )
    with stage_in(out):
        counts = accepted(retrieved, votes, out, terms, gold=gold, on_wait=say_waiting)
    if as_json:
        print_json(dict(counts))
        return
    screen = console()
    _table(screen, counts)
    _words(screen, counts, per_class)
    screen.print(f"the labels: {escape(str(out / 'labelled.parquet'))}", soft_wrap=True)


def _table(screen: Console, counts: Any) -> None:
    """Print accepted images of each class and bucket, and of how many candidates."""
    cells = {(one["concept"], one["bucket"]): one for one in counts["classes"]}
    buckets = sorted({bucket for _, bucket in cells})
    table = Table("accepted", *map(str, buckets), "of", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in dict.fromkeys(name for name, _ in cells):
        mine = [cells.get((name, bucket)) for bucket in buckets]
        shown = ["" if one is None else f"{one['accepted']:,}" for one in mine]
        total = sum(one["candidates"] for one in mine if one is not None)
        table.add_row(escape(name), *shown, f"{total:,}")
    screen.print(table)


def _words(screen: Console, counts: Any, per_class: int) -> None:
    screen.print(f"{counts['accepted']:,} of {counts['candidates']:,} candidates accepted")
    tell_reasons(screen, "rejected", counts["rejected"])
    tell_reasons(screen, "not counted", counts["votes_aside"], "votes ")
    if counts["short"]:
        few = [f"{s['concept']} in bucket {s['bucket']} ({s['images']})" for s in counts["short"]]
        told = f"fewer than {per_class} in {len(few)} classes and buckets: {first_few(few)}"
        mind(screen, told)
    alpha = counts["krippendorff_alpha"]
    said = "" if alpha is None else f"; they agree with Krippendorff's α = {alpha:.3f}"
    screen.print(f"{counts['votes']:,} votes of {counts['annotators']:,} annotators{said}")
    error = counts["label_error"]
    if error is not None:
        screen.print(
            f"label error {error['estimate']:.1%}, between {error['low']:.1%} and "
            f"{error['high']:.1%} with {error['level']:.0%} certainty"
        )
