"""A small CLIP that has learned three colours, as a file of weights."""

import io
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from task_folders import COLOURS, TEMPLATES, picture

from onward.models.clip_choice import named_clip
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText

_STEPS = 40


def write_coloured_clip(path: Path) -> Path:
    """Train one in a second or two, and write it as open_clip's training does."""
    clip = named_clip("clip_small")
    kind, task = pair_type((*clip.side, 3), 64), ImageText()
    optimizer = torch.optim.Adam(clip.parameters(), 3e-3)
    for step in range(_STEPS):
        # One pair of each colour: with two of one, neither would be the right answer.
        images = [
            clip.fit(Image.open(io.BytesIO(picture(colour, 1000 + step)))) for colour in COLOURS
        ]
        texts = [TEMPLATES[step % 2].replace("{c}", colour) for colour in COLOURS]
        batch = torch.from_numpy(as_bytes(made_pairs(kind, np.stack(images), texts)))
        outputs = clip(batch)
        optimizer.zero_grad()
        task.loss(outputs, outputs).backward()
        optimizer.step()
    state = {f"module.{name}": values for name, values in clip.net.state_dict().items()}
    torch.save({"epoch": 1, "name": "colours", "state_dict": state}, path)
    return path
