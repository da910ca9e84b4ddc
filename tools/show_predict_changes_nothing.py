"""Show that predicting changes no weight: python tools/show_predict_changes_nothing.py [MODEL ...].

Every model of the catalogue takes a step of training, so that statistics have moved, and then
predicts a batch; the bits of all parameters and buffers are compared before and after.
"""

import sys
from typing import Any

import numpy as np
import torch

from onward.models import MODELS, Model
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks import TASKS

BOXES = ("faster_rcnn", "faster_rcnn_swin", "small_rcnn", "small_swin")
FEATURES = ("linear", "mlp")


def bits(model: Model) -> dict[str, bytes]:
    """Return the bits of all parameters and buffers, also of buffers that no checkpoint has."""
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {name: values.detach().numpy().tobytes() for name, values in tensors.items()}


def show(name: str) -> bool:
    """Train a model for a step, let it predict, and print what has changed since."""
    rng = np.random.default_rng(0)
    targets: Any = torch.tensor([0, 1, 0, 1])
    task, shape = TASKS["one_label"], (32, 32, 3)
    inputs: Any = torch.from_numpy(rng.integers(0, 256, (4, *shape), np.uint8))
    if name in FEATURES:
        shape = (16,)
        inputs = torch.from_numpy(rng.standard_normal((4, *shape), np.float32))
    elif name in BOXES:
        task, shape = TASKS["boxes"], (64, 96, 3)
        inputs = torch.from_numpy(rng.integers(0, 256, (2, *shape), np.uint8))
        targets = torch.tensor([[[0, 8, 8, 40, 40, 0]], [[1, 20, 10, 60, 50, 0]]]).float()
    elif name.startswith("clip"):
        task = TASKS["image_text"]
        pairs = made_pairs(pair_type(shape, 32), inputs.numpy(), ["a", "b", "c", "d"])
        inputs = torch.from_numpy(as_bytes(pairs))
    model = MODELS[name](shape, 2, torch.Generator().manual_seed(0))
    task.loss(model.train()(inputs), targets).backward()
    model.clear_graph()
    before = bits(model)
    for _ in range(2):
        model.predict(inputs)
    after = bits(model)
    changed = [one for one in before if before[one] != after[one]]
    words = ", ".join(changed) or "nothing changed"
    print(f"{name:18s} {len(before):4d} parameters and buffers: {words}", flush=True)
    return not changed


if __name__ == "__main__":
    found = [show(name) for name in sys.argv[1:] or MODELS]
    sys.exit(0 if all(found) else 1)
