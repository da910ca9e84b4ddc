"""Runs made up by hand, so that every number in a report can be worked out on paper."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from onward.results.record import RunRecord
from onward.results.schema import Cost, RunSpec, Score
from onward.types import PERIOD

Make = Callable[..., RunRecord]
TESTS = {"iid": "all", "streaming": "future", "offline": "last"}


def make_record(
    matrix: Any,
    *,
    method: str = "finetune",
    seed: int = 0,
    protocol: str = "iid",
    complete: bool = True,
    static: Sequence[float] = (),
    cubes: Any = None,
    classes: Sequence[str] = (),
    cost: dict[str, Any] | None = None,
    **spec: Any,
) -> RunRecord:
    """Turn a score matrix, NaN where nothing is tested, into a run.

    ``cubes`` are per-class accuracies (learned_upto, tested_on, class), in tenths.
    """
    R = np.asarray(matrix, float)
    scores = [
        Score(
            learned_upto=int(i),
            tested_on=int(j),
            test="period",
            samples=100,
            scores={"accuracy": float(R[i, j])},
        )
        for i, j in np.argwhere(~np.isnan(R))
    ]
    scores += [
        Score(learned_upto=i, tested_on=None, test="other", samples=9, scores={"accuracy": value})
        for i, value in enumerate(static)
    ]
    return RunRecord(
        spec=RunSpec(
            **{
                "benchmark": "clear",
                "data": "made-up",
                "data_digest": "d" * 64,
                "task": "one_label",
                "protocol": {
                    "name": protocol,
                    "tests": TESTS.get(protocol, "all"),
                    "summary": f"the {protocol} protocol",
                },
                "recipe_name": "cpu",
                "recipe": {"epochs": 30, "memory": None},
                "method": method,
                "seed": seed,
                "periods": [f"20{17 + period}-05" for period in range(len(R))],
                **spec,
            }
        ),
        scores=tuple(scores),
        cost=Cost(**(cost or {"cpu_seconds": 1.0, "parameters": 10})) if complete else None,
        path=None,
        decisions={} if cubes is None else _decisions(np.asarray(cubes, float), tuple(classes)),
    )


def _decisions(cube: Any, classes: tuple[str, ...]) -> dict[int, tuple[pa.Table, tuple[str, ...]]]:
    result = {}
    for learned_upto, row in enumerate(cube):
        tested_on, target, decision = [], [], []
        for (period, label), accuracy in np.ndenumerate(row):
            if not np.isnan(accuracy):
                right = round(10 * accuracy)
                tested_on += [period] * 10
                target += [label] * 10
                decision += [label] * right + [label + 1] * (10 - right)
        columns = {
            "test": [PERIOD] * len(target),
            "tested_on": tested_on,
            "target": target,
            "decision": decision,
        }
        result[learned_upto] = (pa.table(columns), classes)
    return result
