import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from onward.errors import DamagedFolderError, OnwardError
from onward.models.augment import AUGMENTATIONS, augmented
from onward.models.pixels import to_pixels
from onward.seeds import Draws, draws
from onward.train.moco import CPU, CropReader, Moco, two_crops
from onward.types import Array

SMALL = replace(CPU, image_size=16, queue_size=20, batch_size=8, temperature=0.2)


@pytest.fixture
def images() -> Array:
    return np.random.default_rng(0).integers(0, 256, (8, 16, 16, 3), np.uint8)


@pytest.fixture
def crops(images: Array) -> list[torch.Tensor]:
    """Return those of four steps."""
    return [two_crops(images, SMALL, (0, step)) for step in range(4)]


def test_loss_is_that_of_the_paper(crops: list[torch.Tensor]) -> None:
    moco = Moco(SMALL, seed=0)
    query, key, queue = copy.deepcopy((moco._encoder_q, moco._encoder_k, moco._queue))
    one, other = crops[0]
    q, k = (functional.normalize(net(x), dim=1) for net, x in ((query, one), (key, other)))
    positive = torch.einsum("nc,nc->n", q, k)
    negative = torch.einsum("nc,kc->nk", q, queue)
    top = (positive / 0.2).exp()
    expected = -(top / (top + (negative / 0.2).exp().sum(1))).log().mean()
    assert moco.step(crops[0], 0.1) == pytest.approx(float(expected.detach()), abs=1e-5)
    # The next batch is compared with the embeddings of this one.
    assert torch.allclose(moco._queue[:8], k, atol=1e-6)
    assert torch.equal(moco._queue[8:], queue[8:])


def test_without_a_queue_crops_are_compared_within_the_batch(crops: list[torch.Tensor]) -> None:
    moco = Moco(replace(SMALL, queue_size=0), seed=0)
    query, key = copy.deepcopy((moco._encoder_q, moco._encoder_k))
    one, other = crops[0]
    q, k = (functional.normalize(net(x), dim=1) for net, x in ((query, one), (key, other)))
    closeness = (torch.einsum("nc,kc->nk", q, k) / 0.2).exp()
    expected = -(closeness.diagonal() / closeness.sum(1)).log().mean()
    assert moco.step(crops[0], 0.1) == pytest.approx(float(expected.detach()), abs=1e-5)


def test_queue_overwrites_the_oldest(crops: list[torch.Tensor]) -> None:
    moco = Moco(SMALL, seed=0)
    kept = []
    for step in range(3):
        before = moco._queue.clone()
        moco.step(crops[step], 0.1)
        kept.append((moco._queue != before).any(1).nonzero().flatten().tolist())
    assert kept == [list(range(8)), list(range(8, 16)), [0, 1, 2, 3, 16, 17, 18, 19]]


def test_key_encoder_is_a_moving_average(crops: list[torch.Tensor]) -> None:
    moco = Moco(SMALL, seed=0)
    moco.step(crops[0], 0.1)
    slow, fast = (
        copy.deepcopy(list(net.parameters())) for net in (moco._encoder_k, moco._encoder_q)
    )
    moco.step(crops[1], 0.1)
    for before, leader, after in zip(slow, fast, moco._encoder_k.parameters(), strict=True):
        assert torch.allclose(after, 0.99 * before + 0.01 * leader, atol=1e-6)


