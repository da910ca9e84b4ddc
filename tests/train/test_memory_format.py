"""Convolutions have their colours last in memory, which fused optimizers must not trip over."""

from pathlib import Path

import numpy as np
import pytest
import torch
from interrupted import outputs_of, resumed_outputs_of
from torch import nn

from onward.checks import tiny_benchmark
from onward.train.optimizers import ModelOptimizer
from onward.train.recipe import Recipe

OPTIMIZERS = ("sgd", "adamw", "adagrad", "rmsprop")


def stepped(
    optimizer: str, weight_format: torch.memory_format, gradient_format: torch.memory_format
) -> torch.Tensor:
    """Return weights after three steps, whose optimizer is restored before the last one."""
    recipe = Recipe(
        model="convnet",
        optimizer=optimizer,
        lr=0.1,
        weight_decay=0.01,
        momentum=0.9,
        batch_size=4,
        epochs=1,
    )
    rng = torch.Generator().manual_seed(0)
    start, *gradients = torch.randn(4, 5, 3, 2, 2, generator=rng)
    weight = nn.Parameter(start.to(memory_format=weight_format))
    made, state = ModelOptimizer({"weight": weight}, recipe), {}
    with torch.no_grad():
        for gradient in gradients:
            made = ModelOptimizer({"weight": weight}, recipe, state=state)
            weight.grad = gradient.to(memory_format=gradient_format)
            made.step(0.1)
            # As it is read from a file.
            state = {name: torch.tensor(values.numpy()) for name, values in made.state().items()}
    return weight.detach()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("weights", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("gradients", [torch.contiguous_format, torch.channels_last])
def test_steps_are_the_same_in_every_memory_format(
    optimizer: str, weights: torch.memory_format, gradients: torch.memory_format
) -> None:
    usual = stepped(optimizer, torch.contiguous_format, torch.contiguous_format)
    torch.testing.assert_close(stepped(optimizer, weights, gradients), usual)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_resuming_a_convolutional_network_changes_no_bit(optimizer: str, tmp_path: Path) -> None:
    benchmark = tiny_benchmark(model="convnet")
    options = {"device": "cpu", "optimizer": optimizer, "lr": 0.01}
    whole = outputs_of(benchmark, "finetune", **options)
    resumed = resumed_outputs_of(benchmark, "finetune", tmp_path, **options)
    for found, expected in zip(resumed, whole[-len(resumed) :], strict=True):
        np.testing.assert_array_equal(found, expected)
