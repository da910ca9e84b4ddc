"""CLAD on Emoji Street, the cpu recipes: what a batch costs to serve, and what the runs take.

    python benchmarks/clad.py [serve] [objects] [frames]

serve: the CPU time of handing out a batch of ten crops, beside that of a training step on it.
objects: CLAD-C, all methods and three seeds; then oversampling against finetuning over eight seeds.
frames: CLAD-D, all methods and two seeds; then finetuning's matrix of domains over three seeds.
"""

import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import onward
from onward.benchmarks import Source
from onward.executors.executor import cores
from onward.learners import choose
from onward.loop import Loop
from onward.metrics.paired import compare
from onward.report.summary import Summary, summarise
from onward.results.record import RunRecord
from onward.sweep import Job, sweep
from onward.types import Array, Benchmark, Budget, View

OBJECTS = ("finetune", "oversample", "c1", "c2", "c3", "er", "agem", "ewc")
FRAMES = ("finetune", "er", "d1", "d2", "d3")
CALLS, ROUNDS = 150, 7


class Served:
    """A learner that reads every sample and learns nothing."""

    def learn(self, view: View, budget: Budget) -> None:
        """Read the inputs and labels."""
        _ = view.inputs(), view.labels

    def predict(self, view: View) -> Array:
        """Answer the first class."""
        return np.zeros(len(view), np.int64)


def serve() -> None:
    """Compare a call that only looks with one that trains, interleaved."""
    benchmark = onward.load("clad-c")
    looks, steps = [], []
    for _ in range(ROUNDS):
        looks.append(seconds_a_call(benchmark, Served()))
        steps.append(seconds_a_call(benchmark, "finetune"))
    look, step = statistics.median(looks), statistics.median(steps)
    share = statistics.median(a / b for a, b in zip(looks, steps, strict=True))
    print(
        f"serving ten crops {1000 * look:.2f} ms, a training step on them {1000 * step:.1f} ms: "
        f"{100 * share:.1f} % (must: 5 % at most)",
        flush=True,
    )


def seconds_a_call(benchmark: Benchmark, method: object) -> float:
    """Return the CPU time of a call of learn, the loop's own work included, tests not."""
    loop = Loop(
        benchmark,
        benchmark.stream(0),
        choose(method, {}, benchmark),
        0,
        {},
        tuned=None,
        allow_unmetered=True,
        keep_predictions=False,
        checkpoint_seconds=1e9,
        watch=lambda event: None,
    )
    with loop.opened(None), contextlib.closing(loop.play()) as turns:
        next(turns).take()
        begun = time.process_time()
        for _ in range(CALLS):
            next(turns).take()
        return (time.process_time() - begun) / CALLS


def objects(out: Path) -> None:
    """Run CLAD-C."""
    source = Source("clad-c", "street")
    timed(source, OBJECTS, range(3), out, "10 minutes")
    pair = run([Job(source, name, seed) for name in OBJECTS[:2] for seed in range(8)], out)
    plain, over = (_amca(summary) for summary in _in_order(pair, OBJECTS[:2]))
    verdict = compare(over, plain)
    print(
        f"oversample {100 * np.mean(over):.1f} against finetune {100 * np.mean(plain):.1f} AMCA, "
        f"8 seeds: {verdict.answer}, p = {verdict.p:.2g}",
        flush=True,
    )


def frames(out: Path) -> None:
    """Run CLAD-D."""
    source, joint = Source("clad-d", "street"), Source("clad-d", "street", "joint")
    extra = [Job(joint, "finetune", seed) for seed in range(2)]
    timed(source, FRAMES, range(2), out, "20 minutes", extra)
    records = run([Job(source, "finetune", seed) for seed in range(3)], out)
    matrices = 100 * np.stack([record.matrix() for record in records])
    mean, spread = matrices.mean(0), matrices.std(0, ddof=1)
    names = records[0].spec.periods
    print(f"finetune, 3 seeds, map50 after / on {'  '.join(names)}")
    for row, name in enumerate(names):
        cells = (f"{a:5.1f} ±{b:4.1f}" for a, b in zip(mean[row], spread[row], strict=True))
        print(f"  {name:8s} {'  '.join(cells)}", flush=True)


def timed(
    source: Source,
    methods: Sequence[str],
    seeds: range,
    out: Path,
    most: str,
    extra: Sequence[Job] = (),
) -> None:
    """Run methods and seeds on all cores, and print what it took."""
    jobs = [*(Job(source, name, seed) for name in methods for seed in seeds), *extra]
    begun = time.monotonic()
    records = run(jobs, out)
    minutes = (time.monotonic() - begun) / 60
    for summary in summarise(records):
        headline = "amca" if "amca" in summary.metrics else "final"
        print(
            f"  {summary.protocol:8s}{summary.label:12s} {summary.metrics[headline].percent():12s} "
            f"{summary.cost['cpu_seconds']:6.1f} CPU seconds a run"
        )
    print(
        f"{source.benchmark}: {len(jobs)} runs on {cores()} cores in {minutes:.1f} minutes "
        f"(must: {most} at most)",
        flush=True,
    )


def run(jobs: Sequence[Job], out: Path) -> list[RunRecord]:
    """Run what is not there yet."""
    return sweep(jobs, out, workers=cores())


def _in_order(records: Sequence[RunRecord], methods: Sequence[str]) -> list[Summary]:
    by_label = {summary.label: summary for summary in summarise(records)}
    return [by_label[name] for name in methods]


def _amca(summary: Summary) -> tuple[float, ...]:
    return summary.metrics["amca"].values


def main() -> None:
    """Run what was asked, by default all of it."""
    asked = sys.argv[1:] or ["serve", "objects", "frames"]
    with tempfile.TemporaryDirectory() as place:
        for name in asked:
            if name == "serve":
                serve()
            else:
                {"objects": objects, "frames": frames}[name](Path(place))


if __name__ == "__main__":
    main()
