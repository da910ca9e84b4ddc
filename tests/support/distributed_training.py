"""Train pairs of a model and a method, and write their weights: of one process or of several.

    python distributed_training.py OUT.npz PRECISION FAMILY:METHOD...
    torchrun --nproc-per-node 2 distributed_training.py OUT.npz fp64 resnet18:agem linear:er

Every run takes at least 20 steps of SGD. Some batches cannot be shared out evenly.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import onward
from onward import distributed
from onward.benchmarks import retrained
from onward.checks.tiny import tiny_benchmark
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_pairs import tiny_pairs
from onward.turns import Event
from onward.types import Benchmark
from onward.view import Reader

DERPP = str(Path(__file__).parents[2] / "examples" / "derpp.py") + ":DERpp"
SGD = {"optimizer": "sgd", "momentum": 0.9, "grad_clip_norm": None, "weight_decay": 1e-4}
OPTIONS: dict[str, dict[str, Any]] = {
    "agem": {"memory": 12},
    "er": {"memory": 20},
    DERPP: {"memory": 20},
    "lwf": {"alpha": 1.0},
}
# It splits the replayed samples of a batch in two: with several processes these are the same
# halves where batches are shared out evenly.
EVEN = {"max_steps": 8, "batch_size": 16}


def benchmark(family: str, precision: str) -> Benchmark:
    """Return a tiny benchmark for a family of models."""
    changes: dict[str, Any] = {**SGD, "precision": precision, "lr": 0.002}
    if family == "clip_small":
        # Without the budget of a year, which some methods exceed.
        made = tiny_pairs()
        made = replace(made, protocol=replace(made.protocol, limits={}))
        changes |= {"max_steps": 8, "batch_size": 7}
    elif family == "small_rcnn":
        made = tiny_boxes()
        changes |= {"epochs": 8, "first_epochs": None, "batch_size": 5}
    else:
        made = tiny_benchmark("iid", model=family)
        # 54 samples a period: batches of 16 and of 6.
        changes |= {"batch_size": 16, "epochs": 2}
        if family in ("linear", "mlp"):
            changes["lr"] = 0.2
        else:
            # Of 8 pixels hardly any position is left in the last layers: rounding would grow.
            changes |= {"image_size": 64}
    return retrained(made, changes)


READ = [0]
"""How many samples this process has read."""


def count_reads() -> None:
    """Count the samples that are read in this process."""
    for name in ("read", "read_part"):
        method = getattr(Reader, name)

        def counted(self: Reader, where: Any, *, method: Any = method, **options: Any) -> Any:
            READ[0] += len(self._readable()[where])
            return method(self, where, **options)

        setattr(Reader, name, counted)


def main(out: str, precision: str, *pairs: str) -> None:
    count_reads()
    found: dict[str, Any] = {}
    for pair in pairs:
        family, _, method = pair.partition(":")
        method = DERPP if method == "derpp" else method
        last: list[Any] = []

        def watch(event: Event, last: list[Any] = last) -> None:
            if event.kind == "learned" and event.learner is not None:
                last[:] = [event.learner]

        made = benchmark(family, precision)
        if method == DERPP:
            made = retrained(made, EVEN)
        READ[0] = 0
        record = onward.run(made, method, options=OPTIONS.get(method), watch=watch)
        assert record.cost is not None
        weights = last[0]._model.state_dict()
        found |= {f"{pair}/weights/{name}": values.numpy() for name, values in weights.items()}
        scores = [value for score in record.scores for value in score.scores.values()]
        found[f"{pair}/scores"] = np.array([np.nan if v is None else v for v in scores])
        found[f"{pair}/read"] = np.array(distributed.all_counts(READ[0]))
        found[f"{pair}/iterations"] = np.array(record.cost.iterations)
        found[f"{pair}/macs"] = np.array(record.cost.macs)
        found[f"{pair}/samples"] = np.array(record.cost.samples)
    if distributed.is_main_process():
        np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
