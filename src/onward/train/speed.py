"""How fast this machine trains a model of images and texts."""

import time

import numpy as np
import torch

from onward.models import MODELS
from onward.models.device import computing
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText

_SECONDS = 3.0


def macs_a_second(model: str) -> float:
    """Return how many multiply-accumulates, forward and backward, are done in a second here.

    It is measured for some seconds; a batch of a large model may take longer.
    """
    side, count = (32, 128) if model == "clip_small" else (224, 2)
    with computing():
        made = MODELS[model]((side, side, 3), 1, torch.Generator().manual_seed(0))
        rng = np.random.default_rng(0)
        images = rng.integers(0, 256, (count, side, side, 3), np.uint8)
        texts = [f"a photo of thing number {number}" for number in range(count)]
        pairs = made_pairs(pair_type((side, side, 3), 64), images, texts)
        batch = torch.from_numpy(as_bytes(pairs))
        task, done, begun = ImageText(), 0, time.perf_counter()
        while not done or time.perf_counter() - begun < _SECONDS:
            with torch.enable_grad():
                loss = task.loss(made(batch), batch)
            made.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            done += 1
        spent = time.perf_counter() - begun
    return 3 * made.macs * count * done / spent
