"""The options by which verbs of curation are told a CLIP."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option(
        help="A model of open_clip (ViT-B-32), clip_small, a file of weights that fit one model "
        "only, or the folder of a run."
    ),
]
Weights = Annotated[
    Path | None,
    typer.Option(help="Weights of the named model: safetensors, or written by torch.save."),
]
Pretrained = Annotated[
    str | None,
    typer.Option(help="A tag of open_clip whose weights are here; nothing is downloaded."),
]
