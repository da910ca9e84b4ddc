"""Which benchmark, which data, under which protocol: the options that commands share."""

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from onward.benchmarks import BENCHMARKS, Source
from onward.benchmarks.clad_data import STREET
from onward.benchmarks.tic_recipes import SCALES
from onward.cli.options import parse_pairs
from onward.data.cifar import cifar_folder
from onward.data.clear_listing import is_clear
from onward.data.image_classes import has_image_classes
from onward.data.soda import is_soda
from onward.data.tic_folder import is_tic
from onward.errors import unknown

_LOADED = {
    "time_column": Annotated[str | None, typer.Option(help="yours: when a sample is from.")],
    "label_column": Annotated[str | None, typer.Option(help="yours: what is predicted.")],
    "image_column": Annotated[str | None, typer.Option(help="yours: paths or bytes of images.")],
    "group_column": Annotated[
        str | None, typer.Option(help="yours: what must not be on both sides of a split.")
    ],
    "id_column": Annotated[str | None, typer.Option(help="yours: what names a sample.")],
    "feature_column": Annotated[
        list[str] | None, typer.Option(help="yours: an input column. May be repeated.")
    ],
    "periods": Annotated[
        str | None,
        typer.Option(help='yours: monthly, yearly, a number, or dates "2020-01-01,2021-01-01".'),
    ],
    "features": Annotated[
        str | None, typer.Option(help="Which features of the data, or image for its images.")
    ],
    "size": Annotated[int | None, typer.Option(min=8, help="Side of the images.")],
    "missing": Annotated[
        str | None, typer.Option(help="If images are missing: stop, or skip and record it.")
    ],
    "day_first": Annotated[
        bool | None,
        typer.Option("--day-first/--month-first", help="yours: how 03/04/2020 is meant."),
    ],
    "text_width": Annotated[
        int | None, typer.Option(help="yours: how many columns words share. Default: 512.")
    ],
    "model": Annotated[
        str | None,
        typer.Option(help="What is trained: linear, mlp, convnet, resnet18, a detector, a CLIP…"),
    ],
    "backbone": Annotated[
        str | None,
        typer.Option(help="clear: a pre-trained encoder for its images: onward list backbones."),
    ],
    "weights": Annotated[
        str | None,
        typer.Option(help="clear: the backbone's weights; clad, tic: those to start from."),
    ],
    "configuration": Annotated[
        int | None, typer.Option(help="iirc: which order of classes. Default: that of the seed.")
    ],
    "edition": Annotated[str | None, typer.Option(help="iirc, ImageNet: full or lite.")],
    "incremental": Annotated[
        bool, typer.Option("--incremental", help="iirc: plain classes, no superclasses.")
    ],
    "subclasses_only": Annotated[
        bool, typer.Option("--subclasses-only", help="iirc: leave superclasses out.")
    ],
    "judge": Annotated[
        str | None, typer.Option(help="iirc, clad: what is tested, test or validation.")
    ],
    "hierarchy": Annotated[
        str | None, typer.Option(help="iirc: a JSON file with a hierarchy of yours.")
    ],
    "validation": Annotated[
        float | None, typer.Option(help="iirc, tic: share that is held back for validation.")
    ],
    "subgroups": Annotated[str | None, typer.Option(help="iirc, emoji: chosen or all.")],
    "order": Annotated[
        str | None, typer.Option(help="iirc, images in folders: released or sorted.")
    ],
    "curve": Annotated[
        int | None, typer.Option(help="clad-c: also test after every so many objects.")
    ],
    "min_area": Annotated[
        float | None, typer.Option(help="clad-c: leave smaller objects out. Default: 1024 pixels.")
    ],
    "drop_occluded": Annotated[
        int | None, typer.Option(help="clad-c: leave objects with this occluded out. Default: 0.")
    ],
    "frames": Annotated[int | None, typer.Option(help="clad, street: about how many frames.")],
    "scale": Annotated[
        str | None,
        typer.Option(help=f"tic, recipe paper: the size of the paper's, {', '.join(SCALES)}."),
    ],
    "splits": Annotated[
        int | None, typer.Option(help="tic, emoji: deal all pairs into so many parts at random.")
    ],
    "filtered": Annotated[
        str | None,
        typer.Option(help="tic, emoji: which pairs are learned, all, basic or bestpool."),
    ],
    "calendar": Annotated[str | None, typer.Option(help="tic: yearly or monthly.")],
    "shards": Annotated[
        str | None, typer.Option(help="tic, lists of ids: your pool, several joined by '::'.")
    ],
    "leave_out": Annotated[
        str | None,
        typer.Option(help="tic: a list of samples to leave out: onward check data --list."),
    ],
    "grain": Annotated[
        str | None, typer.Option(help="online: samples shown at a time, or day. Default: 10.")
    ],
    "new_classes": Annotated[
        bool, typer.Option("--new-classes", help="Let classes arrive over time.")
    ],
}
# Options whose name in `onward.load` is another than on the command line.
_RENAMED = {"feature_column": "feature_columns"}
_CHOSEN = {
    "data": Annotated[
        str | None,
        typer.Option(help="Which data: onward list data, or a file or folder of yours."),
    ],
    "protocol": Annotated[
        str | None, typer.Option(help="What is revealed and tested when: onward list benchmarks.")
    ],
    "recipe": Annotated[str, typer.Option(help="How it is trained.")],
    "training": Annotated[
        list[str] | None,
        typer.Option(help="Another number of the recipe, such as learning_rate=0.3."),
    ],
}
_DEFAULTS = {
    "recipe": "cpu",
    "new_classes": False,
    "incremental": False,
    "subclasses_only": False,
}


