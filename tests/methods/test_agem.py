import numpy as np
import pytest
import torch
from last_outputs import last_outputs

import onward
from onward.benchmarks import retrained
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.methods.agem import AGEM, project
from onward.models.linear import LinearProbe
from onward.tasks.one_label import OneLabel
from onward.train.followed import Followed
from onward.train.method import Step
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
    step = Step(probe, inputs, probe.forward(inputs[:3]), targets, 3, np.arange(6))
    probe.backward(method.minimises(step).slope)
    own = {name: p.grad.clone() for name, p in probe.parameters.items() if p.grad is not None}
    method.gradient(step)
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
