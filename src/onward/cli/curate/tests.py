"""``onward curate tests``: pairs that test each period, apart from those to learn from."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from onward.cli.console import console, mind, print_json, tell_reasons
from onward.cli.curate.stages import Images, Out, say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.curate.extras import need
from onward.errors import first_few


def draw(
    pairs: Annotated[
        Path, typer.Argument(help="A folder of onward curate date, or of onward curate filter.")
    ],
    *,
    images: Images,
    out: Out,
    retrieval: Annotated[
        int, typer.Option(min=1, help="Pairs of each bucket that are to find each other.")
    ] = 1000,
    classes: Annotated[
        str | None,
        typer.Option(
            help="imagenet, or a .txt or .json file with words or WordNet's numbers: pairs to "
            "classify are drawn, too."
        ),
    ] = None,
    subtree: Annotated[
        list[str] | None,
        typer.Option(help="A word: the classes below it are a part of their own. Repeat it."),
    ] = None,
    per_class: Annotated[
        int, typer.Option(min=1, help="Pairs to classify of each class and bucket, at most.")
    ] = 50,
    similarity: Annotated[
        float,
        typer.Option(min=-1, max=1, help="Of a caption with its class's definition, at least."),
    ] = 0.5,
    wordnet: Annotated[
        Path | None, typer.Option(help="WordNet's folder, if not in a usual place.")
    ] = None,
    sentences: Annotated[
        Path | None, typer.Option(help="A model of sentence-transformers; MiniLM's package.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws the pairs.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Draw tests from every period, and leave to learn what is not like them.

    A pair is left out of training if its image is that of a test pair or nearly (difference hashes
    of 64 bits that differ in 3 at most), or if its caption has the words of a test pair's, in their
    order. Of pairs to classify, the caption names exactly one class and is about what it is.
    """
    need("polars")
    from onward.curate.make_tests import AskedOptions, make_tests

    options = AskedOptions(
        retrieval=retrieval,
        classes=classes,
        subtrees=tuple(subtree or ()),
        per_class=per_class,
        similarity=similarity,
        wordnet=wordnet,
        sentences=sentences,
        seed=seed,
    )
    with stage_in(out):
        counts = make_tests(pairs, images, out, options, watch=reading, on_wait=say_waiting)
    if as_json:
        print_json(dict(counts))
        return
    screen = console()
    screen.print(_table(counts))
    screen.print(
        f"{counts['rows']:,} of {counts['pairs']:,} pairs are left to learn from; "
        f"{counts['retrieval']:,} are to find each other, {counts['classified']:,} to be classified"
    )
    tell_reasons(screen, "dropped", counts["dropped"], "pairs: ")
    for reason, number in counts["captions"].items():
        screen.print(f"not classified: {number:,} captions: {escape(reason)}")
    if counts["short"]:
        names = first_few(counts["short"])
        mind(screen, f"fewer than {retrieval:,} pairs to retrieve in {names}")
    without = [name for name, number in counts.get("classes", {}).items() if not number]
    if without:
        mind(screen, f"nothing to classify as {first_few(without)}")
    screen.print(f"tests, and pairs to learn from: {escape(str(out))}", soft_wrap=True)


def _table(counts: Any) -> Table:
    columns = ("pairs", "retrieval", "classify", "dropped", "to learn from")
    table = Table("period", box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right")
    for one in counts["buckets"]:
        numbers = (one["pairs"], one["retrieval"], one["classified"])
        dropped = sum(one["dropped"].values())
        table.add_row(one["name"], *(f"{number:,}" for number in (*numbers, dropped, one["rows"])))
    return table
