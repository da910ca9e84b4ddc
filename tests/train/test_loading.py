"""Batches are the same with any number of workers, and are charged when they are used."""

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.data.folder_images import FolderImages
from onward.errors import LookAheadError, OnwardError
from onward.models.device import explained
from onward.train.loading import DecodeCache, batches, loading_with, view_batches
from onward.turns import Event
from onward.types import Array, Benchmark, Call, Rows, Samples, Table, View
from onward.view import reader_of

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


@dataclass(frozen=True, eq=False)
class CountedImages(FolderImages):
    """Photos that write down which of them were decoded, in whatever process."""

    log: Path = field(kw_only=True)

    def _opened(self, row: int) -> Image.Image:
        with self.log.open("a") as file:
            file.write(f"{row}\n")
        return super()._opened(row)

    def decoded(self) -> list[int]:
        """Return the rows decoded since the last time."""
        rows = [int(row) for row in self.log.read_text().split()]
        self.log.write_text("")
        return sorted(rows)


@pytest.fixture
def photos(tmp_path: Path) -> CountedImages:
    rng = np.random.default_rng(0)
    paths = [f"{number}.png" for number in range(20)]
    for path in paths:
        Image.fromarray(rng.integers(0, 256, (8, 12, 3), np.uint8)).save(tmp_path / path)
    (tmp_path / "log").touch()
    return CountedImages(tmp_path, paths, 8, log=tmp_path / "log")


def view_of(column: FolderImages, rows: Rows, *, learned: bool = False) -> View:
    count = len(column.paths)
    table = Table(pa.table({"id": pa.array(range(count))}), {"input": column}, "made up")
    samples = Samples(rows, np.zeros(len(rows), np.int64))
    budget = Budget() if learned else None
    if budget is not None:
        budget.open(rows)
    return View(table, samples, ("a", "b"), Call(budget))


def inputs_of(view: View, workers: int = 0) -> Array:
    with loading_with(workers):
        return np.concatenate([batch.numpy() for batch in view_batches(view, CPU, 2)])


@pytest.mark.parametrize("workers", [0, 2])
def test_test_images_are_decoded_once(photos: CountedImages, workers: int) -> None:
    rows = np.arange(4, 20)
    first = inputs_of(view_of(photos, rows), workers)
    assert photos.decoded() == rows.tolist()
    np.testing.assert_array_equal(inputs_of(view_of(photos, rows), workers), first)
    assert photos.decoded() == []
    np.testing.assert_array_equal(photos[rows], first)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_view_shows_its_own_rows_whatever_is_cached(photos: CountedImages, workers: int) -> None:
    inputs_of(view_of(photos, np.arange(10)), workers)
    photos.decoded()
    # In another order, some of them new.
    rows = np.array([9, 8, 3, 12, 11, 10, 0, 1, 15, 16, 17, 18])
    found = inputs_of(view_of(photos, rows), workers)
    assert photos.decoded() == [3, 10, 11, 12, 15, 16, 17, 18]
    np.testing.assert_array_equal(found, photos[rows])
    # Another column has other images in the same rows.
    other = replace(photos, paths=photos.paths[::-1])
    np.testing.assert_array_equal(inputs_of(view_of(other, rows), workers), other[rows])


@pytest.mark.parametrize("make", [tiny_pairs, tiny_boxes, tiny_benchmark, None])
def test_a_reader_can_be_sent_to_a_worker_that_is_spawned(
    make: Callable[[], Benchmark] | None, photos: CountedImages
) -> None:
    """As on systems without fork; the budget of the call stays with the process that trains."""
    if make is None:
        view = view_of(photos, np.arange(8), learned=True)
    else:
        stream, budget = make().stream(0), Budget()
        budget.checkpoint = lambda learner: None  # cannot be sent
        view = View(stream.table, stream[0].train, stream[0].classes, Call(budget))
    reader = reader_of(view)
    sent = pickle.loads(pickle.dumps(reader))
    np.testing.assert_array_equal(sent.read(np.arange(3)), reader.read(np.arange(3)))
    view._call.over = True
    with pytest.raises(LookAheadError):
        pickle.loads(pickle.dumps(reader)).read(np.arange(3))


def test_images_that_are_learned_from_are_not_cached(photos: CountedImages) -> None:
    rows = np.arange(8)
    inputs_of(view_of(photos, rows, learned=True))
    inputs_of(view_of(photos, rows, learned=True))
    assert photos.decoded() == sorted([*range(8)] * 2)


def test_cached_images_are_not_shown_after_the_call(photos: CountedImages) -> None:
    inputs_of(view_of(photos, np.arange(8)))
    view = view_of(photos, np.arange(8))
    loaded = view_batches(view, CPU, 2)
    next(loaded)
    view._call.over = True
    with pytest.raises(LookAheadError):
        next(loaded)


def test_the_cache_is_bounded_and_freed_with_its_column(photos: CountedImages) -> None:
    one = 8 * 8 * 3
    cache, images = DecodeCache(capacity=6 * one), torch.zeros(4, 8, 8, 3, dtype=torch.uint8)
    column = replace(photos)
    cache.put(column, np.arange(4), images)
    cache.put(column, np.arange(2, 6), images)
    cache.put(column, np.arange(6, 10), images)
    assert cache.has(column, np.arange(6))
    assert not cache.has(column, np.array([6]))
    assert not cache.has(photos, np.arange(4))
    assert cache.size == 6 * one
    del column
    assert cache.size == 0