@pytest.mark.parametrize("queue", [20, 0])
def test_restored_state_continues_with_the_same_bits(crops: list[torch.Tensor], queue: int) -> None:
    whole, first, second = (Moco(replace(SMALL, queue_size=queue), seed=3) for _ in range(3))
    losses = [whole.step(crops[step], 0.1) for step in range(4)]
    for step in range(2):
        first.step(crops[step], 0.1)
    second.restore(first.state())
    assert [second.step(crops[step], 0.1) for step in (2, 3)] == losses[2:]
    states = [net.encoder.state_dict() for net in (whole, second)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_features_are_read_in_evaluation_mode(images: Array) -> None:
    moco, tensor = Moco(SMALL, seed=0), torch.from_numpy(images)
    before = copy.deepcopy(moco.encoder.state_dict())
    together = moco.features(tensor)
    alone = torch.cat([moco.features(tensor[i : i + 1]) for i in range(len(images))])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    assert together.shape == (8, moco.feature_dim)
    after = moco.encoder.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert moco.encoder.training


def test_an_epoch_shows_each_image_once_and_no_small_batch() -> None:
    recipe = replace(CPU, batch_size=4, epochs=3)
    reader = CropReader([lambda rows: rows], [10], recipe, (0,))
    assert reader.per_epoch == 2
    batches = [reader.positions(step)[0][1] for step in range(4)]
    assert all(len(batch) == 4 for batch in batches)
    assert len(set(np.concatenate(batches[:2]))) == 8
    assert not np.array_equal(np.concatenate(batches[:2]), np.concatenate(batches[2:]))
    few = CropReader([lambda rows: rows], [3], recipe, (0,))
    assert [len(rows) for _, rows in few.positions(5)] == [3]


def test_a_batch_has_images_of_every_source(images: Array) -> None:
    numbered = np.repeat(np.arange(10, dtype=np.uint8), 16 * 16 * 3).reshape(10, 16, 16, 3)
    sources = [lambda rows: numbered[:3][rows], lambda rows: numbered[3:][rows]]
    one = CropReader([lambda rows: numbered[rows]], [10], SMALL, (0,))
    two, without = (CropReader(sources, sizes, SMALL, (0,)) for sizes in ([3, 7], [0, 7]))
    assert [number for number, _ in two.positions(0)] == [0, 1]
    offsets = (0, 3)
    shown = np.concatenate([rows + offsets[number] for number, rows in two.positions(0)])
    assert sorted(shown) == sorted(one.positions(0)[0][1])
    assert {number for number, _ in without.positions(0)} == {1}
    assert two(0).shape == one(0).shape == (2, 8, 3, 16, 16)


def test_the_learning_rate_falls_along_half_a_cosine() -> None:
    schedule = SMALL.optimization
    assert [round(schedule.lr_at(step, 4) / SMALL.lr, 4) for step in range(5)] == [
        1.0,
        0.8536,
        0.5,
        0.1464,
        0.0,
    ]


def test_two_crops_are_drawn_from_the_key(images: Array) -> None:
    rng, pixels = draws(Draws.AUGMENTATION, 0, 5), to_pixels(images)
    one, other = (augmented(pixels, AUGMENTATIONS["drawings"], 16, rng) for _ in range(2))
    found = two_crops(images, SMALL, (0, 5))
    assert torch.equal(found, torch.stack([one, other]))
    assert not torch.equal(found, two_crops(images, SMALL, (0, 6)))


@pytest.mark.parametrize("name", ["sgd", "adam", "AdamW", "rmsprop"])
def test_any_optimizer_of_torch_resumes_exactly(crops: list[torch.Tensor], name: str) -> None:
    recipe = replace(SMALL, optimizer=name)
    whole, first, second = (Moco(recipe, seed=3) for _ in range(3))
    losses = [whole.step(crops[step], 0.01) for step in range(4)]
    for step in range(2):
        first.step(crops[step], 0.01)
    second.restore(first.state())
    assert [second.step(crops[step], 0.01) for step in (2, 3)] == losses[2:]


def test_sgd_is_that_of_torch(crops: list[torch.Tensor]) -> None:
    moco = Moco(replace(SMALL, optimizer="sgd", weight_decay=0.1), seed=0)
    network = copy.deepcopy(moco._encoder_q)
    other = torch.optim.SGD(network.parameters(), lr=0.5, momentum=0.9, weight_decay=0.1)
    for step in range(2):
        moco.step(crops[step], 0.5)
        for mine, yours in zip(moco._encoder_q.parameters(), network.parameters(), strict=True):
            yours.grad = None if mine.grad is None else mine.grad.clone()
        other.step()
    for mine, yours in zip(moco._encoder_q.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(mine, yours)


@pytest.mark.filterwarnings("ignore:this processor has no instructions")
def test_bf16_computes_in_bf16_and_keeps_weights_in_fp32(crops: list[torch.Tensor]) -> None:
    moco, exact = (Moco(replace(SMALL, precision=name), seed=0) for name in ("bf16", "fp32"))
    losses = [net.step(crops[0], 0.01) for net in (moco, exact)]
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert {p.dtype for p in moco.encoder.parameters()} == {torch.float32}
    assert moco._queue.dtype == torch.float32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": "resnet5"}, "Did you mean 'resnet50'"),
        ({"optimizer": "adamv"}, "unknown optimizer 'adamv'. Did you mean"),
        ({"precision": "fp8"}, "expected precision as one of fp32, bf16, fp16"),
        ({"lr": -1.0}, "expected lr as a number of at least 0"),
        ({"epochs": -1}, "expected epochs as a whole number of at least 0"),
        ({"queue_size": 1.5}, "expected queue_size as a whole number"),
    ],
)
def test_mistakes_in_a_recipe_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        replace(CPU, **changes)


def test_fp16_is_refused_on_a_cpu() -> None:
    with pytest.raises(OnwardError, match="expected the precision fp32 or bf16 on a CPU"):
        Moco(replace(SMALL, precision="fp16"), seed=0)


def test_the_state_of_another_version_is_refused(crops: list[torch.Tensor]) -> None:
    moco = Moco(SMALL, seed=0)
    state = {name: value for name, value in moco.state().items() if name != "optimizer"}
    with pytest.raises(DamagedFolderError, match="expected 'optimizer' in the saved state"):
        moco.restore(state)


@pytest.mark.filterwarnings("ignore:.*copying from a non-meta parameter")
@pytest.mark.parametrize("queue_size", [20, 0])
def test_everything_is_on_the_device(crops: list[torch.Tensor], queue_size: int) -> None:
    meta = torch.device("meta")  # it refuses to compute with tensors of the CPU
    recipe = replace(SMALL, queue_size=queue_size, optimizer="rmsprop")
    moco, other = Moco(recipe, seed=0), Moco(recipe, seed=0, device=meta)
    moco.step(crops[0], 0.01)
    other.restore(moco.state())
    moved = crops[0].to(meta)
    queries, keys = other._embedded(other._encoder_q, moved[0]), other._queue[:8]
    logits, labels = other._logits(queries, keys if queue_size else queries)
    assert logits.device == labels.device == other._queue.device == meta
    functional.cross_entropy(logits, labels).backward()
    with torch.no_grad():
        other._optimizer.step(0.01)
        other._update_key_encoder()
        other._enqueue(queries)
    assert {value.device for value in other._optimizer.state().values() if value.ndim} == {meta}
