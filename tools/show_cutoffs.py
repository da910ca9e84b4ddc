"""Show when a model stopped reading the news: three small CLIPs, trained up to different years.

Each learns the emoji history up to its own year and no further; `onward evaluate tic` then dates
them on the tests of all years.

    python tools/show_cutoffs.py FOLDER
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import onward
from onward.benchmarks import Source
from onward.cli import app
from onward.types import Benchmark, Protocol, Stream, Table

YEARS = ("2017", "2020", "2025")
METHOD = "cumulative"


class UpTo(NamedTuple):
    """Cuts a stream as a benchmark does, and leaves out what comes after a year."""

    benchmark: Benchmark
    year: str

    def __call__(self, table: Table, protocol: Protocol, seed: int) -> Stream:
        """Return the stream."""
        whole = self.benchmark.cut(table, protocol, seed)
        return whole[: sum(period.name[:4] <= self.year for period in whole)]


def trained(folder: Path, iterations: int | None = None) -> list[Path]:
    """Train one model up to each year and return the folders of their runs."""
    training = {} if iterations is None else {"iterations": iterations}
    benchmark = Source("tic", "emoji", training=training).load()
    found = []
    for year in YEARS:
        until = replace(benchmark, cut=UpTo(benchmark, year))
        record = onward.run(until, METHOD, out=folder / year, keep_predictions=False)
        periods = record.spec.periods
        print(f"trained up to {year}: {len(periods)} snapshots, {periods[0]} to {periods[-1]}")
        if record.path is not None:
            found.append(record.path)
    return found


def main() -> None:
    """Train, and evaluate."""
    folder = Path(sys.argv[1])
    models = [word for path in trained(folder) for word in ("--model", str(path))]
    page = ["--page", str(folder / "dated.html"), "--new-from", "2021"]
    app(["evaluate", "tic", *models, "--data", "emoji", *page])


if __name__ == "__main__":
    main()
