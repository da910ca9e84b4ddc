"""``onward data``: look at data, and make some."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from onward.benchmarks import Source
from onward.cli.console import console, print_json
from onward.cli.options import AsJson, parse_seeds
from onward.cli.progress import counting, reading
from onward.cli.source import with_data, with_source
from onward.data import emoji_history
from onward.data.street.drives import FRAMES
from onward.errors import OnwardError, unknown
from onward.exam import keys_of
from onward.report.description import describe as description
from onward.report.description import next_command
from onward.report.description_terminal import lines
from onward.results.keys import write_keys


@with_data
def describe(
    *,
    source: Source,
    as_json: AsJson = False,
) -> None:
    """Describe data: what was understood, what each period holds, and what to mind.

    Of the embedded emoji: where they come from and under which terms.
    """
    if source.data == "emoji":
        _describe_emoji(as_json=as_json)
        return
    if source.benchmark != "yours":
        raise OnwardError(
            f"expected a table or photos of yours, found a benchmark's data in {source.data}. "
            f"Look at it with: onward check data {source.data}"
        )
    made = source.load()
    with reading(len(made.raw) if "image" in made.raw.wide else 0, "images") as progress:
        found = description(made, progress=progress)
    if as_json:
        print_json(found)
        return
    screen = console()
    for line in lines(found, next_command(source.data, source.options)):
        screen.print(line)


def make(
    name: Annotated[str, typer.Argument(help="What to make: street, tic-shards or emoji-pool.")],
    *,
    out: Annotated[Path, typer.Option(help="Where to: a new folder.")],
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another traffic.")] = 0,
    frames: Annotated[int, typer.Option(min=1, help="street: about how many frames.")] = FRAMES,
    data: Annotated[
        str, typer.Option(help="tic-shards: emoji, or a table with time, image and caption.")
    ] = "emoji",
    layout: Annotated[
        str, typer.Option(help="tic-shards: datacomp, ids, yfcc or redcaps.")
    ] = "datacomp",
    samples: Annotated[
        int | None,
        typer.Option(min=4, help="tic-shards, emoji-pool: pairs of a month or release, at most."),
    ] = None,
    size: Annotated[int, typer.Option(min=8, help="tic-shards, a table: side of images.")] = 224,
) -> None:
    """Make data: street, tic-shards or emoji-pool. The same seed and numbers give the same bytes.

    street is Emoji Street, a miniature of driving in SODA10M's layout; tic-shards are dated images
    with captions in the layouts of TiC-CLIP's data; emoji-pool is a raw pool of images and captions
    with dated snapshots, to try onward curate date and what follows on.
    """
    known = ("street", "tic-shards", "emoji-pool")
    if name not in known:
        raise unknown("data to make", name, known, "onward data make --help")
    if name == "tic-shards":
        _make_shards(out.expanduser(), data, layout, seed=seed, samples=samples, size=size)
        return
    if name == "emoji-pool":
        _make_pool(out.expanduser(), seed=seed, samples=samples)
        return
    # Drawing needs Pillow, which the other commands can do without.
    from onward.data.street.make import make_street

    with reading(frames, "frames", "drawing") as progress:
        made = make_street(out.expanduser(), seed=seed, frames=frames, progress=progress)
    typer.echo(f"{out}: {made} frames of Emoji Street in the layout of SODA10M")


@with_source
def key(
    *,
    source: Source,
    seeds: Annotated[str, typer.Option(help="Such as 0, 0-4 or 0,2,5-7.")] = "0-4",
    out: Annotated[Path, typer.Option(help="Where to: a new JSON file.")],
) -> None:
    """Write the key of a benchmark: hashes of what its tests ask, and of what is right.

    Nothing is learned. Whoever has the file, and no data, can check run folders against it:
    onward check results DIR --key FILE.
    """
    numbers = parse_seeds(seeds)
    made = source.load()
    with reading(len(numbers), "seeds", "hashing the tests of") as progress:
        keys = keys_of(made, numbers, progress)
    write_keys(out.expanduser(), keys)
    tests = sum(map(len, keys.by_name.values()))
    typer.echo(
        f"{out}: {tests} tests of {made.name} on {made.data}, protocol {made.protocol.name}, seeds "
        f"{seeds}; use it with: onward check results DIR --key {out}"
    )


def _make_shards(
    out: Path, data: str, layout: str, *, seed: int, samples: int | None, size: int
) -> None:
    from onward.data.dated_pairs import emoji_pairs, table_pairs
    from onward.data.tic_make import LAYOUTS, SAMPLES, make_tic_shards

    if layout not in LAYOUTS:
        raise unknown("layout", layout, LAYOUTS, "onward data make --help")
    pairs = emoji_pairs() if data == "emoji" else table_pairs(Path(data).expanduser(), size)
    made = make_tic_shards(out, pairs, layout, seed=seed, samples=samples or SAMPLES)
    typer.echo(f"{out}: {made} pairs in the layout {layout}; read it with: onward check data {out}")


def _make_pool(out: Path, *, seed: int, samples: int | None) -> None:
    from onward.data.emoji_pool import PAIRS, make_emoji_pool

    with counting("drawn {task.completed:,.0f} images") as progress:
        made = make_emoji_pool(out, pairs=samples or PAIRS, seed=seed, progress=progress)
    typer.echo(
        f"{out}: {made['pairs']} pairs, of which {made['in_no_snapshot']} are in none of "
        f"{made['snapshots']} snapshots, and the true dates of {made['dates_known']}; go on with: "
        f"onward curate date {out}/pool.parquet --snapshots {out}/snapshots --out dated"
    )


def _describe_emoji(*, as_json: bool) -> None:
    card = emoji_history.card()
    samples = len(emoji_history.load_emoji())
    if as_json:
        print_json(card)
        return
    screen = console()
    screen.print(f"[bold]{card['title']}[/]: {samples} samples, hashes verified")
    screen.print(card["description"])
    table = Table(box=None, padding=(0, 2))
    for column in ("snapshot", "emoji", "new", "redrawn", "unchanged", "from"):
        table.add_column(column, justify="left" if column in ("snapshot", "from") else "right")
    for entry, change in zip(card["sources"], card["change"]["counts"], strict=True):
        counts = (change[kind] for kind in ("new", "redrawn", "unchanged"))
        package = f"{entry['package']} {entry['version']}"
        table.add_row(entry["date"], str(entry["rows"]), *map(str, counts), package)
    screen.print(table)
    screen.print(f"[bold]Mind:[/] {card['warning']}")
    for licence in card["licences"]:
        credit = licence.get("attribution", licence["work"])
        screen.print(f"· {licence['covers']}: {licence['licence']}. {credit}")
