"""The optimizer of a recipe is torch's, and what is added keeps rows, state and growth right."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stopped import StopError, stop_after
from torch import nn

import onward
from onward.benchmarks import changed, retrained
from onward.checks import tiny_benchmark
from onward.checks.tiny import ONLINE
from onward.errors import LearningRateWarning, OnwardError
from onward.train.optimizers import ModelOptimizer, make_optimizer
from onward.train.recipe import Recipe
from onward.types import Benchmark

RECIPE = Recipe("linear", lr=0.1, weight_decay=0.0, batch_size=4, epochs=1, momentum=0.9)
# Name, keyword arguments of torch's class, and the recipe's fields that stand for them.
KINDS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("SGD", {"momentum": 0.9, "weight_decay": 0.01}, {"momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"momentum": 0.9, "nesterov": True}, {"optimizer_options": {"nesterov": True}}),
    ("Adam", {"betas": (0.8, 0.9), "eps": 1e-3}, {"betas": (0.8, 0.9), "eps": 1e-3}),
    ("AdamW", {"weight_decay": 0.1, "amsgrad": True}, {"weight_decay": 0.1}),
    ("RMSprop", {"momentum": 0.9}, {}),
    ("Adagrad", {"eps": 1e-8}, {}),
    ("NAdam", {}, {}),
]


def parameters() -> dict[str, nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    shapes = {"weight": (4, 3), "bias": (4,)}
    return {
        name: nn.Parameter(torch.randn(shape, generator=generator))
        for name, shape in shapes.items()
    }


def set_gradients(named: dict[str, nn.Parameter], step: int) -> None:
    generator = torch.Generator().manual_seed(step)
    for parameter in named.values():
        parameter.grad = torch.randn(parameter.shape, generator=generator)


def take_steps(optimizer: ModelOptimizer, named: dict[str, nn.Parameter], steps: range) -> None:
    with torch.no_grad():
        for step in steps:
            set_gradients(named, step)
            optimizer.step(0.1 / (step + 1))


@pytest.mark.parametrize(("name", "options", "fields"), KINDS)
def test_steps_are_those_of_torch_optim(
    name: str, options: dict[str, Any], fields: dict[str, Any]
) -> None:
    mine, theirs = parameters(), parameters()
    if name == "AdamW":
        fields = {**fields, "optimizer_options": {"amsgrad": True}}
    recipe = replace(RECIPE, optimizer=name.lower(), **fields)
    reference = getattr(torch.optim, name)(theirs.values(), lr=0.1, **options)
    take_steps(ModelOptimizer(mine, recipe), mine, range(8))
    for step in range(8):
        set_gradients(theirs, step)
        for group in reference.param_groups:
            group["lr"] = 0.1 / (step + 1)
        reference.step()
    for key, parameter in theirs.items():
        torch.testing.assert_close(mine[key], parameter)


def test_biases_and_norms_are_exempt_from_weight_decay() -> None:
    named = parameters()
    recipe = replace(RECIPE, optimizer="adamw", weight_decay=0.5, no_decay=True)
    groups = make_optimizer(named, recipe).param_groups
    decay = {id(p): group["weight_decay"] for group in groups for p in group["params"]}
    assert decay == {id(named["weight"]): 0.5, id(named["bias"]): 0.0}


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_frozen_rows_are_not_updated_although_weights_decay(name: str) -> None:
    named = parameters()
    before = named["weight"].detach().clone()
    recipe = replace(RECIPE, optimizer=name, weight_decay=0.5)
    take_steps(ModelOptimizer(named, recipe, frozen_rows={"weight": 2}), named, range(3))
    assert torch.equal(named["weight"][:2], before[:2])
    assert (named["weight"][2:] != before[2:]).all()


@pytest.mark.parametrize("name", ["sgd", "adamw", "rmsprop", "adagrad", "nadam", "adadelta"])
def test_a_restored_state_continues_as_if_nothing_had_happened(name: str) -> None:
    recipe = replace(RECIPE, optimizer=name)
    whole, cut = parameters(), parameters()
    take_steps(ModelOptimizer(whole, recipe), whole, range(6))
    first = ModelOptimizer(cut, recipe)
    take_steps(first, cut, range(3))
    state = {place: value.clone() for place, value in first.state().items()}
    take_steps(ModelOptimizer(cut, recipe, state=state), cut, range(3, 6))
    for key, parameter in whole.items():
        assert torch.equal(cut[key], parameter)


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_new_rows_of_a_parameter_begin_with_a_state_of_zero(name: str) -> None:
    recipe, small = replace(RECIPE, optimizer=name), parameters()
    before = ModelOptimizer(small, recipe)
    take_steps(before, small, range(2))
    large = {"weight": nn.Parameter(torch.zeros(6, 3)), "bias": nn.Parameter(torch.zeros(6))}
    after = ModelOptimizer(large, recipe, state=before.state())
    grown = [values for place, values in after.state().items() if values.ndim]
    assert grown
    assert all(len(values) == 6 and not values[4:].any() for values in grown)


def test_gradients_are_clipped_by_their_norm_together() -> None:
    mine, theirs = parameters(), parameters()
    recipe = replace(RECIPE, momentum=0.0, grad_clip_norm=0.5)
    for named in (mine, theirs):
        set_gradients(named, 0)
    with torch.no_grad():
        ModelOptimizer(mine, recipe).step(0.1)
        nn.utils.clip_grad_norm_(theirs.values(), 0.5)
        for parameter in theirs.values():
            assert parameter.grad is not None
            parameter -= 0.1 * parameter.grad
    for key, parameter in theirs.items():
        torch.testing.assert_close(mine[key], parameter)


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_a_gradient_that_lies_otherwise_in_memory_is_read_right(name: str) -> None:
    """Fused kernels ignore strides: a column of a matrix would be read as its first row."""
    mine, theirs = parameters(), parameters()
    column = torch.arange(16.0).view(4, 4)[:, 0]
    with torch.no_grad():
        for named, gradient in ((mine, column), (theirs, column.clone())):
            named["bias"].grad = gradient
            ModelOptimizer(named, replace(RECIPE, optimizer=name)).step(0.1)
    assert torch.equal(mine["bias"], theirs["bias"])


def test_the_state_of_an_equal_model_is_taken_over() -> None:
    one, other = parameters(), parameters()
    first, second = (ModelOptimizer(n, replace(RECIPE, optimizer="adamw")) for n in (one, other))
    take_steps(first, one, range(3))
    second.copy_state(first)
    for place, values in first.state().items():
        assert torch.equal(second.state()[place], values)
        assert second.state()[place] is not values


def test_timms_optimizers_are_found_by_name() -> None:
    named = parameters()
    recipe = replace(RECIPE, optimizer="lamb", weight_decay=0.01)
    take_steps(ModelOptimizer(named, recipe), named, range(2))
    assert type(make_optimizer(named, recipe)).__name__ == "Lamb"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"optimizer": "adamm"}, "unknown optimizer 'adamm'.*adam"),
        ({"optimizer": "lbfgs"}, "one step for each gradient, found lbfgs"),
        ({"optimizer_options": {"nestrov": True}}, "nesterov"),
        ({"optimizer_options": {"nesterov": True}, "momentum": 0.0}, "refuses its options"),
        ({"optimizer": "rprop", "weight_decay": 0.1}, "weight_decay = 0 with the optimizer rprop"),
    ],
)
def test_what_an_optimizer_cannot_take_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        make_optimizer(parameters(), replace(RECIPE, **fields))


def test_options_of_the_optimizer_are_training_hyperparameters() -> None:
    found = changed(RECIPE, {"nesterov": True, "lr": 1})
    assert (found.optimizer_options, found.lr) == ({"nesterov": True}, 1.0)
    other = changed(found, {"optimizer": "adamw", "amsgrad": True, "betas": [0.8, 0.9]})
    assert (other.optimizer_options, other.betas) == ({"amsgrad": True}, (0.8, 0.9))
    with pytest.raises(OnwardError, match="option of the optimizer adamw 'momentum'"):
        changed(RECIPE, {"optimizer": "adamw", "momentum": 0.5})
    with pytest.raises(OnwardError, match="'learning_rate', which is called lr"):
        changed(RECIPE, {"learning_rate": 0.5})


def _online(**fields: Any) -> Benchmark:
    made = tiny_benchmark("online")
    recipe = replace(ONLINE, optimizer="adamw", lr=0.01, **fields)
    return replace(made, recipes={made.recipe: recipe})


def test_a_state_that_is_kept_gives_another_run() -> None:
    anew, kept = (
        onward.run(_online(keep_optimizer_state=each), "finetune").matrix()
        for each in (False, True)
    )
    assert not np.array_equal(anew, kept, equal_nan=True)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"keep_optimizer_state": True},
        {"keep_optimizer_state": True, "ema_decay": 0.9},
        {"ema_decay": 0.9},
    ],
)
def test_optimizer_and_average_survive_a_stop(fields: dict[str, Any], tmp_path: Path) -> None:
    made = _online(**fields)
    whole = onward.run(made, "finetune", out=tmp_path / "whole")
    with pytest.raises(StopError):
        onward.run(
            made, "finetune", out=tmp_path / "cut", watch=stop_after(1), checkpoint_seconds=0
        )
    resumed = onward.run(made, "finetune", out=tmp_path / "cut")
    assert resumed.scores == whole.scores


def test_predictions_are_those_of_averaged_weights() -> None:
    made = tiny_benchmark()
    plain = onward.run(made, "finetune", epochs=1).matrix()
    near, far = (
        onward.run(made, "finetune", epochs=1, ema_decay=decay).matrix() for decay in (0.0, 0.99)
    )
    np.testing.assert_array_equal(plain, near)
    assert not np.array_equal(plain, far, equal_nan=True)


def test_training_keywords_of_run_are_in_the_spec() -> None:
    record = onward.run(tiny_benchmark(), "finetune", optimizer="adamw", lr=1e-3, batch_size=16)
    assert record.spec.recipe["optimizer"] == "adamw"
    assert record.spec.recipe_changes == {"optimizer": "adamw", "lr": 1e-3, "batch_size": 16}
    same = onward.run(
        retrained(tiny_benchmark(), {"optimizer": "adamw", "lr": 1e-3, "batch_size": 16}),
        "finetune",
    )
    assert same.spec.hash == record.spec.hash


def test_another_optimizer_without_a_learning_rate_warns() -> None:
    message = r"the recipe's lr of 0\.5 was chosen for sgd. Give lr too"
    with pytest.warns(LearningRateWarning, match=message):
        onward.run(tiny_benchmark(), "finetune", optimizer="adamw")
    onward.run(tiny_benchmark(), "finetune", optimizer="sgd")


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_restored_state_takes_the_memory_format_of_its_parameter(name: str) -> None:
    def images_last() -> dict[str, nn.Parameter]:
        values = torch.randn(3, 2, 3, 3, generator=torch.Generator().manual_seed(0))
        return {"conv": nn.Parameter(values.to(memory_format=torch.channels_last))}

    recipe = replace(RECIPE, optimizer=name)
    whole, first, second = images_last(), images_last(), images_last()
    take_steps(ModelOptimizer(whole, recipe), whole, range(4))
    begun = ModelOptimizer(first, recipe)
    take_steps(begun, first, range(2))
    with torch.no_grad():
        second["conv"].copy_(first["conv"])
    # As it comes back from a file.
    stored = {n: v.clone(memory_format=torch.contiguous_format) for n, v in begun.state().items()}
    take_steps(ModelOptimizer(second, recipe, state=stored), second, range(2, 4))
    assert torch.equal(second["conv"], whole["conv"])
