"""C3 as the paper describes it: doubtful samples, a memory that is halved, two parts of a batch."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from drive_calls import LIMITS, RECIPE, learner_of, shown_call, taught
from shown import begun, shown

from onward.budget import Budget
from onward.errors import OnwardError
from onward.methods.c3 import C3, entropy
from onward.tasks.one_label import OneLabel
from onward.train.losses import contrastive_loss, focal_loss
from onward.train.method import Batch


def test_ten_new_and_six_old_samples_make_a_batch() -> None:
    sizes: list[tuple[int, int]] = []
    taught(
        C3(),
        4,
        seen=lambda batch: sizes.append((batch.num_new, len(batch.targets) - batch.num_new)),
    )
    assert sizes == [(10, 0), (10, 5), (10, 6), (10, 6)]


def test_the_network_becomes_its_newer_form() -> None:
    photos = C3().override_recipe(replace(RECIPE, model="resnet50"))
    assert (photos.model, photos.augment) == ("resnet50d", "flip_rotation_color_jitter")
    assert photos.lr == RECIPE.lr
    small = C3().override_recipe(RECIPE)
    assert (small.model, small.lr) == ("convnet", 1.0)
    assert C3(lr=0.3).override_recipe(RECIPE).lr == 0.3


def test_the_five_most_doubtful_of_a_batch_are_kept() -> None:
    last: list[Batch] = []

    def five(batch: Batch) -> None:
        last[:] = [batch]

    _, budget = taught(C3(), 1, seen=five)
    batch = last[0]
    doubt = torch.distributions.Categorical(logits=batch.outputs.detach()).entropy()
    chosen = batch.positions[doubt.argsort(descending=True)[:5].numpy()]
    assert sorted(budget.held.tolist()) == sorted(chosen.tolist())


def test_a_full_memory_is_halved_before_more_comes_in() -> None:
    sizes: list[int] = []
    taught(C3(), 16, after=lambda learner, budget: sizes.append(len(budget.held)))
    assert sizes == [5, 10, 15, 20, 25, 30, 20, 25, 30, 20, 25, 30, 20, 25, 30, 20]
    assert max(sizes) <= LIMITS["stored_samples"]


def test_those_go_that_the_model_is_most_certain_of() -> None:
    method = C3()
    learner, budget = taught(method, 6)
    memory = method._memory.buffer(shown_call(6, budget), budget)
    before = memory.rows.copy()
    asked: list[np.ndarray] = []
    ask = method._certainty
    method._certainty = lambda *args: asked.append(ask(*args)) or asked[-1]  # type: ignore[func-returns-value, method-assign]
    learner.learn(shown_call(6, budget), budget)
    certainty = asked[0]
    stayed = np.isin(before, budget.held)
    assert stayed.sum() == 15
    assert certainty[stayed].max() <= certainty[~stayed].min()
    # Four variations, each with probabilities that add up to one.
    assert 4 / 3 <= certainty.min() <= certainty.max() <= 4


def test_where_macs_are_limited_the_memory_is_not_looked_at_again() -> None:
    method, budget = C3(), Budget({**LIMITS, "macs": 10**9})
    learner = learner_of(method)
    for call in range(7):
        learner.learn(shown_call(call, budget), budget)
    assert len(budget.held) == 20
    assert budget.totals["samples"] == 70 + 5 + 5 * 6  # new ones, and what was replayed


def test_contrast_moves_the_network_and_focal_loss_the_head() -> None:
    """With no contrast, only the head has a gradient; with it, the head's stays the same."""
    found = {}
    for contrast in (0.0, 1.0):
        steps: list[Batch] = []
        method = C3(contrast=contrast)
        taught(method, 1, seen=steps.append)
        batch = steps[0]
        model = batch.model
        method._logits = np.zeros((10, 3), np.float32)  # which the end of the call let go of
        model.zero_grad()
        batch = replace(batch, outputs=model(batch.inputs))
        loss = C3.compute_loss(method, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        below = {n: p for n, p in model.named_parameters() if n not in model.class_rows}
        found[contrast] = max(float(p.grad.abs().max()) for p in below.values())  # type: ignore[union-attr]
        head = focal_loss(batch.outputs, batch.targets, 2.0)
        rows = model.class_rows
        alone = torch.autograd.grad(head, [*rows.values()], retain_graph=True)
        for values, gradient in zip(rows.values(), alone, strict=True):
            torch.testing.assert_close(values.grad, gradient)
        alike = batch.targets[:, None] == batch.targets
        by_class = contrastive_loss(batch.features, batch.features, alike, 0.1)
        # Both contrasts are added: that of classes, and that of two looks at one sample.
        least = head + contrast * by_class
        assert bool(loss > least + 1e-3) == bool(contrast)
    assert found[0.0] < 1e-6 < 1e-3 < found[1.0]


def test_old_samples_stay_close_to_what_was_said_of_them() -> None:
    steps: list[Batch] = []
    method = C3(gamma=0.0, distance=2.0, temperature=4.0)
    taught(method, 2, seen=steps.append)
    batch, said = steps[1], torch.from_numpy(method._stored_logits)
    leaf, outputs = (batch.outputs.detach().clone().requires_grad_() for _ in range(2))
    before = said[batch.positions[10:] - 10]
    distance = torch.nn.functional.cross_entropy(leaf[10:] / 4, (before / 4).softmax(1))
    value = torch.nn.functional.cross_entropy(leaf, batch.targets) + 2 * distance
    value.backward()
    method._new = 10
    loss = method._head_loss(batch, outputs)
    (found,) = torch.autograd.grad(loss, outputs)
    torch.testing.assert_close(found, leaf.grad)
    assert loss.item() == pytest.approx(value.item(), abs=1e-5)


def test_stored_logits_are_found_by_row_where_a_view_drops_repeated_rows() -> None:
    """With complete labels, a view shows a stored sample once, and not again beside itself."""
    method, budget = begun(C3(memory=4), OneLabel()), Budget()
    inputs, labels = np.zeros((8, 2)), np.zeros(8, int)
    first = shown(inputs, np.array([3, 1, 2, 0]), labels[:4], 1, budget, complete=labels)
    method.training_data(first, budget)
    memory = method._memory.buffer(first, budget)
    memory.admit(np.array([3, 1, 2, 1]), labels[:4], np.array([[3.0], [1.0], [2.0], [9.0]]))
    budget.hold(memory.rows)
    second = shown(inputs, np.array([5, 3, 6]), labels[:3], 1, budget, complete=labels)
    view = method.training_data(second, budget).view
    assert view.rows.tolist() == [5, 3, 6, 1, 2]
    np.testing.assert_array_equal(method._stored_logits, [[1], [2]])


def test_classes_that_a_sample_was_not_asked_about_are_left_alone() -> None:
    steps: list[Batch] = []
    method = C3(gamma=0.0)
    taught(method, 2, seen=steps.append)
    batch, method._new = steps[1], 10
    method._stored_logits = method._stored_logits[:, :2]
    outputs = batch.outputs.detach().requires_grad_()
    (plain,) = torch.autograd.grad(focal_loss(outputs, batch.targets, 0.0), outputs)
    (found,) = torch.autograd.grad(method._head_loss(batch, outputs), outputs)
    torch.testing.assert_close(found[:, 2], plain[:, 2])
    assert not torch.allclose(found[10:, :2], plain[10:, :2])


def test_entropy_is_that_of_the_softmax() -> None:
    logits = np.random.default_rng(0).normal(size=(20, 4))
    expected = torch.distributions.Categorical(logits=torch.from_numpy(logits)).entropy()
    np.testing.assert_allclose(entropy(logits), expected.numpy(), atol=1e-6)


def test_wrong_options_are_named() -> None:
    with pytest.raises(OnwardError, match="gamma as a number from 0 on, found -1"):
        C3(gamma=-1)
    with pytest.raises(OnwardError, match="temperature as a number above 0, found 0"):
        C3(temperature=0)
