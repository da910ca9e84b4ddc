"""Losses are those of their definitions, with finite gradients."""

from collections.abc import Callable

import pytest
import torch

from onward.train.losses import contrastive_loss, focal_loss, smooth_labels

LOGITS = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
TARGETS = torch.tensor([0, 2, 1, 1, 0])


def gradient_at(values: torch.Tensor, loss: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    leaf = values.clone().requires_grad_()
    return torch.autograd.grad(loss(leaf), leaf)[0]


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0, 3.5])
def test_the_focal_loss_is_that_of_its_definition(gamma: float) -> None:
    leaf = LOGITS.clone().requires_grad_()
    p = leaf.softmax(1).gather(1, TARGETS[:, None])[:, 0]
    value = (-((1 - p) ** gamma) * p.log()).mean()
    value.backward()
    loss = focal_loss(LOGITS, TARGETS, gamma)
    gradient = gradient_at(LOGITS, lambda out: focal_loss(out, TARGETS, gamma))
    torch.testing.assert_close(gradient, leaf.grad)
    assert loss.item() == pytest.approx(value.item(), abs=1e-6)


def test_what_is_known_well_counts_next_to_nothing() -> None:
    sure = torch.tensor([[30.0, 0, 0], [200.0, 0, 0]])
    gradient = gradient_at(sure, lambda out: focal_loss(out, torch.tensor([0, 0]), 0.5))
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() < 1e-6
    wrong = gradient_at(sure, lambda out: focal_loss(out, torch.tensor([1, 1]), 0.5))
    torch.testing.assert_close(wrong[:, 1], torch.tensor([-0.5, -0.5]))


def test_smoothed_labels_still_add_up_to_one() -> None:
    wanted = torch.eye(4)
    found = smooth_labels(wanted, 0.2)
    torch.testing.assert_close(found.sum(1), torch.ones(4))
    assert found[0, 0] == pytest.approx(0.85)
    assert torch.equal(smooth_labels(wanted, 0.0), wanted)


def test_contrast_by_hand() -> None:
    features = torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0]])
    labels = torch.tensor([0, 1, 0])
    loss = contrastive_loss(features, features, labels[:, None] == labels, 0.5)
    # Of the first and the third: the other at cosine 1, the second at 0; the second has no fellow.
    expected = -torch.tensor([2.0, 0.0]).log_softmax(0)[0].item()
    assert loss.item() == pytest.approx(expected, abs=1e-6)


def test_contrast_pulls_fellows_together_and_pushes_others_away() -> None:
    torch.manual_seed(0)
    features = torch.randn(8, 4)
    labels = torch.arange(8) % 2
    alike = labels[:, None] == labels
    before = contrastive_loss(features, features, alike, 0.1)
    gradient = gradient_at(features, lambda out: contrastive_loss(out, out, alike, 0.1))
    moved = features - 0.05 * gradient
    assert contrastive_loss(moved, moved, alike, 0.1).item() < before.item()
    # A feature's length does not matter, so no gradient points along it.
    along = (gradient * features).sum(1)
    torch.testing.assert_close(along, torch.zeros(8), atol=1e-5, rtol=0)


def test_keys_of_another_view_count_themselves() -> None:
    features, keys = torch.eye(3), torch.eye(3).flip(0).contiguous()
    loss = contrastive_loss(features, keys, torch.eye(3, dtype=torch.bool), 1.0)
    assert loss > contrastive_loss(features, torch.eye(3), torch.eye(3).bool(), 1.0)
    none = torch.zeros(3, 3, dtype=torch.bool)
    assert contrastive_loss(features, keys, none, 1.0).item() == 0
    assert not gradient_at(features, lambda out: contrastive_loss(out, keys, none, 1.0)).any()
