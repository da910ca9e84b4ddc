"""What a table of two million rows costs: a CSV of 16 features, read, split and described.

A CSV is written into a temporary directory; each case runs in a process of its own. One line per
case: wall seconds, CPU seconds of all threads, peak resident memory.

    python benchmarks/your_data.py [rows]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

WIDTH, CLASSES, DAYS = 16, 10, 3650

OPTIONS = {"time_column": "taken_at", "label_column": "label"}
CASES = {
    "load, split (streaming)": "onward.load('yours', data=path, **options).stream(0)",
    "load, split (iid)": "onward.load('yours', data=path, protocol='iid', **options).stream(0)",
    "load, split (iid, groups)": (
        "onward.load('yours', data=path, protocol='iid', group_column='user', **options).stream(0)"
    ),
}


def write(path: Path, rows: int) -> None:
    """Write a table of drifting points, in no order of time."""
    rng = np.random.default_rng(0)
    days = rng.integers(0, DAYS, rows)
    seconds = days * 86_400 + rng.integers(0, 86_400, rows)
    labels = rng.integers(0, CLASSES, rows)
    centres = rng.standard_normal((CLASSES, WIDTH))
    points = centres[labels] + rng.standard_normal((rows, WIDTH)) + days[:, None] / DAYS
    times = np.datetime64("2015-01-01", "s") + seconds
    columns: dict[str, pa.Array] = {
        "taken_at": pa.array(times).cast(pa.string()),
        "label": pa.array([f"class {number}" for number in range(CLASSES)]).take(pa.array(labels)),
        "user": pa.array(rng.integers(0, rows // 4, rows)),
    }
    for column, values in enumerate(points.round(5).T):
        columns[f"x{column}"] = pa.array(values)
    pa.csv.write_csv(pa.table(columns), path)


def measure(name: str, command: list[str]) -> None:
    """Run a command in a process of its own and print what it took."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        sys.exit(f"{name} failed")
    cpu = used.ru_utime + used.ru_stime
    print(f"{name:28} wall {wall:5.1f} s   CPU {cpu:5.1f} s   peak {used.ru_maxrss / 2**20:.2f} GB")


def main() -> None:
    """Write the table, and measure each case."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table.csv"
        write(path, rows)
        print(f"{rows:,} rows, {WIDTH} features, {path.stat().st_size / 2**20:.0f} MB")
        for name, code in CASES.items():
            begin = f"import onward; path, options = {str(path)!r}, {OPTIONS!r}; "
            measure(name, [sys.executable, "-c", begin + code])
        columns = ["--time-column", "taken_at", "--label-column", "label"]
        describe = [sys.executable, "-m", "onward", "data", "describe", str(path), *columns]
        measure("data describe", describe)


if __name__ == "__main__":
    main()
