"""``onward evaluate``: how good a model that exists already is, period by period."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from onward.benchmarks import BENCHMARKS, Source
from onward.benchmarks.listed import Listed
from onward.cli.console import console, print_json, tell
from onward.cli.options import AsJson, page_file
from onward.cli.progress import progress_bar
from onward.data.imagenet_subtrees import read_subtrees
from onward.errors import OnwardError
from onward.files import storage, write_atomic
from onward.report.evaluation import remarks, tables
from onward.types import Array, Card, Samples, Stream

if TYPE_CHECKING:
    from onward.evaluation.asked import Asked
    from onward.evaluation.evaluate import Evaluation
    from onward.models.clip_choice import ChosenClip


def evaluate(
    benchmark: Annotated[str, typer.Argument(help="A benchmark of images and texts: tic.")],
    *,
    model: Annotated[
        list[str],
        typer.Option(
            help="A model of open_clip (ViT-B-32), clip_small, a file of weights that fit one "
            "model only, or the folder of a run. Repeated, models are dated side by side."
        ),
    ],
    weights: Annotated[
        list[Path] | None,
        typer.Option(
            help="Weights of the named model: safetensors, or written by torch.save. One for each "
            "named model, in their order."
        ),
    ] = None,
    pretrained: Annotated[
        list[str] | None,
        typer.Option(
            help="A tag of open_clip whose weights are here; nothing is downloaded. One for each "
            "named model, in their order."
        ),
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
    query: Annotated[
        list[str] | None,
        typer.Option(
            help="Also score questions whose caption mentions this: covid, or name=word,word. May "
            "be repeated."
        ),
    ] = None,
    new_from: Annotated[
        str | None,
        typer.Option(help="Where new periods begin, such as 2021. Default: the last third."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides what tests and what does not.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the JSON to this file.")] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="Write a page with a curve for each model.", callback=page_file),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate CLIP models as they are: retrieval, zero-shot and static tasks, by period.

    Every period is tested as in a run, so that a model can be dated: up to which years it knows
    what people wrote. Of several models, or with --query, --new-from or --page, the gap between old
    and new periods is told too, with an interval.
    """
    listed = BENCHMARKS.find(benchmark)
    from onward.evaluation.asked import read_queries
    from onward.evaluation.evaluate import require_pairs
    from onward.models.clip_choice import chosen_clip  # torch is loaded when it is needed

    require_pairs(listed.task, benchmark)
    named = None if subtrees is None else read_subtrees(subtrees)
    queries = read_queries(query or [])
    with_weights = _matched(model, weights or [], pretrained or [])
    given = {"calendar": calendar, "shards": shards, "missing": missing, "leave_out": leave_out}
    options = {name: value for name, value in given.items() if value}
    asking = _Asking(listed, data, options, static, named, queries, seed)
    dates = len(model) > 1 or bool(queries) or new_from is not None or page is not None
    chosen = [
        chosen_clip(name, weights=file, pretrained=tag)
        for name, file, tag in (with_weights if dates else with_weights[:1])
    ]
    found = [examined(one, asking) for one in chosen]
    screen = console()
    if not dates:
        [only] = found
        _write(out, only.plain())
        if as_json:
            print_json(only.plain())
        else:
            only.tell(screen)
        return
    from onward.cli.evaluate_dated import several

    text, show = several(found, model, list(queries), new_from, page, data)
    _write(out, text)
    if as_json:
        print_json(text)
    else:
        show(screen)


@dataclass(frozen=True)
class _Asking:
    """What is asked of every model."""

    benchmark: Listed
    data: str
    options: Mapping[str, str]
    static: Path | None
    named: Mapping[str, list[str]] | None
    queries: Mapping[str, tuple[str, ...]]
    seed: int


