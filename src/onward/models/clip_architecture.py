"""Which CLIP some weights belong to, told by their shapes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from onward.errors import OnwardError
from onward.models.clip_config import CONFIGS, ClipConfig
from onward.models.open_clip_loader import open_clip

Shapes = Mapping[str, tuple[int, ...]]
# What configurations of open_clip leave out.
_USUAL = {"width": 512, "context_length": 77, "vocab_size": 49408}


def architecture_of(weights: Mapping[str, torch.Tensor], path: Path) -> str:
    """Return the name of the one CLIP, of ours and of open_clip's, that has a file's weights."""
    shapes = {name: tuple(values.shape) for name, values in weights.items()}
    found = [name for name, config in _candidates(shapes) if _shapes_of(config) == shapes]
    if not found:
        some = ", ".join(sorted(shapes)[:3]) or "none"
        raise OnwardError(
            f"expected in {path} all weights of a CLIP of open_clip's, by its names and of its "
            f"shapes, found {len(shapes)} weights that are no such model's ({some}, …). If it is "
            "one, name it: --model NAME --weights FILE"
        )
    if len(found) > 1:
        raise OnwardError(
            f"expected weights in {path} that fit one CLIP only, found that they fit "
            f"{', '.join(found)}, which do not compute the same. Say which it is: --model "
            f"{found[0]} --weights {path}"
        )
    return found[0]


def _candidates(shapes: Shapes) -> Iterator[tuple[str, ClipConfig]]:
    """Yield what has a text tower of this width, so that few models need to be made."""
    before = "" if "token_embedding.weight" in shapes else "text."
    words = shapes.get(f"{before}token_embedding.weight", ())
    places = shapes.get(f"{before}positional_embedding", ())
    wide = shapes.get(f"{before}text_projection", ())
    small = {name: config for name, config in CONFIGS.items() if config.written_out is not None}
    for name, config in {**small, **dict.fromkeys(open_clip().list_models())}.items():
        said: Any = open_clip().get_model_config(name) if config is None else config.written_out
        if "timm_model_name" in said["vision_cfg"] or "hf_model_name" in said["text_cfg"]:
            continue
        text = {**_USUAL, **said["text_cfg"]}
        if (
            words == (text["vocab_size"], text["width"])
            and places == (text["context_length"], text["width"])
            and wide == (text["width"], said["embed_dim"])
        ):
            yield name, config or ClipConfig(name, settings={"device": "meta"})


def _shapes_of(config: ClipConfig) -> Shapes:
    with torch.device("meta"):
        net = config.made()
    return {name: tuple(values.shape) for name, values in net.state_dict().items()}
