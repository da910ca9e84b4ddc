"""TiC-CLIP: what retrieval, training and the emoji edition cost, beside open_clip's own ways.

    python benchmarks/tic.py [recall] [training] [table]

recall: both ways over 50,000 pairs of 512 numbers, beside the bare matrix product and beside
open_clip's evaluation, which sorts all similarities; it is given as many rows at a time as ours, as
all of them at once take 30 GB, and every tenth block of them, as all take a quarter of an hour.
training: a step of ours beside a plain loop of open_clip's, see benchmarks/clip_step.py.
table: the emoji edition, eight methods and three seeds; then what eight seeds decide.
Reading shards: benchmarks/tic_shards.py.
"""

import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from clip_step import clip
from onward.benchmarks import Source
from onward.executors.executor import cores
from onward.metrics.clear import backward_transfer, forward_transfer, in_domain
from onward.metrics.paired import compare
from onward.metrics.retrieval import recall_at_k
from onward.results.record import RunRecord
from onward.sweep import Job, sweep
from onward.types import Array

PAIRS, WIDTH, ROWS = 50_000, 512, 1024
# Which of the blocks of rows open_clip's evaluation ranks; its time is multiplied by that.
TENTH = 10
ROUNDS = 5
METHODS = (
    *("finetune", "cumulative", "cumulative_exp", "cumulative_equal", "restart", "patching"),
    *("lwf", "oracle"),
)
DECIDING = ("finetune", "cumulative", "restart")
TRANSFER = {"backward": backward_transfer, "in-domain": in_domain, "forward": forward_transfer}


def recall() -> None:
    """Compare recall with what it is made of, and with what is usual."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((PAIRS, WIDTH), np.float32)
    texts = images + 2 * rng.standard_normal((PAIRS, WIDTH), np.float32)
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    ways: dict[str, Callable[[], object]] = {
        "ours": lambda: recall_at_k(images, texts),
        "product": lambda: _product(images, texts),
        "open_clip": lambda: _open_clips(torch.from_numpy(images), torch.from_numpy(texts)),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(3):
        for name, way in ways.items():
            taken[name].append(_cpu(way))
    tracemalloc.start()
    recall_at_k(images, texts)
    extra = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    ours, product, part = (statistics.median(taken[name]) for name in ways)
    usual = part * PAIRS / sum(min(ROWS, PAIRS - start) for start in _ranked())
    print(
        f"recall of {PAIRS:,} x {WIDTH} both ways: {ours:.1f} CPU s, {ours / product:.2f}x of the "
        f"bare product (must: 1.25), open_clip's {usual / ours:.1f}x of ours (must: 2.2), "
        f"{extra:.0f} MB beyond the inputs (must: 32)",
        flush=True,
    )


def _product(images: Array, texts: Array) -> None:
    block = np.empty((ROWS, ROWS), np.float32)
    for start in range(0, PAIRS, ROWS):
        for other in range(0, PAIRS, ROWS):
            rows, columns = images[start : start + ROWS], texts[other : other + ROWS]
            np.matmul(rows, columns.T, out=block[: len(rows), : len(columns)])


def _open_clips(images: torch.Tensor, texts: torch.Tensor) -> list[float]:
    """Rank as `open_clip_train.train.get_clip_metrics` does, some rows at a time."""
    shares = []
    for asking, answering in ((images, texts), (texts, images)):
        ranks = []
        for start in _ranked():
            ranking = torch.argsort(asking[start : start + ROWS] @ answering.t(), descending=True)
            right = torch.arange(start, start + len(ranking)).view(-1, 1)
            ranks.append(torch.where(ranking == right)[1])
        found = torch.cat(ranks).numpy()
        shares += [float(np.mean(found < k)) for k in (1, 5, 10)]
    return shares


def _ranked() -> range:
    return range(0, PAIRS, TENTH * ROWS)


def training() -> None:
    """Compare steps of a run with those of a plain loop on the same batches."""
    for measured in clip(ROUNDS, quick=False):
        print(measured.line(), flush=True)


def table() -> None:
    """Run the emoji edition, and decide what eight seeds can."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        begun = time.perf_counter()
        found = _runs(METHODS, range(3), out)
        minutes = (time.perf_counter() - begun) / 60
        print(
            f"emoji edition, {len(METHODS)} methods x 3 seeds: {minutes:.1f} minutes on "
            f"{cores()} cores (must: 45)",
            flush=True,
        )
        for method, runs in found.items():
            means = [100 * np.mean([of(run.matrix()) for run in runs]) for of in TRANSFER.values()]
            print(
                f"  {method:18s}", *(f"{n} {m:.1f}" for n, m in zip(TRANSFER, means, strict=True))
            )
        found = _runs(DECIDING, range(8), out)
        pairs = [("cumulative", "finetune", "backward")]
        pairs += [("finetune", "restart", name) for name in TRANSFER]
        for above, below, name in pairs:
            gains = [
                TRANSFER[name](a.matrix()) - TRANSFER[name](b.matrix())
                for a, b in zip(found[above], found[below], strict=True)
            ]
            verdict = compare(gains, [0.0] * len(gains))
            print(
                f"{above} against {below}, {name}: {100 * np.mean(gains):+.1f} points, "
                f"p = {verdict.p:.4f}, {len(gains)} seeds",
                flush=True,
            )


def _runs(methods: Sequence[str], seeds: range, out: Path) -> dict[str, list[RunRecord]]:
    source = Source("tic")
    jobs = [
        Job(source, method, seed, {"alpha": 1.0} if method == "lwf" else {})
        for method in methods
        for seed in seeds
    ]
    records = iter(sweep(jobs, out, workers=cores()))
    return {method: [next(records) for _ in seeds] for method in methods}


def _cpu(way: Callable[[], object]) -> float:
    begun = time.process_time()
    way()
    return time.process_time() - begun


CASES = {"recall": recall, "training": training, "table": table}

if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:] or CASES:
        CASES[name]()
