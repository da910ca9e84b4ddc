"""Training in bf16 on the CPU: close to fp32, resumed bit for bit, and told apart in the spec."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from comparable import comparable
from interrupted import outputs_of, resumed_outputs_of

import onward
from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.models.fisher import fisher_diagonal
from onward.models.model import Model
from onward.tasks.boxes import Boxes
from onward.tasks.one_label import OneLabel
from onward.turns import Event
from onward.types import Benchmark

pytestmark = pytest.mark.filterwarnings("ignore:this processor has no instructions for bf16")

PRECISIONS = ("fp32", "bf16")
# Learning rates are low: at a higher one, small differences grow in a few steps.
FAMILIES: Mapping[str, Callable[[], Benchmark]] = {
    "linear": tiny_benchmark,
    "mlp": lambda: tiny_benchmark(model="mlp"),
    "convnet": lambda: tiny_benchmark(model="convnet"),
    "resnet32": lambda: retrained(
        tiny_benchmark(model="resnet32"), {"image_size": 16, "lr": 0.0005, "momentum": 0.0}
    ),
    "timm": lambda: retrained(
        tiny_benchmark(model="timm:test_vit", images=True), {"image_size": 32, "lr": 0.01}
    ),
    "small_rcnn": lambda: retrained(tiny_boxes(), {"lr": 0.0005}),
    "clip_small": lambda: retrained(tiny_pairs(), {"lr": 1e-4}),
}
# With rounding to 8 bits, by how much of their length the outputs of a family may be off.
CLOSE = 0.05


@pytest.mark.parametrize("family", FAMILIES)
def test_predictions_are_near_those_of_fp32(family: str) -> None:
    benchmark = FAMILIES[family]()
    full, half = (
        comparable(outputs_of(benchmark, "nap", device="cpu", precision=precision)[0])
        for precision in PRECISIONS
    )
    assert half.dtype == np.float32
    assert np.linalg.norm(half - full) <= CLOSE * np.linalg.norm(full)
    assert not np.array_equal(half, full)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_resumed_run_has_the_same_bytes(family: str, tmp_path: Path) -> None:
    benchmark, options = FAMILIES[family](), {"device": "cpu", "precision": "bf16"}
    whole = outputs_of(benchmark, "er", **options)
    resumed = resumed_outputs_of(benchmark, "er", tmp_path, **options)
    for found, expected in zip(resumed, whole[-len(resumed) :], strict=True):
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("family", ["linear", "convnet"])
def test_the_weights_are_trained_in_bf16_and_stored_in_fp32(family: str) -> None:
    trained = {precision: weights_of(FAMILIES[family](), precision) for precision in PRECISIONS}
    for name, weights in trained["bf16"].items():
        assert weights.dtype == torch.float32
        if weights.ndim > 1:
            assert not torch.equal(weights, trained["fp32"][name]), name


def test_the_precision_is_part_of_the_spec() -> None:
    specs = {}
    for precision in PRECISIONS:

        def watch(event: Event, precision: str = precision) -> None:
            specs[precision] = event.spec

        onward.run(tiny_benchmark(), "nap", device="cpu", precision=precision, watch=watch)
    assert specs["bf16"].recipe["precision"] == "bf16"
    assert specs["bf16"].recipe_changes == {"precision": "bf16"}
    # What is left out is what runs had before there was a choice.
    assert "precision" not in specs["fp32"].recipe
    assert specs["bf16"].hash != specs["fp32"].hash


@pytest.mark.parametrize("family", ["mlp", "convnet", "small_rcnn"])
def test_the_fisher_diagonal_is_that_of_fp32(family: str) -> None:
    benchmark = FAMILIES[family]()
    model = model_of(benchmark)
    period = benchmark.stream(0)[0]
    inputs = torch.from_numpy(np.array(benchmark.table.wide["input"][period.train.rows[:4]]))
    targets = torch.tensor(period.train.labels[:4])
    task = Boxes() if family == "small_rcnn" else OneLabel()
    model.precision = "bf16"
    found = fisher_diagonal(model, inputs, targets, task.loss)
    assert model.precision == "bf16"
    model.precision = "fp32"
    expected = fisher_diagonal(model, inputs, targets, task.loss)
    assert found.keys() == expected.keys()
    for name, squares in found.items():
        assert torch.equal(squares, expected[name]), name


def model_of(benchmark: Benchmark) -> Model:
    found: list[Model] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            learner: object = event.learner
            found.append(learner._model)  # type: ignore[attr-defined]

    onward.run(benchmark, "nap", device="cpu", watch=watch)
    return found[0]


def weights_of(benchmark: Benchmark, precision: str) -> dict[str, torch.Tensor]:
    model = model_of(retrained(benchmark, {"precision": precision}))
    return {name: p.detach() for name, p in model.named_parameters()}
