"""The small CLIP of the demonstration."""

from pathlib import Path

import numpy as np
import pytest
import torch

from onward.curate.demo.small_clip import MODEL, train_small_clip
from onward.data.emoji_history import as_rgb, captions, load_emoji
from onward.models.clip_choice import named_clip
from onward.pairs import as_bytes, made_pairs, pair_type


@pytest.mark.slow
def test_weights_that_can_be_loaded_and_know_a_little(tmp_path: Path) -> None:
    steps: list[int] = []
    path = train_small_clip(tmp_path / "clip.safetensors", steps=60, progress=steps.append)
    assert sum(steps) == 60
    clip = named_clip(MODEL, weights=path)
    emoji = load_emoji()
    rows = np.flatnonzero(emoji.values("snapshot") == 0)[::10]
    every, images = captions(emoji), as_rgb(emoji.wide["image"][rows])
    texts = [every[row] for row in rows]
    pairs = made_pairs(pair_type((32, 32, 3), 224), images, texts)
    found = clip.predict(torch.from_numpy(as_bytes(pairs)))
    right = (found[:, 0] @ found[:, 1].T).argmax(1) == torch.arange(len(rows))
    assert float(right.float().mean()) > 5 / len(rows)
