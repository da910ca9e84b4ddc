from dataclasses import fields, make_dataclass
from typing import Any

import numpy as np
import pytest
import torch
from last_outputs import last_outputs

import onward
from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.checks.method_subject import MethodSubject
from onward.checks.resume import resumed_runs_equal_uninterrupted_ones
from onward.errors import OnwardError
from onward.methods.agem import AGEM, project
from onward.models.linear import LinearProbe
from onward.tasks.one_label import OneLabel
from onward.train import followed
from onward.train.backward import loss_gradient
from onward.train.followed import Followed, is_plain_sgd
from onward.train.method import Batch
from onward.train.recipe import Recipe
from onward.turns import Event
from onward.types import Setting


def test_a_projection_by_hand() -> None:
    gradient, reference = {"w": torch.tensor([1.0, 1.0])}, {"w": torch.tensor([-2.0, 0.0])}
    assert project(gradient, reference)["w"].tolist() == [0.0, 1.0]
    agreeing = {"w": torch.tensor([2.0, -1.0])}
    assert project(gradient, agreeing)["w"].tolist() == [1.0, 1.0]
    # One projection over all parameters: 1·(-2) + 1·1 < 0, though the second agrees.
    both = project(
        {"w": torch.tensor([1.0]), "b": torch.tensor([1.0])},
        {"w": torch.tensor([-2.0]), "b": torch.tensor([1.0])},
    )
    assert both["w"].item() == pytest.approx(0.6)
    assert both["b"].item() == pytest.approx(1.2)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("opposed", [True, False])
def test_the_step_never_raises_the_loss_on_memory(opposed: bool, whole: bool) -> None:
    probe, method = LinearProbe((4,), 2, torch.Generator().manual_seed(0)), AGEM()
    method.begin(Setting(OneLabel(), tiny_benchmark().recipes["cpu"], 0))
    inputs = torch.randn(1, 4, generator=torch.Generator().manual_seed(0)).repeat(6, 1)
    targets = torch.tensor([0, 0, 0, 1, 1, 1] if opposed else [0] * 6)
    method._new, method._whole = 3, whole
    batch = Batch(probe, inputs, probe.forward(inputs[:3]), targets, 3, np.arange(6))
    probe.backward(loss_gradient(method.compute_loss, batch).outputs)
    own = {name: p.grad.clone() for name, p in probe.parameters.items() if p.grad is not None}
    method.on_after_backward(batch)
    for name, parameter in probe.parameters.items():
        assert parameter.grad is not None
        if opposed:  # the memory's gradient is this one's opposite: nothing is left of it
            torch.testing.assert_close(
                parameter.grad, torch.zeros_like(parameter), atol=1e-6, rtol=0
            )
        else:
            torch.testing.assert_close(parameter.grad, own[name])


