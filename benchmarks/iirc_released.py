"""The iirc package's side of `iirc.py`: a child process in an environment of its own.

It is told what to measure, one JSON line at a time, and answers with one JSON line. What is
measured are the package's own public functions and datasets, and its PyTorch side.

    python benchmarks/iirc_released.py FOLDER
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mended_torchvision import mend_torchvision

mend_torchvision()
# This folder has an iirc.py too, which is not the package.
sys.path.pop(0)
warnings.simplefilter("ignore")

from iirc.datasets_loader import get_lifelong_datasets  # noqa: E402
from iirc.lifelong_dataset.torch_dataset import Dataset  # noqa: E402

PARTS = ("train", "intask_valid", "posttask_valid", "test")


class Side:
    """The package on one folder with CIFAR-100's files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _load(self, configuration: int) -> tuple[dict[str, Any], list[list[str]], dict[str, int]]:
        return get_lifelong_datasets(
            "iirc_cifar100", str(self._folder), tasks_configuration_id=configuration
        )

    def periods(self, configuration: int, path: str) -> dict[str, Any]:
        """Write down which images every period has, by their numbers, and their labels."""
        datasets, tasks, index = self._load(configuration)
        found = {"classes": np.array(sorted(index, key=index.__getitem__))}
        for part in PARTS:
            dataset = datasets[part]
            # The first three bytes of an image are its number in its file.
            first = [image.tobytes()[0:9:3] for image, _ in dataset.dataset]
            numbers = np.array([int.from_bytes(three, "big") for three in first])
            rows, labels, sizes = [], [], []
            for period in range(len(tasks)):
                dataset.choose_task(period)
                rows.append(numbers[dataset.cur_task_data_ids])
                names = (dataset.get_labels(place) for place in range(len(dataset)))
                labels += [sorted(index.get(name, len(index)) for name in two) for two in names]
                sizes.append(len(dataset))
            found |= {f"{part}_rows": np.concatenate(rows), f"{part}_sizes": np.array(sizes)}
            found[f"{part}_labels"] = np.array(labels)
        np.savez(path, **found)
        return {}

    def build(self, configuration: int) -> dict[str, float]:
        """Build all datasets of a configuration, from files to periods."""
        begun = time.process_time()
        self._datasets, self._tasks, _ = self._load(configuration)
        return {"seconds": time.process_time() - begun}

    def index(self) -> dict[str, float]:
        """Divide samples that were read into periods, in all four parts."""
        seconds = 0.0
        for part in PARTS:
            whole = self._datasets[part]
            begun = time.process_time()
            Dataset(
                dataset=whole.dataset,
                tasks=self._tasks,
                test_mode=whole.test_mode,
                superclass_data_pct=0.4,
                subclass_data_pct=0.8,
                superclass_sampling_size_cap=8,
            )
            seconds += time.process_time() - begun
        return {"seconds": seconds}

    def batches(self, size: int) -> dict[str, float]:
        """Go once through the first period's training samples."""
        dataset = self._datasets["train"]
        dataset.choose_task(0)
        loader = torch.utils.data.DataLoader(dataset, batch_size=size, shuffle=True)
        begun = time.process_time()
        items = sum(len(images) for images, _, _ in loader)
        return {"seconds": (time.process_time() - begun) / items}

    def pw_jaccard(self, path: str, times: int) -> dict[str, float]:
        """Score predictions the way the experiments of the release do, in PyTorch."""
        arrays = np.load(path)
        said, true = (torch.from_numpy(arrays[name]) for name in ("predicted", "target"))
        begun = time.process_time()
        for _ in range(times):
            overlap = (true & said).sum(-1) * 1.0 / (true | said).sum(-1)
            right = (true & said).sum(-1) * 1.0 / (said.sum(-1) + 1e-8)
            score = (overlap * right).mean().item()
        return {"seconds": (time.process_time() - begun) / times, "score": score}


def main() -> None:
    """Answer one line for every line."""
    torch.set_num_threads(1)
    side = Side(Path(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w")
    # The package prints what it does.
    sys.stdout = sys.stderr
    print("{}", file=answers, flush=True)
    verbs = (side.periods, side.build, side.index, side.batches, side.pw_jaccard)
    known = {verb.__name__: verb for verb in verbs}
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(known[name](*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()
