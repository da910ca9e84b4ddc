"""Retrieval: the best 600 of 713,626 x 1,024 for ten queries, beside faiss's flat search.

    python benchmarks/curate_top_k.py [rows [width]]

A bucket of CLEAR's pool. faiss holds the vectors as float32 in memory, and building its index is
not counted; ours are float16 in a file that is mapped into memory and has been read before. Both
use all cores, and take turns. Memory is what the process had more at its peak than before, without
pages of the file.
"""

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from onward.curate import top_k
from onward.curate.store import Store

ROWS, WIDTH, QUERIES, TOP, ROUNDS = 713_626, 1024, 10, 600, 9
MUST, AIM, MUST_MB = 1.3, 3, 64
_BLOCK = 1 << 14


def main(rows: int = ROWS, width: int = WIDTH) -> None:
    """Print how long both take, and what ours holds beyond the store."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.npy"
        queries = _write(path, rows, width)
        store = Store.open(path)
        top_k(queries, store, TOP)
        extra = _extra_memory(lambda: top_k(queries, store, TOP))
        print(
            f"{QUERIES} queries, top {TOP}, {rows:,} x {width:,}: {extra:.0f} MB beyond the store "
            f"(must: {MUST_MB})",
            flush=True,
        )
        try:
            import faiss
        except ImportError:
            seconds = statistics.median(
                _seconds(lambda: top_k(queries, store, TOP)) for _ in "12345"
            )
            print(f"ours {seconds:.3f} s; faiss is not installed: pip install faiss-cpu")
            return
        index = faiss.IndexFlatIP(width)
        for first in range(0, rows, _BLOCK):
            index.add(np.asarray(store.arrays[0][first : first + _BLOCK], np.float32))
        asked = queries.astype(np.float32)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(_both(lambda: top_k(queries, store, TOP)))
            theirs.append(_both(lambda: index.search(asked, TOP)))
        (mine, busy), (other, busier) = map(_medians, (ours, theirs))
        same = np.mean(top_k(queries, store, TOP)[1] == index.search(asked, TOP)[1])
        print(
            f"ours {mine:.3f} s ({min(ours)[0]:.3f} to {max(ours)[0]:.3f}), faiss {other:.3f} s "
            f"({min(theirs)[0]:.3f} to {max(theirs)[0]:.3f}): {other / mine:.2f}x as fast (must: "
            f"{MUST}, aim: {AIM}); CPU {busy:.3f} and {busier:.3f} s, {busier / busy:.2f}x; "
            f"{same:.2%} of ranks hold the same row",
            flush=True,
        )


def _write(path: Path, rows: int, width: int) -> np.ndarray:
    """Write random directions of length one in blocks; return queries."""
    rng = np.random.default_rng(0)
    held = np.lib.format.open_memmap(path, "w+", np.float16, (rows, width))
    for first in range(0, rows, _BLOCK):
        some = rng.standard_normal((min(_BLOCK, rows - first), width), np.float32)
        held[first : first + _BLOCK] = some / np.linalg.norm(some, axis=1, keepdims=True)
    held.flush()
    queries = rng.standard_normal((QUERIES, width))
    return queries / np.linalg.norm(queries, axis=1, keepdims=True)


def _seconds(work: Callable[[], object]) -> float:
    return _both(work)[0]


def _both(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that passed, and those of all cores together."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def _medians(times: list[tuple[float, float]]) -> list[float]:
    return [statistics.median(one) for one in zip(*times, strict=True)]


def _extra_memory(work: Callable[[], object]) -> float:
    """Return by how many MB the process's own memory grew at most, asked every few milliseconds."""
    before, most, done = _own_memory(), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.002):
            most = max(most, _own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return max(most - before, 0) / 2**20


def _own_memory() -> int:
    """Return the bytes in memory that are no pages of a file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
