"""``onward evaluate``: how good a model that exists already is, period by period."""

import json
from pathlib import Path
from typing import Annotated

import typer

from onward.benchmarks import BENCHMARKS, Source
from onward.cli.console import console, tell
from onward.cli.options import AsJson
from onward.cli.progress import progress_bar
from onward.data.imagenet_subtrees import read_subtrees
from onward.errors import unknown
from onward.files import storage, write_atomic
from onward.report.evaluation import remarks, tables


def evaluate(
    benchmark: Annotated[str, typer.Argument(help="A benchmark of images and texts: tic.")],
    *,
    model: Annotated[
        str,
        typer.Option(
            help="A model of open_clip (ViT-B-32), clip_small, a file of weights that fit one "
            "model only, or the folder of a run."
        ),
    ],
    weights: Annotated[
        Path | None,
        typer.Option(help="Weights of the named model: safetensors, or written by torch.save."),
    ] = None,
    pretrained: Annotated[
        str | None,
        typer.Option(help="A tag of open_clip whose weights are here; nothing is downloaded."),
    ] = None,
    data: Annotated[
        str, typer.Option(help="emoji, or a folder: docs/benchmarks/tic_data.md.")
    ] = "emoji",
    calendar: Annotated[str | None, typer.Option(help="A folder: yearly or monthly.")] = None,
    shards: Annotated[
        str | None, typer.Option(help="Lists of ids: your pool, several joined by '::'.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="A folder where something is missing: stop, or skip it.")
    ] = None,
    leave_out: Annotated[
        str | None,
        typer.Option(help="A list of samples to leave out: onward check data --list."),
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option(
            help="A folder with static tasks, one folder each: docs/howto/evaluate_clip.md."
        ),
    ] = None,
    subtrees: Annotated[
        Path | None,
        typer.Option(help='Parts of the classes as JSON, {"dog": ["pug", "beagle"]}.'),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides what tests and what does not.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the JSON to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a CLIP model as it is: retrieval, zero-shot and static tasks, by period.

    Every period is tested as in a run, so that a model can be dated: up to which years it knows
    what people wrote.
    """
    if benchmark != "tic":
        raise unknown("benchmark of images and texts", benchmark, ["tic"], "onward list benchmarks")
    from onward.evaluation.evaluate import evaluate as examine  # torch is loaded when it is needed
    from onward.models.clip_choice import RANDOM, chosen_clip

    named = None if subtrees is None else read_subtrees(subtrees)
    chosen = chosen_clip(model, weights=weights, pretrained=pretrained)
    given = {"calendar": calendar, "shards": shards, "missing": missing, "leave_out": leave_out}
    options = folder_options(data, chosen.clip.side) | {k: v for k, v in given.items() if v}
    loaded = Source(benchmark, data, options=options).load()
    progress = progress_bar("[bold]{task.fields[now]}")
    bar = progress.add_task("", total=None, now="")
    with progress:
        found = examine(
            chosen.clip,
            loaded,
            seed=seed,
            static=static,
            named=named,
            watch=lambda name: progress.update(bar, now=name),
        )
    plain = {"model": chosen.name, "weights": chosen.weights, **found.as_json()}
    plain |= {name: loaded.card.numbers.get(name, []) for name in ("gaps", "notes")}
    text = json.dumps(plain, indent=1)
    if out is not None:
        with storage(out):
            write_atomic(out, f"{text}\n".encode())
    if as_json:
        typer.echo(text)
        return
    screen = console()
    size = f"{found.parameters:,} parameters, {found.macs:,} MACs a pair"
    screen.print(f"{chosen.name} ({size}); weights: {chosen.weights}", markup=False, soft_wrap=True)
    if chosen.weights == RANDOM:
        screen.print("random weights know nothing: give --weights FILE or --pretrained TAG")
    tell(screen, loaded.card)
    for table in tables(found):
        screen.print(table)
    for remark in remarks(found):
        screen.print(remark, markup=False, soft_wrap=True)


def folder_options(data: str, side: tuple[int, int]) -> dict[str, int]:
    """Return in which size images of a folder are read: that which a model sees, and no smaller.

    Examples
    --------
    >>> folder_options("shards", (224, 224)), folder_options("emoji", (224, 224))
    ({'size': 224}, {})
    """
    return {} if data == BENCHMARKS["tic"].usual else {"size": max(side)}
