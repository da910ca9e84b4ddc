"""The training engine beside plain PyTorch, in one run: each case is a ratio with a bound.

    python benchmarks/engine.py [--json] [--case NAME ...] [--rounds N] [--quick]

resnet18-jpeg   ResNet-18 at 224 pixels from JPEGs, two data workers: images per second of wall time
data-path       the same data with a model that only pools: two workers against none, wall time
decode-crop     decoding, cropping and mirroring in one process, against torchvision.transforms.v2
probe           a linear probe, against its bare matrix products and against a plain PyTorch loop
probes-40       forty learning rates at once, against the same two
agem            A-GEM with its whole memory as reference, against a hand-written loop
clip            a training step of a small CLIP, against a plain loop of open_clip's
faster-rcnn     a training step of a small detector, against torchvision's own
logging         training metrics: share of a step of ResNet-18 at 32 pixels, of an epoch of probes

Both sides are measured in turns; a ratio is the median over rounds. Where nothing else is said the
clock is the CPU time of the process, on one thread.
"""

import argparse
import json
from collections.abc import Callable

import torch

import clip_step
import engine_detector
import engine_images
import engine_logging
import engine_probes
from measured import Measured

CASES: dict[str, Callable[..., list[Measured]]] = {
    "resnet18-jpeg": engine_images.resnet18,
    "data-path": engine_images.data_path,
    "decode-crop": engine_images.decode_crop,
    "probe": engine_probes.probe,
    "probes-40": engine_probes.probes,
    "agem": engine_probes.agem,
    "clip": clip_step.clip,
    "faster-rcnn": engine_detector.faster_rcnn,
    "logging": engine_logging.logging,
}


def main() -> None:
    """Measure the cases that were asked for, and print a line for each ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects at the end")
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="fewer samples, one round")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    # As the engine does: otherwise a peer would be slowed down by gradients that are next to zero.
    torch.set_flush_denormal(True)
    found: list[Measured] = []
    for name in asked.case:
        for measured in CASES[name](1 if asked.quick else asked.rounds, quick=asked.quick):
            found.append(measured)
            if not asked.json:
                print(measured.line(), flush=True)
    if asked.json:
        print(json.dumps([measured.as_json() for measured in found], indent=2))


if __name__ == "__main__":
    main()
