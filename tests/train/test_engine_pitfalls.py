"""What a training engine gets wrong silently: each test failed before it was right."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from shown import shown
from torch import nn
from torch.nn import functional

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.methods.agem import AGEM
from onward.methods.finetune import Finetune
from onward.models import find_model
from onward.models.classifier import linear_probe
from onward.models.device import explained
from onward.models.shared import forward_macs
from onward.tasks.one_label import OneLabel
from onward.train.loading import BatchReader
from onward.train.method import Batch, TrainingSet, WholeBatch
from onward.train.optimizers import ModelOptimizer
from onward.train.recipe import Recipe
from onward.train.validation import Validation
from onward.train.weights import WeightAverage
from onward.types import Call, Samples, Table, View
from onward.view import aligned

RECIPE = Recipe("linear", lr=0.1, weight_decay=0.0, batch_size=4, epochs=1, momentum=0.9)


class Files:
    """Inputs that are not an array in memory."""

    shape, dtype = (20, 3), np.dtype(np.float32)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return np.repeat(np.arange(20, dtype=np.float32)[rows][:, None], 3, axis=1)


def test_a_worker_does_not_write_to_a_batch_that_it_has_handed_over() -> None:
    """Another thread of the worker sends the batch while the next one is read."""
    import pyarrow as pa

    budget = Budget()
    budget.open(np.arange(20))
    table = Table(pa.table({"id": pa.array(range(20))}), {"input": Files()}, "made")
    samples = Samples(np.arange(20), np.zeros(20, np.int64))
    view = View(table, samples, ("a",), Call(budget))
    training = TrainingSet(view, epoch=12, replay=8)
    reader = BatchReader(training, 4, "none", (0, 0))
    replay = np.arange(12, 20)
    with mock.patch("onward.train.loading.get_worker_info", return_value=SimpleNamespace(id=0)):
        first, _ = (
            reader.read_step((step, WholeBatch.of(np.concatenate([new, replay]), training)))
            for step, new in enumerate((np.arange(4), np.arange(4, 8)))
        )
    assert first[:, 0].tolist() == [0, 1, 2, 3, *range(12, 20)]


class KeepsFeatures(Finetune):
    def compute_loss(self, batch: Batch) -> torch.Tensor:
        before = batch.features.detach().clone()
        batch.model(batch.inputs[:1] * 0 + 5)
        assert torch.equal(batch.features, before)
        return super().compute_loss(batch)


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_features_of_a_batch_are_its_own_after_another_forward_pass(model: str) -> None:
    onward.run(tiny_benchmark("iid", model=model), KeepsFeatures)


class FreezesBody(Finetune):
    """Trains the head alone in the first steps of a call."""

    def training_data(self, new: View, budget: Budget) -> TrainingSet:
        self._step = 0
        return super().training_data(new, budget)

    def on_after_backward(self, batch: Batch) -> None:
        self._step += 1
        for name, parameter in batch.model.named_parameters():
            if self._step < 3 and not name.startswith("head"):
                parameter.grad = None


def test_layers_may_get_their_first_gradient_after_others() -> None:
    record = onward.run(tiny_benchmark("iid", model="mlp"), FreezesBody)
    assert np.nanmean(record.matrix()) > 0.5


def test_momentum_of_a_later_gradient_begins_at_zero() -> None:
    named = {name: nn.Parameter(torch.ones(2, 2)) for name in ("a", "b")}
    mine = ModelOptimizer(named, RECIPE)
    theirs = {name: nn.Parameter(torch.ones(2, 2)) for name in named}
    reference = torch.optim.SGD(theirs.values(), lr=0.1, momentum=0.9, foreach=False, fused=False)
    for step in range(4):
        for name in named:
            for parameters in (named, theirs):
                has_grad = name == "a" or step >= 2
                parameters[name].grad = torch.full((2, 2), step + 1.0) if has_grad else None
        with torch.no_grad():
            mine.step(0.1)
        reference.step()
    for name, parameter in theirs.items():
        torch.testing.assert_close(named[name], parameter)


def test_adafactor_takes_its_own_eps() -> None:
    named = {"a": nn.Parameter(torch.ones(2, 2))}
    recipe = replace(RECIPE, optimizer="adafactor")
    assert ModelOptimizer(named, recipe).torch.defaults["eps"] == (None, 1e-3)
    recipe = replace(recipe, optimizer_options={"eps": (None, 0.01)})
    assert ModelOptimizer(named, recipe).torch.defaults["eps"] == (None, 0.01)


class Drops(Finetune):
    """Draws without any module."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        return super().compute_loss(
            replace(batch, outputs=functional.dropout(batch.outputs, 0.3), logged={})
        )