def with_source(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument BENCHMARK and the options of data, and hand it a `Source`.

    The command has a keyword ``source``; all its other parameters are keywords too.
    """
    benchmark = Annotated[str, typer.Argument(help="A benchmark: onward list benchmarks.")]
    options = [_keyword(name, kind) for name, kind in {**_CHOSEN, **_LOADED}.items()]
    return _extended(command, [_positional("benchmark", benchmark), *options], made_source)


def with_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument DATA and the options of data, and hand it a `Source`."""
    data = Annotated[str, typer.Argument(help="emoji, street, clad, tic, or a file or folder.")]
    chosen = {"protocol": _CHOSEN["protocol"], **_LOADED}
    options = [_keyword(name, kind) for name, kind in chosen.items()]
    return _extended(command, [_positional("data", data), *options], _source_of_data)


def _source_of_data(data: str, **given: Any) -> Source:
    path = Path(data).expanduser()
    if data in ("clad", STREET) or is_soda(path):
        return made_source("clad-c", data=data, **given)
    if data == "tic" or (is_tic(path) and not is_clear(path)):
        return made_source("tic", data=data, **given)
    if data != "emoji" and not path.suffix and os.sep not in data and not path.exists():
        known = ["emoji", STREET, "clad", "tic", "<a file or folder>"]
        raise unknown("data", data, known, "onward list data")
    if data == "emoji" or is_clear(path):
        return made_source("clear", data=data, **given)
    classes = path.is_dir() and (cifar_folder(path) is not None or has_image_classes(path))
    return made_source("iirc" if classes else "yours", data=data, **given)


def made_source(benchmark: str, **given: Any) -> Source:
    """Turn what was typed into a source; what was not typed is left to the benchmark."""
    chosen = {name: given.pop(name) for name in _CHOSEN if name in given}
    if chosen.get("data") is None and benchmark in BENCHMARKS:
        chosen["data"] = BENCHMARKS[benchmark].usual
    training = parse_pairs(chosen.pop("training", None) or [], "training")
    options = {
        _RENAMED.get(name, name): value
        for name, value in given.items()
        if value not in (None, [], _DEFAULTS.get(name))
    }
    return Source(benchmark, **chosen, options=options, training=training)


def _extended(
    command: Callable[..., None],
    parameters: list[inspect.Parameter],
    make: Callable[..., Source],
) -> Callable[..., None]:
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "source"]
    names = {parameter.name for parameter in parameters}

    @functools.wraps(command)
    def extended(**given: Any) -> None:
        mine = {name: given.pop(name) for name in list(given) if name not in names}
        command(source=make(**given), **mine)

    everything = sorted([*parameters, *own], key=lambda parameter: parameter.kind)
    extended.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    extended.__annotations__ = {p.name: p.annotation for p in everything}
    return extended


def _positional(name: str, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)


def _keyword(name: str, kind: Any) -> inspect.Parameter:
    default = _DEFAULTS.get(name)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