@dataclass(frozen=True, eq=False)
class Examined:
    """A model that was examined: what it scored, and what was asked by period and test."""

    chosen: "ChosenClip"
    evaluation: "Evaluation"
    card: Card
    asked: Mapping[tuple[str, str], "Asked"]

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        chosen = {"model": self.chosen.name, "weights": self.chosen.weights}
        told = {name: self.card.numbers.get(name, []) for name in ("gaps", "notes")}
        return {**chosen, **self.evaluation.as_json(), **told}

    def headline(self) -> str:
        """Say what it is."""
        size = f"{self.evaluation.parameters:,} parameters, {self.evaluation.macs:,} MACs a pair"
        return f"{self.chosen.name} ({size}); weights: {self.chosen.weights}"

    def tell(self, screen: Console) -> None:
        """Print it."""
        from onward.models.clip_choice import RANDOM

        screen.print(self.headline(), markup=False, soft_wrap=True)
        if self.chosen.weights == RANDOM:
            screen.print("random weights know nothing: give --weights FILE or --pretrained TAG")
        tell(screen, self.card)
        for table in tables(self.evaluation):
            screen.print(table)
        for remark in remarks(self.evaluation):
            screen.print(remark, markup=False, soft_wrap=True)


def examined(chosen: "ChosenClip", asking: _Asking) -> Examined:
    """Examine a model, and say on the way what is done."""
    from onward.evaluation.asked import Asked, gather
    from onward.evaluation.evaluate import evaluate as examine

    usual = asking.benchmark.usual
    options = folder_options(asking.data, usual, chosen.clip.side) | dict(asking.options)
    loaded = Source(asking.benchmark.name, asking.data, options=options).load()
    progress = progress_bar("[bold]{task.fields[now]}")
    bar = progress.add_task("", total=None, now="")
    asked: dict[tuple[str, str], Asked] = {}

    def note(period: str, test: str, decided: Array, samples: Samples, stream: Stream) -> None:
        classes, table = stream[-1].classes, stream.table
        asked[period, test] = gather(decided, samples, table, classes, asking.named, asking.queries)

    with progress:
        evaluation = examine(
            chosen.clip,
            loaded,
            seed=asking.seed,
            static=asking.static,
            named=asking.named,
            watch=lambda name: progress.update(bar, now=name),
            note=note,
        )
    return Examined(chosen, evaluation, loaded.card, asked)


def _matched(
    models: list[str], weights: list[Path], pretrained: list[str]
) -> list[tuple[str, Path | None, str | None]]:
    """Give each model that is a name its weights or its tag, in their order.

    Examples
    --------
    >>> _matched(["ViT-B-32", "ViT-B-16"], [], ["openai", "laion"])
    [('ViT-B-32', None, 'openai'), ('ViT-B-16', None, 'laion')]
    """
    if len(models) == 1 and max(len(weights), len(pretrained)) <= 1:
        file, tag = next(iter(weights), None), next(iter(pretrained), None)
        return [(models[0], file, tag)]
    names = [at for at, model in enumerate(models) if not Path(model).expanduser().exists()]
    if weights and pretrained:
        raise OnwardError(
            "expected --weights or --pretrained for several models, found both. Give tags, or a "
            "file for each"
        )
    given = weights or pretrained
    if given and len(given) != len(names):
        raise OnwardError(
            f"expected one --weights or --pretrained for each of the {len(names)} models that are "
            f"named, found {len(given)}"
        )
    places = dict(zip(names, range(len(given)), strict=False))
    return [
        (
            model,
            weights[places[at]] if weights and at in places else None,
            pretrained[places[at]] if pretrained and at in places else None,
        )
        for at, model in enumerate(models)
    ]


def _write(out: Path | None, plain: Any) -> None:
    if out is not None:
        with storage(out):
            write_atomic(out, f"{json.dumps(plain, indent=1)}\n".encode())


def folder_options(data: str, usual: str, side: tuple[int, int]) -> dict[str, int]:
    """Return in which size images of a folder are read: that which a model sees, and no smaller.

    Examples
    --------
    >>> folder_options("shards", "emoji", (224, 224)), folder_options("emoji", "emoji", (224, 224))
    ({'size': 224}, {})
    """
    return {} if data == usual else {"size": max(side)}
