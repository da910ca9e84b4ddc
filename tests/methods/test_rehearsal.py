"""Replay as IIRC has it: exemplars beside new samples, everything, or as a reference."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from last_outputs import last_outputs
from shown import RECIPE, begun, shown

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.errors import OnwardError
from onward.methods.agem import AGEM
from onward.methods.cumulative import ERInfinite
from onward.methods.er import ER
from onward.models.classifier import linear_probe
from onward.tasks.many_labels import ManyLabels
from onward.tasks.one_label import OneLabel
from onward.train.method import Batch
from onward.types import Task

INPUTS = np.random.default_rng(0).normal(size=(20, 3))
LABELS = np.array([[0, -1]] * 6 + [[1, -1]] * 6 + [[2, -1]] * 8)
PROBE = linear_probe((3,), 3, torch.Generator())


def after_the_first_period(method: ER | AGEM | ERInfinite) -> Budget:
    budget = Budget()
    begun(method)
    view = shown(INPUTS, np.arange(12), LABELS[:12], 2, budget)
    method.training_data(view, budget)
    method.on_learn_end(PROBE, view, budget)
    return budget


def test_er_sees_each_exemplar_once_an_epoch_with_the_label_it_had() -> None:
    method = ER()
    budget = after_the_first_period(method)
    kept = method._memory.samples.rows
    assert len(kept) == 2 * 4  # as the recipe says
    # Some of them come again, as samples of a subclass.
    rows = np.arange(4, 12)
    training = method.training_data(shown(INPUTS, rows, LABELS[12:], 3, budget), budget)
    assert training.epoch == len(training.view) == 8 + 8
    assert training.replay == 0
    assert training.view.rows.tolist() == [*rows, *kept]
    np.testing.assert_array_equal(training.view.labels[8:], LABELS[kept])


def test_with_complete_information_exemplars_know_more_and_come_once() -> None:
    method = ER()
    budget = after_the_first_period(method)
    complete = np.array([[0, 2]] * 6 + [[1, 2]] * 6 + [[2, -1]] * 8)
    rows = np.arange(4, 12)
    view = shown(INPUTS, rows, complete[rows], 3, budget, complete)
    training = method.training_data(view, budget)
    assert len(np.unique(training.view.rows)) == len(training.view)
    np.testing.assert_array_equal(training.view.labels, complete[training.view.rows])


def test_the_options_of_er_say_which_memory() -> None:
    assert len(after_the_first_period(ER(per_class=2)).held) == 4
    assert len(after_the_first_period(ER(memory=5)).held) == 5
    half = begun(ER(memory=5), recipe=replace(RECIPE, exemplars_per_class=None))
    assert half.training_data(
        shown(INPUTS, np.arange(12), LABELS[:12], 2, Budget()), Budget()
    ).epoch
    with pytest.raises(OnwardError, match="found both: memory 5 and per_class 2"):
        begun(ER(memory=5, per_class=2))
    sizes = [last_outputs("er", "incomplete", per_class=n) for n in (1, 5)]
    assert not np.array_equal(*sizes)


def test_without_a_capacity_er_infinite_is_cumulative() -> None:
    for protocol in ("incomplete", "iid"):
        np.testing.assert_array_equal(
            last_outputs("er_infinite", protocol), last_outputs("cumulative", protocol)
        )


def test_a_capacity_is_shared_by_the_classes() -> None:
    budget = after_the_first_period(ERInfinite(capacity=7))
    assert len(budget.held) == 2 * 4
    assert len(after_the_first_period(ERInfinite()).held) == 12
    one, other = (last_outputs("er_infinite", "incomplete", capacity=n) for n in (10, 10**6))
    assert not np.array_equal(one, other)
    with pytest.raises(OnwardError, match="at least 1, found 0"):
        ERInfinite(capacity=0)


def test_incremental_joint_is_cumulative_with_complete_information() -> None:
    benchmark = tiny_benchmark("complete")
    record = onward.run(benchmark, "cumulative")
    stream = benchmark.stream(0)
    recipe, seen, samples = benchmark.recipes["cpu"], set[int](), 0
    for period in stream:
        seen |= set(period.train.rows.tolist())
        epochs = recipe.epochs_of(period.index)
        samples += epochs * (len(seen) + len(period.validation))
    assert record.cost is not None
    assert record.cost.samples == samples


@pytest.mark.parametrize("task", [ManyLabels(), OneLabel()])
def test_agem_of_own_classes_asks_new_samples_for_new_ones_and_memory_for_old(task: Task) -> None:
    method = AGEM(own_classes=True, sample=4)
    labels = LABELS if task.name == "many_labels" else LABELS[:, 0]
    begun(method, task)
    budget = Budget()
    view = shown(INPUTS, np.arange(12), labels[:12], 2, budget)
    method.training_data(view, budget)
    method.on_learn_end(PROBE, view, budget)
    training = method.training_data(
        shown(INPUTS, np.arange(12, 20), labels[12:], 3, budget), budget
    )
    assert (training.replay, training.separate_replay) == (4, True)
    probe = linear_probe((3,), 3, torch.Generator().manual_seed(1))
    inputs = torch.from_numpy(INPUTS.astype(np.float32))[[*range(12, 20), 0, 1, 6, 7]]
    targets = torch.tensor(labels[[*range(12, 20), 0, 1, 6, 7]])
    outputs = probe(inputs[:8])
    batch = Batch(probe, inputs, outputs, targets, 8, np.arange(12))
    loss = method.compute_loss(batch)
    (gradient,) = torch.autograd.grad(loss, outputs, retain_graph=True)
    assert not gradient[:, :2].any()
    assert gradient[:, 2].abs().min() > 0 or task.name == "one_label"
    leaf = batch.outputs.detach().clone().requires_grad_()
    if task.name == "many_labels":
        value = torch.nn.functional.binary_cross_entropy_with_logits(leaf[:, 2], torch.ones(8))
        value.backward()
        torch.testing.assert_close(gradient, leaf.grad)
        assert loss.item() == pytest.approx(value.item(), abs=1e-6)
    seen: list[torch.Tensor] = []
    ask = method._loss

    def noted(outputs: torch.Tensor, *others: Any) -> torch.Tensor:
        loss = ask(outputs, *others)
        seen.extend(torch.autograd.grad(loss, outputs, retain_graph=True))
        return loss

    method._loss = noted  # type: ignore[method-assign]
    loss.backward()
    method.on_after_backward(batch)
    assert not seen[0][:, 2:].any()
    assert seen[0][:, :2].any()


def test_agems_reference_is_what_is_not_shown_again() -> None:
    method = AGEM()
    budget = after_the_first_period(method)
    complete = np.array([[0, 2]] * 6 + [[1, 2]] * 6 + [[2, -1]] * 8)
    rows = np.arange(4, 12)
    training = method.training_data(
        shown(INPUTS, rows, complete[rows], 3, budget, complete), budget
    )
    assert training.replays_all
    assert training.replay == np.count_nonzero(budget.held < 4)


@pytest.mark.parametrize("own_classes", [True, False])
def test_agem_runs_on_many_labels_either_way(own_classes: bool) -> None:
    said = last_outputs("agem", "incomplete", own_classes=own_classes, sample=4)
    assert np.isfinite(said).all()
    assert not np.array_equal(said, last_outputs("finetune", "incomplete"))
