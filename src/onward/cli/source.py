"""Which benchmark, which data, under which protocol: the options that commands share."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from onward.benchmarks import BENCHMARKS, Source, benchmark_reading, load
from onward.benchmarks.tic_recipes import SCALES
from onward.cli.options import Device, Precision, Threads, Workers, parse_pairs, with_typed
from onward.errors import OnwardError
from onward.hardware import Hardware


def _option(kind: Any, words: str, *names: str, **limits: Any) -> Any:
    """Return the type of an option that may be left out."""
    return Annotated[kind | None, typer.Option(*names, help=words, **limits)]


def _flag(name: str, words: str) -> Any:
    return Annotated[bool, typer.Option(f"--{name.replace('_', '-')}", help=words)]


_LOADED = {
    "time_column": _option(str, "yours: when a sample is from."),
    "label_column": _option(str, "yours: what is predicted."),
    "image_column": _option(str, "yours: paths or bytes of images."),
    "group_column": _option(str, "yours: what must not be on both sides of a split."),
    "id_column": _option(str, "yours: what names a sample."),
    "feature_column": _option(list[str], "yours: an input column. May be repeated."),
    "periods": _option(str, 'yours: monthly, yearly, a number, or dates "2020-01-01,2021-01-01".'),
    "features": _option(str, "Which features of the data, or image for its images."),
    "size": _option(int, "Side of the images.", min=8),
    "missing": _option(str, "If images are missing: stop, or skip and record it."),
    "day_first": _option(bool, "yours: how 03/04/2020 is meant.", "--day-first/--month-first"),
    "text_width": _option(int, "yours: how many columns words share. Default: 512."),
    "model": _option(
        str,
        "What is trained: a name of onward list models, timm:NAME, torchvision:NAME, or "
        "path/to/file.py:Class.",
    ),
    "backbone": _option(str, "clear: a pre-trained encoder for its images: onward list backbones."),
    "weights": _option(
        str,
        "Weights to start from: a file, a folder of Hugging Face's, or pretrained; with "
        "--backbone, the backbone's.",
    ),
    "configuration": _option(int, "iirc: which order of classes. Default: that of the seed."),
    "edition": _option(str, "iirc, ImageNet: full or lite."),
    "incremental": _flag("incremental", "iirc: plain classes, no superclasses."),
    "subclasses_only": _flag("subclasses_only", "iirc: leave superclasses out."),
    "judge": _option(str, "iirc, clad: what is tested, test or validation."),
    "hierarchy": _option(str, "iirc: a JSON file with a hierarchy of yours."),
    "validation": _option(float, "iirc, tic: share that is held back for validation."),
    "subgroups": _option(str, "iirc, emoji: chosen or all."),
    "order": _option(str, "iirc, images in folders: released or sorted."),
    "curve": _option(int, "clad-c: also test after every so many objects."),
    "min_area": _option(float, "clad-c: leave smaller objects out. Default: 1024 pixels."),
    "drop_occluded": _option(int, "clad-c: leave objects with this occluded out. Default: 0."),
    "frames": _option(int, "clad, street: about how many frames."),
    "scale": _option(str, f"tic, recipe paper: the size of the paper's, {', '.join(SCALES)}."),
    "splits": _option(int, "tic, emoji: deal all pairs into so many parts at random."),
    "filtered": _option(str, "tic, emoji: which pairs are learned, all, basic or bestpool."),
    "calendar": _option(str, "tic: yearly or monthly."),
    "shards": _option(str, "tic, lists of ids: your pool, several joined by '::'."),
    "leave_out": _option(str, "tic: a list of samples to leave out: onward check data --list."),
    "grain": _option(str, "online: samples shown at a time, or day. Default: 10."),
    "new_classes": _flag("new_classes", "Let classes arrive over time."),
    "label_delay": _option(int, "By how many periods labels come late. Default: 0.", min=0),
    "load": _option(list[str], "name=value: an option of a benchmark that another package added."),
}
_TRAINING = {
    "optimizer": _option(str, "sgd, adam, adamw, any class of torch.optim, or one of timm's."),
    "lr": _option(float, "The learning rate.", min=0),
    "weight_decay": _option(float, "Weight decay.", min=0),
    "batch_size": _option(int, "New samples per optimizer step.", min=1),
    "epochs": _option(int, "Epochs per call of learn: per period, offline.", min=1),
    "precision": Precision,
    "compile": _flag("compile", "Compile the network with torch.compile."),
}
_HARDWARE = {"device": Device, "workers": Workers, "threads": Threads}
_OF_TRAINING = ("model", "backbone", "weights", "curve", "scale")
# Options whose name in `onward.load` is another than on the command line.
_RENAMED = {"feature_column": "feature_columns"}
_CHOSEN = {
    "data": _option(str, "Which data: onward list data, or a file or folder of yours."),
    "protocol": _option(str, "What is revealed and tested when: onward list benchmarks."),
    "recipe": Annotated[str, typer.Option(help="How it is trained.")],
    "training": _option(
        list[str],
        "Others of: onward list hyperparameters; such as gamma=0.3.",
    ),
}
_DEFAULTS = {
    "recipe": "cpu",
    "compile": False,
    "device": "auto",
    "workers": 0,
    "threads": 1,
    "new_classes": False,
    "incremental": False,
    "subclasses_only": False,
}


def with_source(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument BENCHMARK and the options of data, and hand it a `Source`.

    The command has a keyword ``source``; all its other parameters are keywords too.
    """
    benchmark = Annotated[str, typer.Argument(help="A benchmark: onward list benchmarks.")]
    every = {**_CHOSEN, **_LOADED, **_TRAINING, **_HARDWARE}
    options = [keyword(name, kind) for name, kind in every.items()]
    return extended(command, [_positional("benchmark", benchmark), *options], made_source)


