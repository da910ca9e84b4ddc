import mmap
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from onward.checks import tiny_benchmark
from onward.checks.reachable import Copies, future_within_reach, reachable


class Holder:
    def __init__(self, thing: Any) -> None:
        self.thing = thing


def test_a_stream_is_found_however_it_is_held() -> None:
    stream = tiny_benchmark().stream(0)

    def closure() -> Any:
        return stream

    def generator() -> Any:
        held = stream
        yield 1
        yield held

    running = generator()
    next(running)
    boxed = np.empty(1, object)
    boxed[0] = stream
    for thing in ([stream], {"x": (stream,)}, closure, partial(len, stream), running, boxed):
        assert "Stream" in future_within_reach(Holder(thing))


def test_modules_classes_and_globals_are_not_within_reach() -> None:
    def harmless() -> None:
        """Its globals hold everything that this module imports."""

    things = list(reachable(Holder([harmless, np, Holder])))
    assert not any(thing is np or thing is Holder or thing is tiny_benchmark for thing in things)
    assert future_within_reach(Holder([harmless, np, Holder])) == []


def test_maps_of_files_are_found_through_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(100))
    mapped = np.asarray(np.load(tmp_path / "a.npy", mmap_mode="r"))
    assert "memmap" in future_within_reach(Holder(mapped[10:20]))
    with mmap.mmap(-1, 10) as area:
        assert future_within_reach(Holder(area)) == ["mmap"]


@pytest.mark.parametrize(
    "kept",
    [
        lambda inputs: inputs.copy(),
        lambda inputs: list(inputs.copy()),
        lambda inputs: inputs.astype(np.float64),
        lambda inputs: torch.from_numpy(inputs.copy()),
        lambda inputs: {"deep": [inputs[None, ::-1].copy()]},
    ],
)
def test_copies_are_recognised(kept: Any) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 5, 3)).astype(np.float32)
    learner = Holder(kept(first))
    copies = Copies((3,), np.dtype(np.float32))
    assert copies.kept(learner, first, first[:0]) == 0
    assert copies.kept(learner, second, second[:0]) == 5
    assert copies.kept(learner, second, first[:2]) == 3


def test_a_transformed_copy_is_not_recognised() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 5, 3))
    learner = Holder(first / 2)
    copies = Copies((3,), first.dtype)
    copies.kept(learner, first, first[:0])
    assert copies.kept(learner, second, second[:0]) == 0
