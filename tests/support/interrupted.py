"""What a run predicts, also one that is stopped in the middle of a call and resumed."""

import contextlib
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import onward
from onward.train.learner import GradientLearner
from onward.turns import Event
from onward.types import Array, Benchmark


class Interrupted(Exception):
    """Stands for whatever ends a process."""


def outputs_of(benchmark: Benchmark, method: Any, **options: Any) -> list[Array]:
    """Return a run's outputs for the tests after each period."""
    found: list[Array] = []

    def watch(event: Event) -> None:
        if event.kind == "tested":
            found.append(np.asarray(event.outputs))

    onward.run(benchmark, method, watch=watch, **options)
    return found


def resumed_outputs_of(
    benchmark: Benchmark, method: Any, out: Path, *, call: int = 2, **options: Any
) -> list[Array]:
    """Return the same of a run that ends in the middle of a call, and is resumed from there.

    Tests that come before are not among them. By default it is the third call, before which a
    method has come to have a memory, a teacher or a penalty.
    """
    write, stopped = GradientLearner.save, []

    def save(learner: GradientLearner, folder: Path) -> None:
        descent = learner._descent
        if stopped:
            raise Interrupted
        write(learner, folder)
        if descent is not None and learner._calls == call and 2 * descent.done >= descent.total:
            stopped.append(descent.done < descent.total)

    with mock.patch.object(GradientLearner, "save", save), contextlib.suppress(Interrupted):
        outputs_of(benchmark, method, out=out, checkpoint_seconds=0, **options)
    assert stopped == [True], "the run was not stopped between two steps of a call"
    return outputs_of(benchmark, method, out=out, **options)