def with_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument DATA and the options of data, and hand it a `Source`."""
    data = Annotated[str, typer.Argument(help="emoji, street, clad, tic, or a file or folder.")]
    chosen = {"protocol": _CHOSEN["protocol"], **_LOADED}
    options = [keyword(name, kind) for name, kind in chosen.items()]
    return extended(command, [_positional("data", data), *options], _source_of_data)


def with_data_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--data``, ``--benchmark`` and the options of data, and hand it a `Source`.

    What is trained on the data is not asked: a command may have a ``--model`` of its own.
    """
    loaded = {name: kind for name, kind in _LOADED.items() if name not in _OF_TRAINING}
    chosen = {
        "data": _CHOSEN["data"],
        "benchmark": _option(str, "As which benchmark data is read. Default: by what is there."),
        "protocol": _CHOSEN["protocol"],
        **loaded,
    }
    return extended(command, [keyword(name, kind) for name, kind in chosen.items()], _any_source)


def _any_source(data: str | None = None, benchmark: str | None = None, **given: Any) -> Source:
    if benchmark is not None:
        return made_source(benchmark, data=data, **given)
    return _source_of_data("emoji" if data is None else data, **given)


def _source_of_data(data: str, **given: Any) -> Source:
    return made_source(benchmark_reading(data), data=data, **given)


def made_source(benchmark: str, **given: Any) -> Source:
    """Turn what was typed into a source; what was not typed is left to the benchmark."""
    chosen = {name: given.pop(name) for name in _CHOSEN if name in given}
    if chosen.get("data") is None and benchmark in BENCHMARKS:
        chosen["data"] = BENCHMARKS[benchmark].usual
    hardware = Hardware(**{name: given.pop(name) for name in _HARDWARE if name in given})
    typed = {name: given.pop(name) for name in _TRAINING if name in given}
    training = with_typed(
        parse_pairs(chosen.pop("training", None) or [], "training"), typed, _DEFAULTS
    )
    more = _without_a_flag(parse_pairs(given.pop("load", None) or [], "load"))
    options = {
        _RENAMED.get(name, name): value
        for name, value in given.items()
        if value not in (None, [], _DEFAULTS.get(name)) and (name, value) != ("label_delay", 0)
    }
    return Source(
        benchmark,
        **chosen,
        options={**options, **more},
        training=training,
        hardware=hardware,
    )


def _without_a_flag(options: dict[str, Any]) -> dict[str, Any]:
    """Return options that have no flag of their own; raise if one has, which checks its value."""
    flags = {_RENAMED.get(name, name): name for name in (*_CHOSEN, *_LOADED)}
    for name in options:
        if name in flags:
            raise OnwardError(
                f"expected --load for an option without a flag, found {name}. Give it as "
                f"--{flags[name].replace('_', '-')}"
            )
        if name in inspect.signature(load).parameters:
            raise OnwardError(f"expected --load for an option of the benchmark, found {name}")
    return options


def extended(
    command: Callable[..., None],
    parameters: list[inspect.Parameter],
    make: Callable[..., Any],
    made: str = "source",
    *,
    last: bool = False,
) -> Callable[..., None]:
    """Add parameters to a command, which `make` turns into its keyword `made`.

    Its help has them before its own, or `last`.
    """
    own = [p for p in inspect.signature(command).parameters.values() if p.name != made]
    names = {parameter.name for parameter in parameters}

    @functools.wraps(command)
    def extended(**given: Any) -> None:
        mine = {name: given.pop(name) for name in list(given) if name not in names}
        command(**{made: make(**given)}, **mine)

    both = [*own, *parameters] if last else [*parameters, *own]
    everything = sorted(both, key=lambda parameter: parameter.kind)
    extended.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    extended.__annotations__ = {p.name: p.annotation for p in everything}
    return extended


def _positional(name: str, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)


def keyword(name: str, kind: Any, default: Any = None) -> inspect.Parameter:
    """Return an option that a command is given."""
    default = _DEFAULTS.get(name, default)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
