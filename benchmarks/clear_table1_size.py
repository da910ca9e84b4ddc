"""Time the linear block of CLEAR's Table 1 at its true size.

Nine methods, five seeds, two protocols, the paper's recipe (100 epochs a period, batch 256), on
synthetic features (10 periods x 3,300 samples x 2,048), through `sweep` with one worker per core.

    python benchmarks/clear_table1_size.py [EPOCHS]
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import synthetic_clear
from onward.benchmarks import Source
from onward.executors.executor import cores
from onward.metrics.clear import next_domain
from onward.sweep import Job, sweep

METHODS = ("ewc", "si", "lwf", "cwr", "gdumb", "er", "agem", "reservoir", "biased_reservoir")
# The longer runs first, so that no core waits for the other at the end.
PROTOCOLS, SEEDS = ("streaming", "iid"), range(5)


def main() -> None:
    """Run everything once, and print the total and a line for each method."""
    training = {"epochs": int(sys.argv[1])} if len(sys.argv) > 1 else {}
    with tempfile.TemporaryDirectory() as place:
        data = str(synthetic_clear.write(Path(place)))
        jobs = [
            Job(Source("clear", data, protocol, "paper", training=training), method, seed)
            for protocol in PROTOCOLS
            for seed in SEEDS
            for method in METHODS
        ]
        begun = time.monotonic()
        records = sweep(jobs, Path(place) / "results", workers=cores())
        wall = time.monotonic() - begun
    spent = [record.cost.cpu_seconds if record.cost else 0.0 for record in records]
    for method in METHODS:
        mine = [number for number, job in enumerate(jobs) if job.method == method]
        found = statistics.mean(float(next_domain(records[number].matrix())) for number in mine)
        seconds = statistics.mean(spent[number] for number in mine)
        print(f"{method:17s} {seconds:6.1f} CPU seconds a run, next-domain accuracy {found:.3f}")
    epochs = training.get("epochs", 100)
    print(
        f"{len(jobs)} runs of {epochs} epochs on {cores()} cores: {wall / 60:.1f} minutes, "
        f"{sum(spent) / 60:.1f} CPU minutes"
    )


if __name__ == "__main__":
    main()
