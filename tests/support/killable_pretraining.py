"""A pre-training to be killed: python killable_pretraining.py OUT. It prints every step."""

import sys
from dataclasses import replace
from pathlib import Path

from onward.data.past import read_past
from onward.train.moco import CPU
from onward.train.pretrain import pretrain


def main(out: str) -> None:
    recipe = replace(CPU, epochs=80, batch_size=64, image_size=24)
    past = read_past("emoji", recipe.image_size)
    few = replace(past, images=past.images[slice(0, 128)])  # type: ignore[index]
    pretrain(
        few,
        recipe,
        0,
        Path(out),
        checkpoint_seconds=0.02,
        watch=lambda done, steps, loss: None if loss is None else print(done, flush=True),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