class DroppingAGEM(AGEM):
    def on_after_backward(self, batch: Batch) -> None:
        super().on_after_backward(batch)
        for parameter in batch.model.parameters():
            assert parameter.grad is not None
            parameter.grad *= torch.rand(())


@pytest.mark.parametrize("method", [Drops, DroppingAGEM])
@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_random_numbers_of_torch_repeat_in_every_method(method: Any, model: str) -> None:
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        outputs: list[Any] = []

        def watch(event: Any, outputs: list[Any] = outputs) -> None:
            if event.kind == "tested":
                outputs.append(np.ravel(event.outputs))

        onward.run(tiny_benchmark("iid", model=model), method, watch=watch)
        found.append(np.concatenate(outputs))
    np.testing.assert_array_equal(*found)


def test_attention_is_counted() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    tokens, width = 5, 8
    linear = tokens * width * (3 * width + width) + 2 * tokens * width * 16
    attention = 2 * tokens * tokens * width
    assert forward_macs(layer, torch.zeros(1, tokens, width)) == linear + attention


def test_macs_of_a_vision_transformer_are_those_of_its_layers() -> None:
    model = find_model("timm:vit_tiny_patch16_224")((224, 224, 3), 10, torch.Generator())
    tokens, width = 197, 192
    layer = tokens * width * 12 * width + 2 * tokens * tokens * width
    assert model.macs == 12 * layer + 196 * width * 768 + width * 10


def test_an_exception_in_a_worker_is_not_called_a_lost_worker() -> None:
    error = RuntimeError("Caught RuntimeError in DataLoader worker process 0.\ncorrupt JPEG")
    assert explained(error) is error
    lost = explained(RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed."))
    assert "one has ended" in str(lost)


def test_the_best_epoch_is_that_of_the_averaged_weights() -> None:
    inputs = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    budget = Budget()
    view = shown(inputs, np.arange(10), np.zeros(10, np.int64), 2, budget)
    model = linear_probe((3,), 2, torch.Generator().manual_seed(0))
    average = WeightAverage(model, 0.5)
    with torch.no_grad():
        model.head.bias += 100.0  # the weights themselves have moved on
    recipe = replace(RECIPE, ema_decay=0.5)
    validation = Validation(
        view, model, OneLabel(), budget, recipe, keeps_best=True, average=average, state={}
    )
    validation.evaluate()
    assert validation.restore_best()
    torch.testing.assert_close(model.head.bias, average.weights["head.bias"])


class HasAHead(Finetune):
    def __init__(self) -> None:
        self.head = nn.Linear(2, 2)  # type: ignore[assignment]


class ReturnsAView(Finetune):
    def training_data(self, new: View, budget: Budget) -> Any:
        return new


class ReturnsADict(Finetune):
    def override_recipe(self, recipe: Recipe) -> Any:
        return {"lr": 1.0}


class LogsAll(Finetune):
    def compute_loss(self, batch: Batch) -> torch.Tensor:
        batch.log("outputs", batch.outputs)
        return super().compute_loss(batch)


class Forgets(Finetune):
    def compute_loss(self, batch: Batch) -> Any:
        super().compute_loss(batch)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (HasAHead, "expected linear or cosine as `head` of HasAHead"),
        (ReturnsAView, "to return a TrainingSet, found View"),
        (ReturnsADict, "to return a Recipe, found dict"),
        (LogsAll, r"expected one number to log as 'outputs', found the shape \(\d+, \d+\)"),
        (Forgets, "found NoneType. Does it return the loss"),
    ],
)
def test_mistakes_in_a_method_get_one_message(kind: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.run(tiny_benchmark(), kind)


def test_a_device_that_is_not_there_is_refused_before_anything_is_loaded() -> None:
    if not torch.cuda.is_available():
        with pytest.raises(OnwardError, match="expected the device cuda, found"):
            onward.load("clear", data="emoji", device="cuda")
    with pytest.raises(OnwardError, match="fp32 or bf16 on a CPU, found fp16"):
        onward.load("clear", data="emoji", device="cpu", precision="fp16")


def test_aligned_memory_begins_where_a_cache_line_does() -> None:
    assert aligned((3, 5), np.dtype(np.float32)).ctypes.data % 64 == 0
