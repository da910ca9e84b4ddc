"""Synthetic features of CLEAR10's true size, in the layout of its download.

Ten buckets of 3,300 samples with 2,048 features and 11 classes. A class is a point that moves from
bucket to bucket, with noise around it: near buckets look more alike than far ones. The noise has a
few strong directions and many weak ones, as the features of a network have.
"""

import json
from pathlib import Path

import numpy as np
import torch

BUCKETS, SAMPLES, WIDTH, CLASSES = 10, 3300, 2048, 11
# Next-domain accuracy is then about 0.9, as on the real features.
SIGNAL, DRIFT = 0.15, 0.3


def features(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the features (bucket, sample, feature) and the labels (bucket, sample)."""
    rng = np.random.default_rng(seed)
    spread = np.arange(1, WIDTH + 1, dtype=np.float32) ** -0.5
    points = rng.standard_normal((CLASSES, WIDTH), np.float32)
    inputs = np.empty((BUCKETS, SAMPLES, WIDTH), np.float32)
    labels = np.empty((BUCKETS, SAMPLES), np.int64)
    for bucket in range(BUCKETS):
        labels[bucket] = rng.permutation(SAMPLES) % CLASSES
        noise = rng.standard_normal((SAMPLES, WIDTH), np.float32)
        inputs[bucket] = (SIGNAL * points[labels[bucket]] + noise) * spread
        moved = rng.standard_normal(points.shape, np.float32)
        points = np.sqrt(1 - DRIFT**2) * points + DRIFT * moved
    return inputs, labels


def write(folder: Path) -> Path:
    """Write them as a download, unless they are there already; return its folder."""
    root = folder / "clear10-synthetic"
    done = root / "class_names.txt"
    if done.exists():
        return root
    training = root / "training_folder"
    inputs, labels = features()
    names = [f"class{number}" for number in range(CLASSES)]
    for number, (matrix, targets) in enumerate(zip(inputs, labels, strict=True), start=1):
        listing = training / "filelists" / str(number) / "all.txt"
        listing.parent.mkdir(parents=True, exist_ok=True)
        listing.write_text(
            "".join(
                f"labeled_images/{number}/{names[label]}/{number:02d}{place:04d}.jpg {label}\n"
                for place, label in enumerate(targets)
            )
        )
        stored = training / "features" / "moco_b0" / str(number) / "all.pth"
        stored.parent.mkdir(parents=True, exist_ok=True)
        torch.save((torch.from_numpy(matrix), targets.tolist()), stored)
    (training / "bucket_indices.json").write_text(json.dumps([str(n + 1) for n in range(BUCKETS)]))
    done.write_text("\n".join(names))
    return root
