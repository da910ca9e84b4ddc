"""IIRC-CIFAR: the iirc package and Onward on the same files, interleaved.

Files of CIFAR-100's size and format with random pixels: labels and their order are what matters.
First, every period of all ten configurations must have the same images in the same order with the
same labels, in all four parts; then the two sides are measured in turn. CPU time, one thread each,
medians.

    python benchmarks/iirc.py
"""

import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

import onward
from environments import Other, environment
from onward.adapters import part_of, torch_batches
from onward.metrics.iirc import pw_jaccard
from onward.types import Period, Samples

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from cifar_miniature import write_cifar

PINS = ("iirc==1.0.1", "torch==2.13.0", "torchvision==0.28.0")
CONFIGURATIONS, ROUNDS, BATCH, TIMES = 10, 7, 128, 30
SAMPLES, CLASSES = 10_000, 115


def main() -> None:
    """Compare, then measure, and print a line for each."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        folder = write_cifar(Path(place), train=500, test=100)
        released = Other("iirc", environment(*PINS), "iirc_released.py", str(folder))
        try:
            require_same(folder, released)
            measure(folder, released)
        finally:
            released.close()


def require_same(folder: Path, released: Other) -> None:
    """End with status 1 unless both sides have the same samples and labels everywhere."""
    compared = 0
    for configuration in range(CONFIGURATIONS):
        path = folder / "periods.npz"
        released.ask("periods", configuration, str(path))
        theirs = np.load(path)
        for judge in ("test", "validation"):
            benchmark = onward.load(
                "iirc", data=str(folder), configuration=configuration, judge=judge
            )
            stream = benchmark.stream(seed=0)
            if tuple(theirs["classes"]) != stream[-1].classes:
                raise SystemExit(f"configuration {configuration}: the classes DIFFER")
            parts = {"posttask_valid": [known(period) for period in stream]}
            if judge == "test":
                parts = {"test": parts["posttask_valid"]}
                parts["train"] = [period.train for period in stream]
                parts["intask_valid"] = [period.validation for period in stream]
            for name, ours in parts.items():
                compared += compare(f"configuration {configuration}, {name}", ours, theirs, name)
    print(
        f"identical: {compared:,} images and their labels, in every period of {CONFIGURATIONS} "
        "configurations, in the same order",
        flush=True,
    )


def known(period: Period) -> Samples:
    """Return what tests a period, with the labels that are known by then."""
    labels = period.test.labels
    return Samples(period.test.rows, np.where(labels < len(period.classes), labels, -1))


def compare(where: str, ours: list[Samples], theirs: "np.lib.npyio.NpzFile", part: str) -> int:
    """Return how many samples were compared; end with status 1 if they are not the same."""
    sizes = [len(samples) for samples in ours]
    joined = Samples.join(ours)
    # Test images are numbered in their own file; behind the training images in the table.
    rows = joined.rows - (50_000 if part == "test" else 0)
    labels = np.sort(np.where(joined.labels < 0, CLASSES, joined.labels), axis=1)
    same = (
        sizes == theirs[f"{part}_sizes"].tolist()
        and np.array_equal(rows, theirs[f"{part}_rows"])
        and np.array_equal(labels, theirs[f"{part}_labels"])
    )
    if not same:
        raise SystemExit(f"{where}: the samples, their order or their labels DIFFER")
    return len(rows)


def measure(folder: Path, released: Other) -> None:
    """Measure both sides in turn."""
    rng = np.random.default_rng(0)
    target = np.zeros((SAMPLES, CLASSES), bool)
    target[np.arange(SAMPLES)[:, None], rng.integers(0, CLASSES, (SAMPLES, 2))] = True
    predicted = target ^ (rng.random(target.shape) < 0.01)
    np.savez(folder / "labels.npz", predicted=predicted, target=target)
    seconds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(ROUNDS):
        theirs = released.ask("build", number)["seconds"]
        begun = time.process_time()
        benchmark = onward.load("iirc", data=str(folder), configuration=number)
        stream = benchmark.stream(seed=0)
        seconds["build, from files to periods"].append((theirs, time.process_time() - begun))

        theirs = released.ask("index")["seconds"]
        begun = time.process_time()
        benchmark.stream(seed=0)
        seconds["index of all periods"].append((theirs, time.process_time() - begun))

        theirs = released.ask("batches", BATCH)["seconds"]
        part = part_of(stream, period=0)
        begun = time.process_time()
        items = sum(len(inputs) for inputs, _ in torch_batches(part, BATCH, seed=number))
        ours = (time.process_time() - begun) / items
        seconds[f"batches of {BATCH}, an image"].append((theirs, ours))

        found = released.ask("pw_jaccard", str(folder / "labels.npz"), TIMES)
        begun = time.process_time()
        for _ in range(TIMES):
            score = float(np.mean(pw_jaccard(predicted, target)))
        ours = (time.process_time() - begun) / TIMES
        seconds[f"pw-Jaccard, {SAMPLES:,} x {CLASSES}"].append((found["seconds"], ours))
        if abs(score - found["score"]) > 1e-5:
            raise SystemExit(f"pw-Jaccard: {found['score']} and {score} DIFFER")
    for case, times in seconds.items():
        theirs, ours = (statistics.median(side) * 1000 for side in zip(*times, strict=True))
        print(f"{case}: iirc {theirs:.4g} ms, onward {ours:.4g} ms: {theirs / ours:.1f}x")


if __name__ == "__main__":
    main()
