"""A run whose last weights and scores are written down: python shared_run.py OUT METHOD...

Alone, or as one of several processes that torchrun has started: then the first one writes.
"""

import sys
from typing import Any

import numpy as np

import onward
from onward.benchmarks import retrained
from onward.crew import crew
from onward.turns import Event


def main(out: str, *methods: str) -> None:
    found: dict[str, Any] = {}
    for method in methods:
        last: list[Any] = []

        def watch(event: Event, last: list[Any] = last) -> None:
            if event.kind == "learned" and event.learner is not None:
                last[:] = [event.learner]

        # 31 samples cannot be shared out evenly. Not Adam: where a slope is zero but for rounding,
        # it makes a step of the same length out of any rounding.
        changes = {"optimizer": "sgd", "learning_rate": 0.01, "iterations": 3, "batch_size": 31}
        small = retrained(onward.load("tic"), changes)
        record = onward.run(small, method, watch=watch)
        (learner,) = last
        weights = learner._model.state_dict()
        found |= {f"{method}/{name}": values.numpy() for name, values in weights.items()}
        found[f"{method}/scores"] = np.array(
            [np.nan if v is None else v for s in record.scores for v in s.scores.values()]
        )
        found[f"{method}/samples"] = np.array(record.cost.samples)
        found[f"{method}/macs"] = np.array(record.cost.macs)
    if crew().leads:
        np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
