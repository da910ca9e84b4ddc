"""The small CLIP, trained on the emoji of the earliest period and on nothing later."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from onward.benchmarks.tic_recipes import SMALL
from onward.data.emoji_history import as_rgb, captions, load_emoji
from onward.data.variations import recoloured, similarities, warped
from onward.files import write_atomic
from onward.pairs import as_bytes, made_pairs, pair_type

MODEL = "clip_small"
"""What the weights are for, by the name of our models."""

_TEXT_BYTES = 224
_WHOLE = 0.5
_RATE = 3e-3
STEPS = 600


def train_small_clip(
    path: Path,
    *,
    steps: int = STEPS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Train on the drawings and captions of 2016, and write the weights as safetensors.

    Takes about a minute. `progress` is called with each further step.
    """
    import torch
    from safetensors.torch import save
    from torch.nn.functional import cross_entropy

    from onward.models.clip import Clip
    from onward.models.device import computing

    emoji = load_emoji()
    rows = np.flatnonzero(emoji.values("snapshot") == 0)
    every, images = captions(emoji), as_rgb(emoji.wide["image"][rows])
    texts = [every[row] for row in rows]
    words = [emoji.columns.column("keywords")[int(row)].as_py() or ["emoji"] for row in rows]
    kind = pair_type((32, 32, 3), _TEXT_BYTES)
    clip = Clip((32, 32, 3), 0, torch.Generator().manual_seed(seed))
    learned = [*clip.parameters()]
    optimizer = torch.optim.AdamW(learned, _RATE, weight_decay=SMALL.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, _RATE, total_steps=steps, pct_start=0.1
    )
    rng = np.random.default_rng([seed, 7])
    own = torch.arange(SMALL.batch_size)
    with computing():
        for _ in range(steps):
            some = rng.choice(len(rows), SMALL.batch_size, replace=False)
            moved = 255 - warped(255 - images[some], similarities(len(some), rng))
            seen = recoloured(moved, rng).clip(0, 255).astype(np.uint8)
            # Half of the captions are a few of their words, so that these mean something alone.
            told = [
                texts[row] if rng.random() < _WHOLE else ", ".join(rng.permutation(words[row])[:2])
                for row in some.tolist()
            ]
            pairs = made_pairs(kind, seen, told)
            with torch.enable_grad():
                found = clip(torch.from_numpy(as_bytes(pairs)))
                alike = found[:, 0] @ found[:, 1].T
                loss = (cross_entropy(alike, own) + cross_entropy(alike.T, own)) / 2
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            progress(1)
    state = clip.net.state_dict()
    write_atomic(path, save({name: value.contiguous() for name, value in state.items()}))
    return path
