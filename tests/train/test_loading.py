"""Batches are the same with any number of workers, and are charged when they are used."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import onward
from onward.checks import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.errors import OnwardError
from onward.models.device import explained
from onward.train.loading import batches, loading_with
from onward.turns import Event
from onward.types import Benchmark

CPU = torch.device("cpu")


def weights_of(benchmark: Benchmark, method: str, **options: Any) -> list[torch.Tensor]:
    """Return all weights after each period."""
    found: list[torch.Tensor] = []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            learner: Any = event.learner
            found.append(torch.cat([p.detach().flatten() for p in learner._model.parameters()]))

    onward.run(benchmark, method, watch=watch, **options)
    return found


@pytest.mark.parametrize(
    ("make", "method", "options"),
    [
        (tiny_pairs, "er", {"augment": "random_affine"}),
        (tiny_boxes, "d3", {}),
        (tiny_benchmark, "er", {}),
    ],
)
def test_any_number_of_workers_gives_the_same_weights(
    make: Any, method: str, options: dict[str, Any]
) -> None:
    alone, one, two = (
        weights_of(make(), method, workers=workers, **options) for workers in (0, 1, 2)
    )
    assert len(alone) == len(one) == len(two)
    assert all(
        torch.equal(a, b) and torch.equal(a, c) for a, b, c in zip(alone, one, two, strict=True)
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_in_order(workers: int) -> None:
    with loading_with(workers):
        found = [
            (item, batch.tolist())
            for item, batch in batches(lambda n: torch.full((2,), n), range(20), 20, CPU)
        ]
    assert found == [(n, [n, n]) for n in range(20)]


def test_workers_read_in_other_processes_and_end() -> None:
    with loading_with(2):
        loaded = batches(lambda _: torch.tensor([os.getpid()]), range(20), 20, CPU)
        pids = {int(next(loaded)[1]) for _ in range(10)}
        loaded.close()
    assert len(pids) == 2
    assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_few_batches_and_arrays_in_memory_need_no_worker() -> None:
    with loading_with(2):
        few = [
            int(pid) for _, pid in batches(lambda _: torch.tensor([os.getpid()]), range(3), 3, CPU)
        ]
        loaded = batches(lambda _: torch.tensor([os.getpid()]), range(20), 20, CPU, in_memory=True)
        assert {*few, *(int(pid) for _, pid in loaded)} == {os.getpid()}


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_of_the_data_keeps_its_message(workers: int) -> None:
    def read(number: int) -> torch.Tensor:
        if number == 7:
            raise OnwardError("expected an image in 7.jpg, found none")
        return torch.tensor([number])

    with loading_with(workers), pytest.raises(OnwardError, match=r"^expected an image in 7.jpg"):
        list(batches(read, range(20), 20, CPU))


def test_a_worker_that_is_killed_ends_with_a_message() -> None:
    def read(number: int) -> torch.Tensor:
        if number == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.tensor([number])

    with loading_with(2), pytest.raises((OnwardError, RuntimeError)) as found:
        list(batches(read, range(20), 20, CPU))
    assert "with fewer --workers" in str(explained(found.value))


def test_reading_ahead_leaves_random_numbers_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    with loading_with(2):
        list(batches(lambda n: torch.tensor([n]), range(20), 20, CPU))
    assert torch.equal(torch.get_rng_state(), before)


def test_batches_that_are_read_ahead_are_charged_when_they_are_used() -> None:
    used: list[int] = []

    def items() -> Iterator[int]:
        for number in range(20):
            used.append(number)
            yield number

    with loading_with(2):
        loaded = batches(lambda n: torch.tensor([n]), items(), 20, CPU)
        next(loaded)
        loaded.close()
    assert 1 < len(used) < 20, "the loader reads ahead"
    ahead, alone = (
        onward.run(tiny_pairs(), "finetune", workers=workers, max_steps=9, augment="random_affine")
        for workers in (2, 0)
    )
    assert ahead.cost is not None
    assert alone.cost is not None
    assert ahead.cost.samples == alone.cost.samples
    np.testing.assert_array_equal(ahead.matrix(), alone.matrix())
