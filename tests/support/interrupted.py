"""What a run predicts, also one that is stopped in the middle of a call and resumed."""

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import onward
from onward.loop import Loop
from onward.results.schema import Progress
from onward.turns import Event
from onward.types import Array, Benchmark, Rows


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
    benchmark: Benchmark,
    method: Any,
    out: Path,
    *,
    call: int = 2,
    resume_on: str | None = None,
    **options: Any,
) -> list[Array]:
    """Return the same of a run that ends in the middle of a call, and is resumed from there.

    Tests that come before are not among them. By default it is the third call, before which a
    method has come to have a memory, a teacher or a penalty. It may be resumed on another device.
    """

    def save_if_due(loop: Loop, progress: Progress, held: Rows, *, must: bool = False) -> None:
        learner: Any = loop.learner
        trainer = learner._trainer
        if trainer is not None and learner._calls == call and 2 * trainer.done >= trainer.total:
            assert trainer.done < trainer.total, "there is no step left in this call"
            loop._save(progress, held)
            raise Interrupted

    with mock.patch.object(Loop, "_save_if_due", save_if_due), pytest.raises(Interrupted):
        outputs_of(benchmark, method, out=out, **options)
    if resume_on is not None:
        options["device"] = resume_on
    return outputs_of(benchmark, method, out=out, **options)
