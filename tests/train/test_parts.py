import numpy as np
import pyarrow as pa
import pytest
import torch

from onward.budget import Budget
from onward.models.classifier import linear_probe
from onward.models.probe_bank import ProbeBank
from onward.tasks.one_label import OneLabel
from onward.train.loading import BatchReader, BatchSampler
from onward.train.method import TrainingSet, WholeBatch
from onward.types import Array, Call, Rows, Samples, Table, View


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("classes", [2, 9, 16, 17])
def test_the_gradient_of_a_linear_probe_is_that_of_a_linear_layer(classes: int) -> None:
    model, task = linear_probe((7,), classes, _generator()), OneLabel()
    inputs, targets = torch.randn(5, 7), torch.randint(0, classes, (5,))
    reference = torch.nn.Linear(7, classes)
    reference.load_state_dict({n: p.clone() for n, p in model.head.state_dict().items()})
    bank = ProbeBank([model])
    bank.forward(inputs)
    loss = task.loss(bank.outputs(0), targets)
    bank.backward(0, loss)
    bank.finish_backward()
    value = torch.nn.functional.cross_entropy(reference(inputs), targets)
    value.backward()
    assert loss.item() == pytest.approx(value.item(), abs=1e-6)
    for name, parameter in reference.named_parameters():
        torch.testing.assert_close(getattr(model.head, name).grad, parameter.grad)


def test_distillation_is_a_cross_entropy_on_the_classes_of_the_teacher() -> None:
    outputs = torch.randn(6, 5, requires_grad=True)
    teacher = torch.randn(6, 3)
    loss = OneLabel().distillation_loss(outputs, teacher)
    value = -(teacher.softmax(1) * outputs[:, :3].log_softmax(1)).sum(1).mean()
    assert loss.item() == pytest.approx(value.item(), abs=1e-6)
    (found,), (expected,) = (torch.autograd.grad(each, outputs) for each in (loss, value))
    torch.testing.assert_close(found, expected)


def test_a_growing_head_keeps_what_it_knows() -> None:
    model = linear_probe((4,), 3, _generator())
    inputs = torch.randn(2, 4)
    before = model.predict(inputs)
    model.add_classes(20, _generator(1))
    after = model.predict(inputs)
    assert after.shape == (2, 20)
    torch.testing.assert_close(after[:, :3], before)
    assert model.macs == 80


class _Sized:
    """Stands for a view of which only the length matters."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def shuffled(self, count: int, rng: np.random.Generator) -> Rows:
        return rng.permutation(count)


def _training(epoch: int, spare: int = 0, replay: int = 0) -> TrainingSet:
    return TrainingSet(_Sized(epoch + spare), epoch, replay)  # type: ignore[arg-type]


def test_an_epoch_is_every_sample_once_and_epochs_differ() -> None:
    steps = BatchSampler(_training(10), batch_size=4, key=[0, 0])
    epochs = [np.concatenate([steps[e * 3 + b] for b in range(3)]) for e in range(2)]
    assert steps.per_epoch == 3
    assert [sorted(epoch.tolist()) for epoch in epochs] == [list(range(10))] * 2
    assert epochs[0].tolist() != epochs[1].tolist()


def test_whole_batches_go_on_across_the_ends_of_epochs() -> None:
    steps = BatchSampler(_training(10), batch_size=4, key=[0, 0], across_epochs=True)
    seen = np.concatenate([steps[step] for step in range(5)])
    assert [len(steps[step]) for step in range(5)] == [4] * 5
    assert sorted(seen[:10].tolist()) == sorted(seen[10:].tolist()) == list(range(10))
    fresh = BatchSampler(_training(10), batch_size=4, key=[0, 0], across_epochs=True)
    assert fresh[3].tolist() == steps[3].tolist()
    assert sorted(BatchSampler(_training(3), 8, [0, 0], across_epochs=True)[0].tolist()) == [
        0,
        1,
        2,
    ]


def test_with_replacement_every_batch_is_drawn_from_all() -> None:
    steps = BatchSampler(_training(10), batch_size=40, key=[0, 0], replacement=True)
    assert len(steps[0]) == 40
    assert set(steps[0].tolist()) <= set(range(10))
    assert steps[0].tolist() != steps[1].tolist()


def test_steps_do_not_depend_on_where_one_begins() -> None:
    one, other = (BatchSampler(_training(10, 5, 4), batch_size=4, key=[3, 1]) for _ in range(2))
    everything = [one[step] for step in range(9)]
    for step in (7, 2, 8):
        np.testing.assert_array_equal(other[step], everything[step])


def test_replay_fills_every_batch_evenly() -> None:
    steps = BatchSampler(_training(12, spare=5, replay=4), batch_size=4, key=[0, 0])
    replayed = np.concatenate([steps[step][4:] for step in range(3)])
    assert all(len(steps[step]) == 8 for step in range(3))
    counts = np.bincount(replayed - 12, minlength=5)
    assert counts.sum() == 12
    assert counts.max() - counts.min() <= 1


def test_a_memory_smaller_than_a_batch_is_repeated() -> None:
    steps = BatchSampler(_training(4, spare=1, replay=4), batch_size=4, key=[0, 0])
    assert steps[0][4:].tolist() == [4, 4, 4, 4]


class Lazy:
    """A column that counts what it hands out."""

    def __init__(self, values: Array) -> None:
        self.values, self.shape, self.handed_out = values, values.shape, 0

    def __getitem__(self, rows: Rows) -> Array:
        self.handed_out += len(rows)
        return self.values[rows]


def test_a_memory_that_stands_beside_every_batch_is_read_once() -> None:
    column, budget = Lazy(np.random.default_rng(0).random((20, 3))), Budget()
    rows = np.arange(20)[::-1][:15].copy()
    budget.open(rows)
    table = Table(pa.table({"id": list(range(20))}), {"input": column}, digest="x")
    view = View(table, Samples(rows, rows % 2), ("even", "odd"), Call(budget))
    training = TrainingSet(view, epoch=10, replay=5)
    steps, inputs = (
        BatchSampler(training, batch_size=4, key=[0, 0]),
        BatchReader(training, 4, "none", key=[0, 0]),
    )
    for step in range(6):
        positions = steps[step]
        assert positions[-5:].tolist() == [10, 11, 12, 13, 14]
        np.testing.assert_array_equal(
            inputs(step, WholeBatch.of(positions, training)), column.values[rows[positions]]
        )
    assert column.handed_out == 2 * 10 + 5
    # Samples are charged when a batch is used, see `Descent.spend`, not when it is read.
    assert budget.totals["samples"] == 0
