"""Linear probes at CLEAR10's true size: Avalanche and Onward on the same arrays, interleaved.

Ten periods of 3,300 samples x 2,048 features, 11 classes, batch 256, streaming: all of a period is
learned, all of the later ones are tested. Each period is first given to Avalanche (a child process
in an environment of its own, installed on first use), then to Onward through its public functions;
so both meet the same state of the machine. CPU time, one thread each, medians over periods.

    python benchmarks/clear_linear.py
"""

import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import onward
import synthetic_clear
from environments import Other, environment
from onward.benchmarks import retrained
from onward.exam import Exam, Test
from onward.together import Variant, run_together
from onward.turns import Event

EPOCHS, SEEDS, HEADS = 5, 3, 40
# torchvision is what Avalanche imports; wandb, gdown and the like come with it.
PINS = ("avalanche-lib==0.6.0", "torch==2.13.0")


class Watch:
    """Measures both sides period by period, while Onward runs."""

    def __init__(self, avalanche: Other, runs: int) -> None:
        self.learned: dict[str, list[float]] = defaultdict(list)
        self.tested: dict[str, list[float]] = defaultdict(list)
        self.accuracy: dict[str, list[float]] = defaultdict(list)
        self._avalanche, self._runs = avalanche, runs
        self._begun: dict[int, int] = defaultdict(int)
        self._ended: set[int] = set()

    def __call__(self, event: Event) -> None:
        """Take the time when the last run begins a period, and when the first one has it."""
        if event.period is None:
            return
        if event.kind == "learning":
            self._begun[event.period] += 1
            if self._begun[event.period] == self._runs:
                theirs = self._avalanche.ask("learn", event.period)["seconds"]
                self.learned["avalanche"].append(theirs / EPOCHS)
                self._since = time.process_time()
        elif event.kind == "learned" and event.period not in self._ended:
            ours = time.process_time() - self._since
            self.learned["onward"].append(ours / EPOCHS / self._runs)
            self._ended.add(event.period)

    def row(self, event: Event, stream: onward.types.Stream, task: Any) -> None:
        """Let both sides fill a row of the score matrix."""
        if event.kind != "tested" or event.period is None or event.learner is None:
            return
        first = event.period + 1
        theirs = self._avalanche.ask("row", first)
        tests = [Test("period", period.index, period.test) for period in stream[first:]]
        classes = stream[event.period].classes
        begun = time.process_time()
        scores = Exam.sit(event.learner, stream, tests, classes, task).scores(event.period)
        ours = time.process_time() - begun
        self.tested["avalanche"].append(theirs["seconds"] / len(tests))
        self.tested["onward"].append(ours / len(tests))
        self.accuracy["avalanche"].append(theirs["accuracy"])
        self.accuracy["onward"].append(scores[0].scores["accuracy"] or 0.0)


def main() -> None:
    """Measure all cases and print a line for each."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        features, labels = synthetic_clear.features()
        np.save(folder / "features.npy", features)
        np.save(folder / "labels.npy", labels)
        del features, labels
        data = str(synthetic_clear.write(folder))
        paper = onward.load("clear", data=data, protocol="streaming", recipe="paper")
        benchmark = retrained(paper, {"epochs": EPOCHS})
        arrays = [str(folder / name) for name in ("features.npy", "labels.npy")]
        script = "clear_linear_avalanche.py"
        avalanche = Other("Avalanche", environment(*PINS), script, *arrays)
        try:
            single(benchmark, avalanche)
            heads(benchmark, avalanche)
        finally:
            avalanche.close()


def single(benchmark: onward.types.Benchmark, avalanche: Other) -> None:
    """One run: learning, a row of the score matrix, and what both have learned in the end."""
    learned: dict[str, list[float]] = defaultdict(list)
    tested: dict[str, list[float]] = defaultdict(list)
    found: dict[str, list[float]] = defaultdict(list)
    for seed in range(SEEDS):
        avalanche.ask("begin", seed, EPOCHS, round(0.6 * EPOCHS))
        measured, stream = Watch(avalanche, runs=1), benchmark.stream(seed)

        def watch(event: Event, measured: Watch = measured, stream: Any = stream) -> None:
            measured(event)
            measured.row(event, stream, benchmark.task)

        onward.run(benchmark, "finetune", seed, watch=watch)
        for side in ("avalanche", "onward"):
            learned[side] += measured.learned[side]
            tested[side] += measured.tested[side]
            found[side].append(statistics.mean(measured.accuracy[side]))
    _line("single run, a period-epoch", learned)
    _line("a row of the score matrix, a period tested", tested)
    theirs, ours = found["avalanche"], found["onward"]
    gap = statistics.mean(ours) - statistics.mean(theirs)
    noise = (statistics.variance(ours) / SEEDS + statistics.variance(theirs) / SEEDS) ** 0.5
    verdict = "agree" if abs(gap) <= 3 * noise + 0.002 else "DO NOT AGREE"
    print(
        f"next-domain accuracy over {SEEDS} seeds: avalanche {statistics.mean(theirs):.4f}, onward "
        f"{statistics.mean(ours):.4f}, standard error of the difference {noise:.4f}: they {verdict}"
    )
    if verdict != "agree":
        raise SystemExit(1)


def heads(benchmark: onward.types.Benchmark, avalanche: Other) -> None:
    """Forty learning rates on shared batches, per head."""
    avalanche.ask("begin", 0, EPOCHS, round(0.6 * EPOCHS))
    rates = np.geomspace(0.01, 1, HEADS).tolist()
    variants = [Variant("finetune", training={"lr": rate}) for rate in rates]
    measured = Watch(avalanche, runs=HEADS)
    run_together(benchmark, variants, watch=measured)
    _line(f"{HEADS} heads on shared batches, a period-epoch of one", measured.learned)


def _line(case: str, seconds: dict[str, list[float]]) -> None:
    theirs, ours = (statistics.median(seconds[side]) * 1000 for side in ("avalanche", "onward"))
    print(
        f"{case}: avalanche {theirs:.1f} ms, onward {ours:.2f} ms: {theirs / ours:.1f}x",
        flush=True,
    )


if __name__ == "__main__":
    main()
