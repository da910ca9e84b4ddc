"""The command that a page prints for a run makes that run again, whatever options it had."""

import inspect
import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cifar_miniature import write_cifar
from clear_miniature import write_old
from terminal import Terminal
from tic_miniature import encoded, made
from user_modules import MODULES
from your_tables import COLUMNS, points, write_csv, write_photos

import onward
from onward.benchmarks import BENCHMARKS, retrained
from onward.data.iirc_official import official_classes, official_hierarchy
from onward.data.street.make import make_street
from onward.errors import OnwardError
from onward.learners import choose
from onward.loop import Loop
from onward.report.commands import commands
from onward.results.record import RunRecord
from onward.results.schema import RunSpec
from onward.sweep import Job, benchmark_of
from onward.types import Benchmark


@dataclass(frozen=True)
class Case:
    """How a benchmark is loaded; `files` replace in order what a command leaves open."""

    benchmark: str
    options: Mapping[str, Any]
    files: tuple[str, ...] = ()
    method: str = "finetune"
    method_options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


def _weights() -> str:
    Path("weights.pth").write_bytes(b"read when the first period is learned")
    return "weights.pth"


def _clear_official() -> Case:
    write_old(Path("clear10"))
    asked = {"data": "clear10", "features": "imagenet", "model": "mlp"}
    return Case("clear", asked, method="er", method_options={"memory": 20})


def _clear_images() -> Case:
    folder = write_old(Path("clear10"), features=())
    next(iter(folder.glob("labeled_images/1/*/*.png"))).unlink()
    asked = {"data": "clear10", "model": "resnet18", "size": 16, "missing": "skip"}
    return Case("clear", {**asked, "weights": _weights()}, ("weights.pth",))


def _clear_module() -> Case:
    Path("modules.py").write_text(MODULES)
    return Case("clear", {"model": "modules.py:Shaped", "features": "image"})


def _clear_backbone() -> Case:
    from onward.data.past import Past
    from onward.train.moco import CPU
    from onward.train.pretrain import pretrain

    write_old(Path("clear10"), features=())
    past = Past(np.zeros((4, 16, 16, 3), np.uint8), "nothing", "nothing")
    settings = type(CPU)(**{**vars(CPU), "image_size": 16, "epochs": 0})
    pretrain(past, settings, 0, Path("moco"))
    return Case("clear", {"data": "clear10", "backbone": "moco", "weights": "moco"}, ("moco",))


def _iirc_emoji() -> Case:
    asked = {"configuration": 3, "judge": "validation", "validation": 0.2, "subgroups": "all"}
    return Case("iirc", {**asked, "subclasses_only": True}, training={"epochs": 2})


def _iirc_images() -> Case:
    asked = {"features": "image", "model": "resnet32", "weights": _weights()}
    return Case("iirc", asked, ("weights.pth",))


def _iirc_cifar() -> Case:
    return Case("iirc", {"data": str(write_cifar(Path("downloads"))), "incremental": True})


def _iirc_hierarchy() -> Case:
    names = list(official_hierarchy("cifar").parent)
    Path("halves.json").write_text(json.dumps({"first": names[:50], "second": names[50:]}))
    asked = {"data": str(write_cifar(Path("downloads"))), "hierarchy": "halves.json"}
    return Case("iirc", asked, ("halves.json",))


def _iirc_imagenet() -> Case:
    for part in ("train", "val"):
        for name in official_classes("imagenet", incremental=True).parent:
            folder = Path("imagenet", part, name)
            folder.mkdir(parents=True)
            for number in range(2):
                (folder / f"{number}.jpg").write_bytes(encoded())
    # Without superclasses, which would need many images of each subclass.
    asked = {"data": "imagenet", "edition": "lite", "incremental": True}
    return Case("iirc", {**asked, "order": "sorted", "size": 64, "validation": 0})


def _clad_c() -> Case:
    asked = {"frames": 60, "size": 16, "min_area": 900, "drop_occluded": None, "curve": 50}
    others = {"judge": "validation", "model": "convnet", "weights": _weights()}
    return Case("clad-c", {**asked, **others}, ("weights.pth",))


def _clad_c_folder() -> Case:
    make_street(Path("drives"), frames=60)
    return Case("clad-c", {"data": "drives"})


def _clad_d() -> Case:
    asked = {"frames": 60, "size": 48, "judge": "validation", "weights": _weights()}
    return Case("clad-d", {**asked, "model": "small_swin"}, ("weights.pth",))


def _tic_emoji() -> Case:
    asked = {"splits": 3, "filtered": "basic", "weights": _weights(), "model": "clip_small"}
    return Case("tic", asked, ("weights.pth",), limits={"stored_samples": 500})


def _tic_paper() -> Case:
    return Case("tic", {"recipe": "paper", "scale": "datacomp-m"})


def _tic_folder() -> Case:
    folder = made(Path("shards"), "datacomp")
    stream = onward.load("tic", data=str(folder)).stream()
    row = stream[0].train.rows[2]
    Path("broken.txt").write_text(f"{stream.table.values('id')[row]}\n")
    asked = {"data": "shards", "calendar": "yearly", "size": 16, "validation": 0.1}
    others = {"missing": "skip", "leave_out": "broken.txt"}
    return Case("tic", {**asked, **others}, ("broken.txt",))


def _tic_ids() -> Case:
    folder = made(Path("lists"), "ids")
    pool = str(folder / "commonpool")
    return Case("tic", {"data": "lists", "shards": pool}, (pool,))


