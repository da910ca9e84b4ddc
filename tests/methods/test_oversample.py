"""Oversampling replay: what each batch consists of, and what the memory holds."""

import numpy as np
import torch
from shown import begun, shown

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.methods.oversample import Oversample, share_of
from onward.models.classifier import linear_probe
from onward.tasks.one_label import OneLabel
from onward.train.loading import BatchSampler
from onward.train.method import TrainingSet
from onward.types import Array

CLASSES = 6
INPUTS = np.random.default_rng(0).normal(size=(300, 3))
# Most samples are of one class, and one sample is the only one of the last class.
LABELS = np.random.default_rng(1).choice(5, 300, p=[0.05, 0.1, 0.15, 0.6, 0.1])
LABELS[17] = 5
PROBE = linear_probe((3,), CLASSES, torch.Generator())


def after(calls: int, method: Oversample) -> tuple[TrainingSet, Budget]:
    """Return the training set of a call after some calls of ten samples each."""
    begun(method, OneLabel())
    budget = Budget()
    for call in range(calls + 1):
        rows = np.arange(10 * call, 10 * call + 10)
        view = shown(INPUTS, rows, LABELS[rows], CLASSES, budget)
        training = method.training_data(view, budget)
        if call < calls:
            method.on_learn_end(PROBE, view, budget)
    return training, budget


def labels_of(training: TrainingSet, key: int) -> tuple[Array, Array]:
    positions = BatchSampler(training, 10, (0, key))[0]
    return training.view.labels[positions], positions


def test_every_class_that_is_there_has_its_share_of_each_batch() -> None:
    assert share_of(10, CLASSES) == 4
    missing = set()
    for calls, key in [*((12, key) for key in range(20)), *((calls, 0) for calls in range(13, 20))]:
        training, _ = after(calls, Oversample(memory=60))
        labels, positions = labels_of(training, key)
        assert (positions[:10] < 10).all()
        assert (positions[10:] >= 10).all()
        counts = np.bincount(labels, minlength=CLASSES)
        assert (counts >= 2 * 10 / CLASSES).all()
        # Only what is missing is added.
        mine = np.bincount(labels[:10], minlength=CLASSES)
        np.testing.assert_array_equal(counts, np.maximum(mine, 4))
        missing |= set((4 - mine).tolist())
        # The one sample of the last class comes four times, all others once.
        seen, times = np.unique(positions, return_counts=True)
        repeated = seen[times > 1]
        assert set(training.view.labels[repeated].tolist()) <= {5}
    assert {-1, 1, 4} <= missing


def test_classes_that_memory_has_none_of_are_left_out() -> None:
    training, _ = after(0, Oversample(memory=60))
    labels, positions = labels_of(training, 0)
    assert sorted(positions.tolist()) == list(range(10))
    assert len(labels) == 10


def test_classes_share_the_memory_equally() -> None:
    _, budget = after(29, Oversample(memory=60))
    counts = np.bincount(LABELS[budget.held], minlength=CLASSES)
    assert counts.max() == 10
    assert (counts[:5] == np.minimum(np.bincount(LABELS[:290])[:5], 10)).all()
    assert counts[5] == 1


def test_batches_differ_from_call_to_call_and_not_from_run_to_run() -> None:
    training, _ = after(12, Oversample(memory=60))
    one, again, other = (labels_of(training, key)[1] for key in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_it_runs_online_and_keeps_to_its_memory() -> None:
    benchmark = tiny_benchmark("online")
    mine = onward.run(benchmark, "oversample", options={"memory": 12}).cost
    plain = onward.run(benchmark, "finetune").cost
    assert mine is not None
    assert plain is not None
    assert mine.stored_samples <= 12
    assert mine.samples > plain.samples
