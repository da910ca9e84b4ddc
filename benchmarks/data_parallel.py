"""Training by two processes, beside a bare loop of DistributedDataParallel on the same samples.

    python benchmarks/data_parallel.py [--rounds N] [--json]

ddp-step     a step of ResNet-18 at 32 pixels, 64 images in both processes together, over gloo; both
             sides synchronize batch normalization. Wall time, since processes wait for each other
clip-loss    the largest tensor in CLIP's loss of one process, at two sizes of the batch: it has
             own x all similarities, and not all x all
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

from measured import Measured, Target, measure, table_of, view_of
from onward import distributed
from onward.benchmarks.recipes import RESNET_PAPER
from onward.budget import Budget
from onward.methods.finetune import Finetune
from onward.models import MODELS
from onward.models.sync_batchnorm import SyncBatchNormMode
from onward.tasks.image_text import ImageText
from onward.tasks.one_label import OneLabel
from onward.train.learner import GradientLearner
from onward.types import Setting

# A call of learn has a fixed cost, such as comparing the weights of all processes at its end.
SIDE, BATCH, CLASSES, STEPS = 32, 64, 10, 32
WIDTH, SIZES = 64, (256, 1024)
TARGET = Target(1.05, at_least=False)
MEMORY = Target(1.0, at_least=False)
_CHILD = "--child"


def main() -> None:
    """Start two processes, and print what they have found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument(_CHILD, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not asked.child:
        run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        command = [sys.executable, *run, str(Path(__file__)), _CHILD, *sys.argv[1:]]
        raise SystemExit(subprocess.run(command, check=False).returncode)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    distributed.rank()  # finds the other process
    found = [
        measure(
            "ddp-step (peer: a bare DDP loop)",
            _ours(),
            _bare(),
            asked.rounds,
            "ms of wall time a step",
            TARGET,
        ),
        *map(_clip_loss, SIZES),
    ]
    if distributed.is_main_process():
        for one in () if asked.json else found:
            print(one.line(), flush=True)
        if asked.json:
            print(json.dumps([one.as_json() for one in found], indent=2))
    distributed.shut_down()


def _images() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (STEPS * BATCH, SIDE, SIDE, 3), np.uint8)
    return images, rng.integers(0, CLASSES, len(images))


def _ours() -> Callable[[], float]:
    images, labels = _images()
    table, rows = table_of(images), np.arange(len(images))
    recipe = replace(RESNET_PAPER, batch_size=BATCH, epochs=1, augment="none", image_size=None)
    learner, budget = GradientLearner(Finetune(), Setting(OneLabel(), recipe, 0)), Budget()

    def learn() -> float:
        began = time.perf_counter()
        learner.learn(view_of(table, rows, labels, CLASSES, budget), budget)
        return (time.perf_counter() - began) * 1000 / STEPS

    return learn


def _bare() -> Callable[[], float]:
    images, labels = _images()
    inputs, targets = torch.from_numpy(images), torch.from_numpy(labels)
    model = MODELS["resnet18"]((SIDE, SIDE, 3), CLASSES, torch.Generator().manual_seed(0)).train()
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(
        model.parameters(), RESNET_PAPER.lr, RESNET_PAPER.momentum, weight_decay=1e-5, fused=True
    )

    def learn() -> float:
        began = time.perf_counter()
        own = distributed.share_of_batch()
        for batch in torch.randperm(len(inputs), generator=torch.Generator()).split(BATCH):
            optimizer.zero_grad()
            with SyncBatchNormMode():
                loss = cross_entropy(ddp(inputs[batch[own]]), targets[batch[own]])
                loss.backward()
            optimizer.step()
        return (time.perf_counter() - began) * 1000 / STEPS

    return learn


class _Largest(TorchDispatchMode):
    """Notes the number of elements of the largest tensor that is computed."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if isinstance(found, torch.Tensor):
            self.elements = max(self.elements, found.numel())
        return found


def _clip_loss(samples: int) -> Measured:
    """Compare the largest tensor of a process with own x all similarities."""
    own = torch.randn(samples // 2, 2, WIDTH, requires_grad=True)
    with distributed.sharing(shared=True), _Largest() as largest:
        ImageText().loss(own, torch.zeros(len(own))).backward()
    bound = max(len(own) * samples, samples * 2 * WIDTH)
    return Measured(
        f"clip-loss of {samples} pairs (peer: own x all, or all embeddings)",
        float(largest.elements),
        float(bound),
        largest.elements / bound,
        "elements of the largest tensor",
        MEMORY,
    )


if __name__ == "__main__":
    main()
