"""C2 as the paper describes it: Adam, four and six, softened labels, a falling rate."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from drive_calls import LABELS, RECIPE, counts, taught

from onward.errors import OnwardError
from onward.methods.c2 import C2
from onward.train.method import Batch


def test_four_new_and_six_old_samples_make_a_batch() -> None:
    sizes: list[tuple[int, int]] = []
    taught(
        C2(),
        4,
        seen=lambda batch: sizes.append((batch.num_new, len(batch.targets) - batch.num_new)),
    )
    assert sizes[:3] == [(4, 0), (4, 0), (2, 0)]
    assert sizes[3:] == [(4, 6), (4, 6), (2, 6)] * 3


def test_it_is_trained_by_adam_with_its_own_rate() -> None:
    photos = C2().override_recipe(replace(RECIPE, model="resnet50"))
    assert (photos.optimizer, photos.lr, photos.betas) == ("adamw", 0.0002, (0.9, 0.999))
    assert (photos.batch_size, photos.augment) == (4, "flip_perspective_erasing")
    assert photos.keep_optimizer_state
    assert C2(lr=0.5).override_recipe(RECIPE).lr == 0.5


def test_labels_are_softened() -> None:
    steps: list[Batch] = []
    method = C2(smoothing=0.3)
    taught(method, 1, seen=steps.append)
    batch = steps[0]
    leaf, outputs = (batch.outputs.detach().clone().requires_grad_() for _ in range(2))
    value = torch.nn.functional.cross_entropy(leaf, batch.targets, label_smoothing=0.3)
    value.backward()
    loss = C2.compute_loss(method, replace(batch, outputs=outputs))
    (found,) = torch.autograd.grad(loss, outputs)
    torch.testing.assert_close(found, leaf.grad)
    assert loss.item() == pytest.approx(value.item(), abs=1e-5)


def test_rare_classes_are_kept_more_of_than_they_occur() -> None:
    _, budget = taught(C2(), 40)
    assert len(budget.held) == 30
    kept, came = np.array(counts(LABELS[budget.held])) / 30, np.array(counts(LABELS)) / 400
    assert kept[0] < came[0] - 0.15
    assert kept[2] > came[2] + 0.05


def test_the_rate_falls_as_samples_pass() -> None:
    rates: list[float] = []
    taught(C2(slower_at=(20,)), 4, seen=lambda batch: rates.append(batch.lr))
    assert rates == [0.001] * 6 + [0.0005] * 6


def test_wrong_options_are_named() -> None:
    with pytest.raises(OnwardError, match="smoothing as a number from 0 on and up to"):
        C2(smoothing=1)
    for wrong in ((-3,), -5, "x"):
        with pytest.raises(OnwardError, match="numbers of samples to slow down at"):
            C2(slower_at=wrong)  # type: ignore[arg-type]
