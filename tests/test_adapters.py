"""Samples for loops of one's own: numpy, PyTorch, and TensorFlow where it is installed."""

import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch

import onward
from onward.adapters import (
    Part,
    batches,
    generator,
    part_of,
    signature,
    tensorflow_dataset,
    torch_batches,
    torch_dataset,
)
from onward.benchmarks.iirc import split
from onward.errors import OnwardError
from onward.types import Stream


@pytest.fixture(scope="module")
def stream() -> Stream:
    labels = ["polar", "brown", "bee", "ant"] * 30
    inputs = np.arange(120 * 3, dtype=np.float32).reshape(120, 3)
    return split(labels, {"bear": ["polar", "brown"]}, inputs=inputs, each=2)


def test_targets_are_the_labels_that_are_known(stream: Stream) -> None:
    part = part_of(stream, 1)
    samples = stream[1].train
    assert part.targets().shape == (len(samples), 3)
    assert np.array_equal(part.targets().argmax(1), samples.labels[:, 0])
    assert (part.targets().sum(1) == 1).all()
    first = part_of(stream, 0, "test")
    assert (first.targets() == 1).all()
    later = part_of(stream, 0, "test", learned_upto=len(stream) - 1)
    assert (later.targets().sum(1) == 2).all()
    assert (later.targets()[:, 0] == 1).all()


def test_batches_have_one_shape_and_bring_every_sample_once(stream: Stream) -> None:
    part = part_of(stream, 1)
    found = list(batches(part, 32, seed=0))
    assert {(b.inputs.shape, b.targets.shape, b.real.shape) for b in found} == {
        ((32, 3), (32, 3), (32,))
    }
    assert sum(int(batch.real.sum()) for batch in found) == len(part)
    inputs = np.concatenate([batch.inputs[batch.real] for batch in found])
    wanted = stream.table.wide["input"][stream[1].train.rows]
    assert sorted(inputs[:, 0].tolist()) == sorted(wanted[:, 0].tolist())
    targets = np.concatenate([batch.targets[batch.real] for batch in found])
    by_input = dict(zip(wanted[:, 0].tolist(), part.targets().tolist(), strict=True))
    assert [by_input[x] for x in inputs[:, 0].tolist()] == targets.tolist()


def test_the_seed_and_the_epoch_shuffle(stream: Stream) -> None:
    part = part_of(stream, 1)

    def order(seed: int | None, epoch: int = 0) -> list[float]:
        found = batches(part, 16, seed=seed, epoch=epoch)
        return [x for batch in found for x in batch.inputs[batch.real][:, 0].tolist()]

    plain = stream.table.wide["input"][stream[1].train.rows][:, 0].tolist()
    assert order(None) == plain
    orders = [order(0), order(0, 1), order(1)]
    assert order(0) == orders[0]
    assert all(one != other for one, other in pairwise([*orders, plain]))


def test_one_label_per_sample() -> None:
    stream = onward.load("clear", data="emoji").stream(0)
    part = part_of(stream, 0)
    assert np.array_equal(part.targets(), stream[0].train.labels)


def test_torch(stream: Stream) -> None:
    part = part_of(stream, 1)
    dataset = torch_dataset(part)
    assert isinstance(dataset, torch.utils.data.Dataset)
    assert len(dataset) == len(part)
    one, target = dataset[3]
    assert torch.equal(one, torch.from_numpy(part.inputs[part.rows(np.array([3]))])[0])
    assert target.tolist() == part.targets()[3].tolist()
    assert torch.equal(dataset[-1][0], dataset[len(part) - 1][0])
    with pytest.raises(IndexError):
        dataset[len(part)]
    loaded = list(torch.utils.data.DataLoader(dataset, batch_size=16))
    ours = list(torch_batches(part, 16))
    assert len(loaded) == len(ours)
    for (inputs, targets), (x, y) in zip(loaded, ours, strict=True):
        assert torch.equal(inputs, x)
        assert torch.equal(targets, y)


def test_a_dataset_reaches_the_workers_of_a_loader(stream: Stream) -> None:
    mine = torch_dataset(part_of(stream, period=1))
    theirs = pickle.loads(pickle.dumps(mine))
    assert len(theirs) == len(mine)
    for before, after in zip(mine[3], theirs[3], strict=True):
        torch.testing.assert_close(before, after)


@pytest.mark.parametrize(
    "wrong", [{"period": 99}, {"period": -1}, {"period": 1, "learned_upto": 0}]
)
def test_a_period_that_is_not_there(stream: Stream, wrong: dict[str, int]) -> None:
    with pytest.raises(OnwardError, match="expected a period from 0 to"):
        part_of(stream, **wrong)


def test_images_become_numbers_with_colours_first() -> None:
    images = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    part = part_of(split(["a", "b"] * 20, {"c": ["a", "b"]}, inputs=images[[0, 1] * 20]), 0)
    ((x, _),) = list(torch_batches(Part(part.inputs, part.samples[:2], 1), 2))
    assert x.shape == (2, 3, 4, 4)
    assert x.max() <= 1
    first = images[part.rows()[0] % 2]
    assert torch.equal(x[0], torch.from_numpy(first).permute(2, 0, 1) / 255)


def test_what_tensorflow_needs_without_it(stream: Stream) -> None:
    part = part_of(stream, 1)
    assert signature(part) == (((3,), np.dtype(np.float32)), ((3,), np.dtype(np.float32)))
    found = list(generator(part))
    assert len(found) == len(part)
    assert np.array_equal(np.stack([x for x, _ in found]), part.inputs[part.rows()])
    assert np.array_equal(np.stack([y for _, y in found]), part.targets())


@pytest.mark.slow
def test_tensorflow(stream: Stream) -> None:
    pytest.importorskip("tensorflow")
    part = part_of(stream, 1)
    found = list(tensorflow_dataset(part).batch(16).as_numpy_iterator())
    ours = list(torch_batches(part, 16))
    assert len(found) == len(ours)
    for (inputs, targets), (x, y) in zip(found, ours, strict=True):
        assert np.array_equal(inputs, x.numpy())
        assert np.array_equal(targets, y.numpy())


def test_streams_scores_and_numpy_batches_load_no_framework() -> None:
    code = """
import sys, numpy as np
from onward.adapters import batches, part_of
from onward.benchmarks.iirc import split
from onward.metrics.iirc import pw_jaccard
stream = split(["a", "b"] * 20, {"c": ["a", "b"]}, inputs=np.zeros((40, 2)))
for batch in batches(part_of(stream, 0), 8):
    pw_jaccard(batch.targets > 0, batch.targets > 0)
print({"torch", "tensorflow", "jax"} & set(sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_what_is_wrong(stream: Stream) -> None:
    with pytest.raises(OnwardError, match="unknown side 'trian'"):
        part_of(stream, 0, "trian")  # type: ignore[arg-type]
    with pytest.raises(OnwardError, match="1 sample or more"):
        next(batches(part_of(stream, 0), 0))
    with pytest.raises(OnwardError, match="a stream with inputs"):
        part_of(split(["a", "b"] * 20, {"c": ["a", "b"]}), 0)