def test_the_reference_is_the_whole_memory_or_a_sample_of_it() -> None:
    stream, recipe = tiny_benchmark().stream(0), tiny_benchmark().recipes["cpu"]
    steps = sum(-(-len(period.train) // recipe.batch_size) for period in stream) * recipe.epochs
    first = -(-len(stream[0].train) // recipe.batch_size) * recipe.epochs
    new = sum(len(period.train) for period in stream) * recipe.epochs
    for sample, reference in ((None, len(stream[0].train)), (5, 5), (10**6, len(stream[0].train))):
        record = onward.run(tiny_benchmark(), "agem", options={"sample": sample})
        assert record.cost is not None
        assert record.cost.samples == new + (steps - first) * reference
    with pytest.raises(OnwardError, match="at least 1 from memory, found 0"):
        AGEM(sample=0)


def test_it_is_not_finetuning() -> None:
    # It is where no gradient ever points against the memory's, as in some of these short runs.
    seeds = range(5)
    alike = [
        np.array_equal(*(last_outputs(m, seed=s) for m in ("agem", "finetune"))) for s in seeds
    ]
    assert not all(alike)


# With many epochs, products of samples are kept; with few, they would not pay.
@pytest.mark.parametrize(
    "training",
    [{"epochs": 20}, {"epochs": 20, "momentum": 0.0}, {"epochs": 20, "weight_decay": 0.05}, {}],
)
def test_following_a_linear_model_is_asking_it_again(
    training: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = retrained(tiny_benchmark(), {"epochs": 10, **training})
    moved: list[int] = []
    move = Followed.move

    def noted(self: Followed, *arguments: object) -> None:
        moved.append(1)
        move(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Followed, "move", noted)
    looked: list[int] = []
    gradient = Followed.gradient

    def noted_gradient(self: Followed, slope: torch.Tensor) -> dict[str, torch.Tensor]:
        looked.append(1)
        return gradient(self, slope)

    monkeypatch.setattr(Followed, "gradient", noted_gradient)
    found: list[object] = []
    onward.run(benchmark, "agem", watch=lambda event: found.append(event.outputs))
    assert 0 < len(looked) < len(moved), "both agreed and disagreed"
    monkeypatch.setattr(AGEM, "_follow", lambda *arguments: None)
    asked: list[object] = []
    onward.run(benchmark, "agem", watch=lambda event: asked.append(event.outputs))
    assert len(found) == len(asked)
    for mine, other in zip(found, asked, strict=True):
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-4)


class RecomputedAGEM(AGEM):
    """A-GEM as published: autograd through the current weights gives each reference gradient."""

    def on_after_backward(self, batch: Batch) -> None:
        inputs, targets = batch.inputs[batch.num_new :], batch.targets[batch.num_new :]
        if not len(targets):
            return
        current = batch.model.parameters
        with torch.enable_grad():
            weight, bias = (current[n].clone().requires_grad_() for n in ("weight", "bias"))
            loss = torch.nn.functional.cross_entropy(inputs @ weight.t() + bias, targets)
            reference = torch.autograd.grad(loss, (weight, bias))
        own = [current[name].grad for name in ("weight", "bias")]
        dot = sum(float((g * r).sum()) for g, r in zip(own, reference, strict=True))
        if dot < 0:
            norm = sum(float((r * r).sum()) for r in reference)
            for name, g, r in zip(("weight", "bias"), own, reference, strict=True):
                current[name].grad = g - dot / norm * r


class NoProjection(AGEM):
    def on_after_backward(self, batch: Batch) -> None:
        """Leave the gradient alone."""


def trained_weights(method: type[AGEM], training: dict[str, Any]) -> list[torch.Tensor]:
    """Return the weights and biases after each period, one vector per period."""
    found: list[torch.Tensor] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            model = event.learner._model  # type: ignore[union-attr]
            parameters = [model.parameters[n].flatten() for n in ("weight", "bias")]
            found.append(torch.cat(parameters).clone())

    onward.run(retrained(tiny_benchmark(), training), method, watch=watch)
    return found


PLAIN_SGD: list[dict[str, Any]] = [
    {},
    {"momentum": 0.0},
    {"weight_decay": 0.01},
    {"momentum": 0.5, "weight_decay": 0.01, "decay_at": (0.3, 0.6)},
    {"schedule": "cosine", "warmup": 3, "later_warmup": 2, "later_rate": 0.3},
    {"schedule": "constant_cosine", "cooldown": 0.5},
    {"iterations": 25},
    {"replacement": True},
    {"first_epochs": 3, "memory": 30},
]
OTHER_OPTIMIZERS: list[dict[str, Any]] = [
    {"optimizer": "adam", "learning_rate": 0.05},
    {"optimizer": "adam", "learning_rate": 0.05, "fade": 0.9, "least": 1e-3, "goes_on": True},
    {"clip": 0.2},
    {"goes_on": True},
    {"decays_all": False, "weight_decay": 0.01},
    {"at_once": 7},
]


@pytest.mark.parametrize("training", [*PLAIN_SGD, *OTHER_OPTIMIZERS], ids=str)
def test_weights_equal_those_of_a_reference_gradient_recomputed_in_every_step(
    training: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ten epochs are 20 steps in every period: batches have 24 samples, periods about 40.
    training = {"epochs": 10, **training}
    expected = trained_weights(RecomputedAGEM, training)
    unprojected = trained_weights(NoProjection, training)
    assert not torch.allclose(expected[-1], unprojected[-1], rtol=1e-3, atol=1e-4)
    updates: list[int] = []
    move = Followed.move

    def counted(self: Followed, image: torch.Tensor, rate: float) -> None:
        updates.append(1)
        move(self, image, rate)

    monkeypatch.setattr(Followed, "move", counted)
    found = trained_weights(AGEM, training)
    for mine, other in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-4)
    plain = {name: value for name, value in training.items() if name != "epochs"} in PLAIN_SGD
    assert bool(updates) == plain, "the cache of outputs is used with plain SGD only"


@pytest.mark.parametrize("training", [{}, *OTHER_OPTIMIZERS], ids=str)
def test_a_run_stopped_inside_a_call_ends_with_the_same_predictions(
    training: dict[str, Any],
) -> None:
    benchmark = retrained(tiny_benchmark(), training)
    assert "times inside" in resumed_runs_equal_uninterrupted_ones(
        MethodSubject("agem", {}, benchmark, seed=0)
    )


def test_a_recipe_setting_added_later_is_not_plain_sgd() -> None:
    recipe = tiny_benchmark().recipes["cpu"]
    assert is_plain_sgd(recipe)
    later = make_dataclass("LaterRecipe", [("nesterov", bool, False)], bases=(Recipe,), frozen=True)
    values = {setting.name: getattr(recipe, setting.name) for setting in fields(recipe)}
    assert is_plain_sgd(later(**values))
    assert not is_plain_sgd(later(**values, nesterov=True))
    assert values.keys() >= followed._ANY_VALUE, "a renamed setting is renamed in the list too"


class FrozenRows:
    def frozen_rows(self, model: Any) -> dict[str, int]:
        return {"weight": 1}


class FrozenRowsAGEM(FrozenRows, AGEM):
    """A-GEM that does not train the weights of the first class."""


class FrozenRowsRecomputedAGEM(FrozenRows, RecomputedAGEM):
    """The same without a cache."""


def test_weights_with_frozen_rows_equal_those_of_recomputed_reference_gradients() -> None:
    found, expected = (
        trained_weights(m, {"epochs": 10}) for m in (FrozenRowsAGEM, FrozenRowsRecomputedAGEM)
    )
    torch.testing.assert_close(found[-1], expected[-1], rtol=1e-3, atol=1e-4)