def _yours() -> Case:
    columns = points()
    # Names of columns that nobody would guess, and days that could be months.
    columns["when"] = [f"{t[8:10]}/{t[5:7]}/{t[:4]}" for t in columns.pop("taken")]
    columns["number"] = [str(n) for n in range(len(columns["x"]))]
    columns["words"] = [f"word{n % 7}" for n in range(len(columns["x"]))]
    write_csv(Path("points.csv"), columns)
    named = {"time_column": "when", "label_column": "kind", "group_column": "who"}
    asked = {"feature_columns": ["x", "words"], "id_column": "number", "periods": 3}
    others = {"day_first": True, "text_width": 64, "missing": "skip", "grain": 20}
    return Case("yours", {"data": "points.csv", "protocol": "online", **named, **asked, **others})


def _yours_images() -> Case:
    write_photos(Path("album"))
    asked = {"data": "album/photos.parquet", **COLUMNS, "image_column": "path"}
    others = {"features": "image", "size": 16, "model": "convnet", "weights": _weights()}
    return Case("yours", {**asked, **others}, ("weights.pth",))


def _any_benchmark() -> Case:
    asked = {"data": "emoji", "protocol": "streaming", "new_classes": True, "label_delay": 1}
    return Case("clear", asked, training={"lr": 0.25, "epochs": 3})


CASES = (
    _clear_official,
    _clear_images,
    _clear_module,
    _clear_backbone,
    _iirc_emoji,
    _iirc_images,
    _iirc_cifar,
    _iirc_hierarchy,
    _iirc_imagenet,
    _clad_c,
    _clad_c_folder,
    _clad_d,
    _tic_emoji,
    _tic_paper,
    _tic_folder,
    _tic_ids,
    _yours,
    _yours_images,
    _any_benchmark,
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_printed_command_gives_the_same_spec(
    make: Callable[[], Case], onward: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make()
    asked = _spec(_loaded(case), case.method, case.method_options, case.limits)
    (words,) = map(shlex.split, commands([asked]))
    # A folder or file is printed by its name: the command is typed where it lies.
    data = case.options.get("data")
    if data is not None:
        place = words.index("--data") + 1
        assert Path(words[place]).name == Path(data).name or asked.data.startswith("cifar:")
        words[place] = data
    open_words = [place for place, word in enumerate(words) if re.match(r"<.*>$", word)]
    for place, file in zip(open_words, case.files, strict=True):
        words[place] = file
    jobs: list[Job] = []

    def no_training(wanted: list[Job], *args: Any, **kwargs: Any) -> None:
        jobs.extend(wanted)
        raise OnwardError("nothing is trained in this test")

    monkeypatch.setattr(import_module("onward.cli.run"), "sweep", no_training)
    _, out, err = onward(*words[1:])
    assert "nothing is trained in this test" in err, (words, out, err)
    (job,) = jobs
    again = _spec(benchmark_of(job.source), job.method, job.options, job.limits)
    assert again == asked
    assert again.hash == asked.hash


def test_every_option_of_every_benchmark_is_in_a_case(tmp_path: Path) -> None:
    tried: dict[str, set[str]] = {}
    for make in CASES:
        case = make()
        tried.setdefault(case.benchmark, set()).update(case.options)
        for path in Path().iterdir():  # each case begins in an empty folder
            path.rename(tmp_path.parent / f"{tmp_path.name}-{make.__name__}-{path.name}")
    for name, listed in BENCHMARKS.own.items():
        options = set(inspect.signature(listed.load).parameters)
        assert options - tried[name] <= {"data", "protocol", "recipe"}, name


@pytest.mark.parametrize(
    ("benchmark", "options", "training"),
    [
        ("clear", {}, {"epochs": 2}),
        pytest.param("iirc", {"configuration": 1}, {"epochs": 1}, marks=pytest.mark.slow),
        ("clad-c", {"frames": 60, "size": 16}, {}),
        pytest.param(
            "clad-d",
            {"frames": 40, "size": 32},
            {"epochs": 1, "batch_size": 2},
            marks=pytest.mark.slow,
        ),
        pytest.param("tic", {"splits": 2}, {"max_steps": 2}, marks=pytest.mark.slow),
        ("yours", {"data": "points.csv", **COLUMNS}, {"epochs": 2}),
    ],
)
def test_printed_command_finds_the_run_complete(
    benchmark: str,
    options: Mapping[str, Any],
    training: Mapping[str, Any],
    onward: Terminal,
) -> None:
    write_csv(Path("points.csv"))
    case = Case(benchmark, options, training=training)
    record = _run(_loaded(case))
    (command,) = commands([record.spec])
    code, out, err = onward(*shlex.split(command)[1:])
    assert (code, err) == (0, "")
    assert "1 of 1 runs were complete already: not run again" in out


def test_method_from_a_file_is_printed_with_a_place_for_the_file() -> None:
    Path("mine.py").write_text(
        "class Mine:\n    def learn(self, view, budget): ...\n    def predict(self, view): ...\n"
    )
    spec = _spec(onward.load("clear"), "mine.py:Mine", {}, {})
    assert "--method '<file>.py:Mine'" in commands([spec])[0]


def test_runs_of_a_tuning_have_no_command_of_their_own() -> None:
    spec = _spec(onward.load("clear", tuning_periods=3), "finetune", {}, {})
    assert commands([spec]) == []


def _loaded(case: Case) -> Benchmark:
    return retrained(onward.load(case.benchmark, **case.options), case.training)


def _run(benchmark: Benchmark) -> RunRecord:
    return onward.run(benchmark, "finetune", seed=0, out="results")


def _spec(
    benchmark: Benchmark, method: str, options: Mapping[str, Any], limits: Mapping[str, float]
) -> RunSpec:
    return Loop(
        benchmark,
        benchmark.stream(0),
        choose(method, options, benchmark),
        0,
        limits,
        tuned=None,
        keep_predictions=True,
        allow_unmetered=True,
        checkpoint_seconds=30.0,
        watch=lambda event: None,
    ).spec
