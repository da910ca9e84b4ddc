"""``onward curate shards``: webdataset tars in the layout of TiC-CLIP's data."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from onward.cli.console import console, mind, print_json
from onward.cli.curate.stages import Images, Out, say_waiting, stage_in
from onward.cli.options import AsJson
from onward.cli.progress import reading
from onward.curate.extras import need
from onward.errors import first_few


def shards(
    tests: Annotated[Path, typer.Argument(help="A folder of onward curate tests.")],
    *,
    images: Images,
    out: Out,
    calendar: Annotated[str, typer.Option(help="yearly or monthly: what a period is.")] = "yearly",
    shard_size: Annotated[int, typer.Option(min=1, help="Pairs in a shard, at most.")] = 10_000,
    template: Annotated[
        list[str] | None,
        typer.Option(help="Of prompts, with {c} for the class. Repeat it; three by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write everything as webdataset tars, with sizes and statistics, as TiC-CLIP is released.

    onward run tic --data OUT and open_clip's own trainer read it. Images are copied byte by byte;
    lists of ids are in OUT/ids. Stopped, the same command goes on after the last whole shard.
    """
    need("polars")
    from onward.curate.write_shards import TEMPLATES, make_shards

    with stage_in(out):
        counts = make_shards(
            tests,
            images,
            out,
            calendar=calendar,
            shard_size=shard_size,
            templates=tuple(template or TEMPLATES),
            watch=reading,
            on_wait=say_waiting,
        )
    if as_json:
        print_json(dict(counts))
        return
    screen = console()
    table = Table("period", box=None, padding=(0, 2, 0, 0))
    for column in ("pairs", "shards", "retrieval", "classify"):
        table.add_column(column, justify="right")
    for one in counts["periods"]:
        numbers = (one[key] for key in ("pairs", "shards", "retrieval", "classified"))
        table.add_row(one["name"], *(f"{number:,}" for number in numbers))
    screen.print(table)
    if counts["untested"]:
        names = first_few(counts["untested"])
        mind(screen, f"no test in {names}: who reads the folder leaves them out")
    place = escape(str(out))
    screen.print(f"{counts['pairs']:,} pairs in {counts['shards']:,} shards: {place}")
    screen.print(f"learn from it: onward run tic --data {place} --method finetune", soft_wrap=True)
