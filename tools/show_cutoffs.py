"""Show when a model stopped reading the news: three small CLIPs, trained up to different years.

    python tools/show_cutoffs.py FOLDER

Each learns the emoji history up to its own year at once, with the same compute, and nothing after
it; `onward evaluate tic` then dates them on the tests of all years. The folder has their runs, and
the page `dated.html`. About two minutes on one core.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import onward
from onward.benchmarks import Source
from onward.benchmarks.variants import all_at_once
from onward.cli import app
from onward.types import Benchmark, Protocol, Stream, Table

YEARS = ("2017", "2020", "2025")
METHOD = "finetune"
ITERATIONS = 400


class UpTo(NamedTuple):
    """Cuts a stream as a benchmark does, up to a year, and lets all of that come at once."""

    benchmark: Benchmark
    year: str

    def __call__(self, table: Table, protocol: Protocol, seed: int) -> Stream:
        """Return the stream."""
        whole = self.benchmark.cut(table, protocol, seed)
        return all_at_once(whole[: sum(period.name[:4] <= self.year for period in whole)])


def trained(folder: Path, year: str, iterations: int = ITERATIONS) -> Path:
    """Train a model up to a year, unless that was done before, and return the folder of its run."""
    usual = Source("tic", "emoji", training={"max_steps": iterations}).load()
    # The compute of one period is no limit here: all models have the same.
    protocol = replace(usual.protocol, limits={})
    benchmark = replace(usual, cut=UpTo(usual, year), protocol=protocol)
    record = onward.run(benchmark, METHOD, out=folder / year, keep_predictions=False)
    periods = record.spec.periods
    print(f"trained up to {year}: {len(periods)} snapshots, {periods[0]} to {periods[-1]}")
    return record.path or folder


def main() -> None:
    """Train, and evaluate."""
    folder = Path(sys.argv[1])
    models = [word for year in YEARS for word in ("--model", str(trained(folder, year)))]
    page = ["--page", str(folder / "dated.html"), "--new-from", "2021"]
    queries = ["--query", "face", "--query", "flags=flag"]
    app(["evaluate", "tic", *models, "--data", "emoji", *page, *queries])


if __name__ == "__main__":
    main()
