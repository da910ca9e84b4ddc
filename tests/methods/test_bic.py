import numpy as np
import pytest
import torch
from shown import begun, generator, shown

from onward.budget import Budget
from onward.errors import OnwardError
from onward.methods.bic import BiC, correction
from onward.models.classifier import Classifier, mlp
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.types import Task

INPUTS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = np.repeat([[0, -1], [1, -1], [2, -1]], 20, axis=0)


@pytest.mark.parametrize("task", [ManyLabels(), OneLabel()])
def test_the_correction_is_the_best_one(task: Task) -> None:
    rng = generator(3)
    outputs, targets = torch.randn(60, 3, generator=rng), torch.tensor(LABELS[:, 0])
    # New classes are told apart, but too weakly and with a bias.
    outputs[:, 2] = 0.2 * (outputs[:, 2] + 3 * (targets == 2)) + 1.5
    if task.name == "many_labels":
        targets = torch.tensor(LABELS)
    alpha, beta = correction(outputs, targets, 2, task)

    def loss(a: float, b: float) -> float:
        corrected = torch.cat([outputs[:, :2], a * outputs[:, 2:] + b], 1)
        return float(task.loss(corrected, targets)) + 1e-3 * ((a - 1) ** 2 + b**2)

    least = loss(alpha, beta)
    assert least < loss(1.0, 0.0) - 0.01
    for step in (0.02, -0.02):
        assert least < loss(alpha + step, beta)
        assert least < loss(alpha, beta + step)


def second_period(method: BiC) -> tuple[Classifier, Budget, object]:
    model, budget = mlp((3,), 2, generator(), hidden_dim=5), Budget()
    begun(method)
    method.on_learn_end(model, shown(INPUTS, np.arange(40), LABELS[:40], 2, budget), budget)
    view = shown(INPUTS, np.arange(40, 60), LABELS[40:], 3, budget)
    return model, budget, view


def test_a_few_samples_of_each_class_are_held_out_of_training() -> None:
    method = BiC(per_class=10, held_out=0.2)
    _model, budget, view = second_period(method)
    training = method.training_data(view, budget)  # type: ignore[arg-type]
    apart = method._held_out
    assert apart is not None
    assert np.bincount(apart.newest).tolist() == [2, 2, 2]
    assert not np.isin(apart.rows, training.view.rows).any()
    assert training.epoch == len(training.view) == 18 + 16
    # The exemplars that were chosen last.
    kept = method.state()["memory"]["memory"]
    assert set(apart.rows[:4]) == {*kept["rows"][8:10], *kept["rows"][18:20]}


def test_a_sample_under_two_labels_is_held_out_under_both() -> None:
    method, budget = begun(BiC(per_class=10, held_out=0.3)), Budget()
    model = mlp((3,), 2, generator(), hidden_dim=5)
    method.on_learn_end(model, shown(INPUTS, np.arange(40), LABELS[:40], 2, budget), budget)
    # All samples of the first class come again, as those of a new one.
    view = shown(INPUTS, np.arange(20), LABELS[40:], 3, budget)
    training = method.training_data(view, budget)
    apart = method._held_out
    assert apart is not None
    assert np.bincount(apart.newest).tolist() == [3, 3, 3]
    assert not np.isin(apart.rows, training.view.rows).any()


@torch.no_grad()
def test_only_new_outputs_are_corrected() -> None:
    method = BiC(per_class=10)
    model, budget, view = second_period(method)
    method.training_data(view, budget)  # type: ignore[arg-type]
    apart = method._held_out
    assert apart is not None
    model.add_classes(3, generator(5))
    inputs = torch.from_numpy(INPUTS.astype(np.float32))
    before = model.predict(inputs)
    rows, labels = torch.tensor(apart.rows), torch.tensor(apart.labels)
    alpha, beta = correction(before[rows], labels, 2, ManyLabels())
    method.on_learn_end(model, view, budget)  # type: ignore[arg-type]
    after = model.predict(inputs)
    torch.testing.assert_close(after[:, :2], before[:, :2])
    torch.testing.assert_close(after[:, 2], alpha * before[:, 2] + beta)
    assert abs(alpha - 1) + abs(beta) > 0.01
    # The teacher of the next period has it too, and nothing is held any more.
    torch.testing.assert_close(method._teacher.model(model).predict(inputs), after)
    assert method._held_out is None


def test_nothing_is_corrected_in_the_first_period_or_without_a_second_look() -> None:
    for limits in ({}, {"passes": 1.0}):
        method, budget = begun(BiC()), Budget(limits)
        model = mlp((3,), 2, generator(), hidden_dim=5)
        view = shown(INPUTS, np.arange(40), LABELS[:40], 2, budget)
        assert method.training_data(view, budget).epoch == 40
        before = model.head.weight.clone()
        method.on_learn_end(model, view, budget)
        assert torch.equal(model.head.weight, before)
    view = shown(INPUTS, np.arange(40, 60), LABELS[40:], 3, budget)
    assert method.training_data(view, budget).epoch == 20 + 8
    assert method._held_out is None


def test_a_share_is_between_0_and_1() -> None:
    with pytest.raises(OnwardError, match="between 0 and 1, found 1"):
        BiC(held_out=1)
