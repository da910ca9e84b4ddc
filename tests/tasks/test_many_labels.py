"""The task kind with many labels."""

import numpy as np
import pytest
import torch

from onward.errors import DivergedError, OnwardError
from onward.tasks.many_labels import ManyLabels, label_sets

TASK = ManyLabels()


def test_loss_and_gradient_are_those_of_binary_cross_entropy() -> None:
    logits = torch.randn(6, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.tensor([[0, 1], [2, -1], [4, 3], [1, -1], [0, 4], [3, -1]])
    targets = torch.zeros(6, 5)
    for row, known in enumerate(labels.tolist()):
        targets[row, [label for label in known if label >= 0]] = 1
    expected = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets)
    found = TASK.loss(logits, labels)
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)
    gradients = [torch.autograd.grad(loss, logits) for loss in (found, expected)]
    torch.testing.assert_close(*gradients)


def test_a_logit_of_any_size_has_a_finite_loss() -> None:
    assert TASK.loss(torch.tensor([[500.0, -500.0]]), torch.tensor([[0]])).item() == 0.0
    assert TASK.loss(torch.tensor([[-500.0, 500.0]]), torch.tensor([[0]])).item() == 500.0


def test_one_label_per_sample_will_do() -> None:
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    one, many = torch.tensor([0, 2, 1, 1]), torch.tensor([[0, -1], [2, -1], [1, -1], [1, -1]])
    torch.testing.assert_close(TASK.loss(logits, one), TASK.loss(logits, many))


def test_the_distance_is_about_the_classes_that_the_teacher_knows() -> None:
    logits = torch.randn(4, 5, generator=torch.Generator().manual_seed(2), requires_grad=True)
    teacher = torch.randn(4, 3, generator=torch.Generator().manual_seed(3))
    found = TASK.distillation_loss(logits, teacher)
    (gradient,) = torch.autograd.grad(found, logits)
    assert not gradient[:, 3:].any()
    assert gradient[:, :3].any()
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        logits[:, :3], teacher.sigmoid()
    )
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)


def test_labels_to_come_do_not_count() -> None:
    said = np.array([[True, False], [True, True]])
    assert TASK.score(said, np.array([[0, 7], [0, 1]]))["exact_match"] == 1.0
    assert label_sets(np.array([[0, 7], [-1, 1]]), 2).tolist() == [[True, False], [False, True]]


def test_scores_above_zero_are_a_yes() -> None:
    said = TASK.decode(np.array([[0.1, 0.0], [-2.0, 3.0]]), ("a", "b"), 2)
    assert said.tolist() == [[True, False], [False, True]]
    assert TASK.decode(said, ("a", "b"), 2).tolist() == said.tolist()


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(OnwardError, match=r"shape \(2, 2\)"):
        TASK.decode(np.zeros(2), ("a", "b"), 2)
    with pytest.raises(DivergedError, match="finite"):
        TASK.decode(np.array([[np.nan, 0.0]]), ("a", "b"), 1)


def test_no_samples_have_no_score() -> None:
    assert np.isnan(TASK.score(np.zeros((0, 2), bool), np.zeros((0, 2), int))["pw_jaccard"])
