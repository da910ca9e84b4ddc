"""Checkpoints of earlier versions are read, though names and nesting have changed."""

from typing import Any

import numpy as np
import pytest
from shown import begun, shown

from onward.budget import Budget
from onward.methods.c3 import C3
from onward.methods.er import ER
from onward.methods.gdumb import GDumb
from onward.methods.icarl import ICaRLCNN
from onward.methods.lwf import LwF
from onward.models.classifier import mlp
from onward.tasks.one_label import OneLabel
from onward.train.replay_memory import ExemplarMemory

INPUTS = np.random.default_rng(0).normal(size=(12, 3))
LABELS = np.arange(12) % 2


def learned(method: Any) -> Any:
    """Return a method that has learned twelve samples of two classes."""
    import torch

    budget, method = Budget(), begun(method, OneLabel())
    model = mlp((3,), 2, torch.Generator().manual_seed(0), hidden_dim=5)
    view = shown(INPUTS, np.arange(12), LABELS, 2, budget)
    method.training_data(view, budget)
    method.on_learn_end(model, view, budget)
    return method


def stored(method: Any) -> list[int]:
    rows: list[int] = method._memory.samples.rows.tolist()
    return rows


@pytest.mark.parametrize("options", [{"memory": 5}, {"per_class": 2}], ids=["memory", "exemplars"])
def test_er_reads_the_state_of_its_memory_alone(options: dict[str, int]) -> None:
    method = learned(ER(**options))  # type: ignore[arg-type]
    state = method.state()["memory"]
    earlier = state["memory"] if isinstance(method._memory, ExemplarMemory) else state
    again = begun(ER(**options), OneLabel())  # type: ignore[arg-type]
    again.restore(earlier)
    assert stored(again) == stored(method)
    assert len(stored(again)) in (4, 5)
    again.restore({})
    assert stored(again) == []


def test_gdumb_reads_the_state_of_its_memory_alone() -> None:
    method, again = learned(GDumb(memory=5)), begun(GDumb(memory=5), OneLabel())
    again.restore(method.state()["memory"])
    assert stored(again) == stored(method) != []


def test_exemplars_without_a_capacity_around_them_are_read() -> None:
    method, again = learned(ICaRLCNN(per_class=2)), begun(ICaRLCNN(per_class=2), OneLabel())
    state = method.state()
    again.restore({**state, "memory": state["memory"]["memory"]})
    assert stored(again) == stored(method) != []


def test_logits_of_c3_are_read_under_their_earlier_name() -> None:
    method, again = learned(C3(memory=12)), begun(C3(memory=12), OneLabel())
    state = method.state()
    inner = state["memory"]["memory"]
    inner["said"] = inner.pop("logits") + 1
    again.restore(state)
    assert stored(again) == stored(method) != []
    np.testing.assert_array_equal(again._memory.buffer(None, None).logits, inner["said"])
    again.restore_step_state({"said": np.ones((2, 3), np.float32)})
    np.testing.assert_array_equal(again._logits, np.ones((2, 3)))


def test_the_teacher_of_lwf_is_read_from_beside_the_rest() -> None:
    method, again = learned(LwF()), begun(LwF(), OneLabel())
    state = method.state()
    again.restore({**state.pop("teacher"), **state})
    assert (again.alpha(), again._teacher.classes) == (method.alpha(), 2)
    np.testing.assert_array_equal(
        again._teacher.weights["head.weight"], method._teacher.weights["head.weight"]
    )
