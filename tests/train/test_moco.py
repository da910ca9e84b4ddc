import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.augment import AUGMENTATIONS, augmented
from onward.seeds import Draws, draws
from onward.train.moco import CPU, Moco, batch_of, steps_of

SMALL = replace(CPU, size=16, queue=20, batch_size=8, temperature=0.2)


@pytest.fixture
def pixels() -> torch.Tensor:
    return torch.rand(8, 3, 16, 16, generator=torch.Generator().manual_seed(0))


def test_the_loss_is_that_of_the_paper(pixels: torch.Tensor) -> None:
    moco = Moco(SMALL, seed=0)
    query, key, queue = copy.deepcopy((moco._query, moco._key, moco._queue))
    rng = draws(Draws.AUGMENTATION, 0, 5)
    one, other = (augmented(pixels, AUGMENTATIONS["drawings"], 16, rng) for _ in range(2))
    q, k = (functional.normalize(net(x), dim=1) for net, x in ((query, one), (key, other)))
    positive = torch.einsum("nc,nc->n", q, k)
    negative = torch.einsum("nc,kc->nk", q, queue)
    top = (positive / 0.2).exp()
    expected = -(top / (top + (negative / 0.2).exp().sum(1))).log().mean()
    assert moco.step(pixels, 0.1, (0, 5)) == pytest.approx(float(expected.detach()), abs=1e-5)
    # What was looked at last is what the next batch is compared with.
    assert torch.allclose(moco._queue[:8], k, atol=1e-6)
    assert torch.equal(moco._queue[8:], queue[8:])


def test_without_a_queue_the_rest_of_the_batch_is_compared_with(pixels: torch.Tensor) -> None:
    moco = Moco(replace(SMALL, queue=0), seed=0)
    query, key = copy.deepcopy((moco._query, moco._key))
    rng = draws(Draws.AUGMENTATION, 0, 5)
    one, other = (augmented(pixels, AUGMENTATIONS["drawings"], 16, rng) for _ in range(2))
    q, k = (functional.normalize(net(x), dim=1) for net, x in ((query, one), (key, other)))
    closeness = (torch.einsum("nc,kc->nk", q, k) / 0.2).exp()
    expected = -(closeness.diagonal() / closeness.sum(1)).log().mean()
    assert moco.step(pixels, 0.1, (0, 5)) == pytest.approx(float(expected.detach()), abs=1e-5)


def test_the_queue_forgets_the_oldest(pixels: torch.Tensor) -> None:
    moco = Moco(SMALL, seed=0)
    kept = []
    for step in range(3):
        before = moco._queue.clone()
        moco.step(pixels, 0.1, (0, step))
        kept.append((moco._queue != before).any(1).nonzero().flatten().tolist())
    assert kept == [list(range(8)), list(range(8, 16)), [0, 1, 2, 3, 16, 17, 18, 19]]


def test_the_second_encoder_follows_slowly(pixels: torch.Tensor) -> None:
    moco = Moco(SMALL, seed=0)
    moco.step(pixels, 0.1, (0, 0))
    slow, fast = (copy.deepcopy(list(net.parameters())) for net in (moco._key, moco._query))
    moco.step(pixels, 0.1, (0, 1))
    for before, leader, after in zip(slow, fast, moco._key.parameters(), strict=True):
        assert torch.allclose(after, 0.99 * before + 0.01 * leader, atol=1e-6)


@pytest.mark.parametrize("queue", [20, 0])
def test_a_restored_one_goes_on_with_the_same_bits(pixels: torch.Tensor, queue: int) -> None:
    whole, first, second = (Moco(replace(SMALL, queue=queue), seed=3) for _ in range(3))
    losses = [whole.step(pixels, 0.1, (0, step)) for step in range(4)]
    for step in range(2):
        first.step(pixels, 0.1, (0, step))
    second.restore(first.state())
    assert [second.step(pixels, 0.1, (0, step)) for step in (2, 3)] == losses[2:]
    states = [net.encoder.state_dict() for net in (whole, second)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_reading_features_changes_nothing(pixels: torch.Tensor) -> None:
    moco = Moco(SMALL, seed=0)
    images = (pixels * 255).byte().permute(0, 2, 3, 1).numpy()
    before = copy.deepcopy(moco.encoder.state_dict())
    together = moco.features(images)
    alone = np.concatenate([moco.features(images[i : i + 1]) for i in range(len(images))])
    assert np.allclose(together, alone, atol=1e-5)
    after = moco.encoder.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert moco.encoder.training


def test_an_epoch_shows_each_image_once_and_no_small_batch() -> None:
    recipe = replace(CPU, batch_size=4, epochs=3)
    assert steps_of(10, recipe) == 6
    batches = [batch_of(10, 4, step, (0,)) for step in range(4)]
    assert all(len(batch) == 4 for batch in batches)
    assert len(set(np.concatenate(batches[:2]))) == 8
    assert not np.array_equal(np.concatenate(batches[:2]), np.concatenate(batches[2:]))
    assert len(batch_of(3, 4, 5, (0,))) == 3


def test_the_rate_falls_along_half_a_cosine() -> None:
    assert [round(SMALL.rate(step, 4) / SMALL.learning_rate, 4) for step in range(5)] == [
        1.0,
        0.8536,
        0.5,
        0.1464,
        0.0,
    ]


def test_an_unknown_encoder_is_refused() -> None:
    with pytest.raises(OnwardError, match="Did you mean 'resnet50'"):
        replace(CPU, encoder="resnet5")
