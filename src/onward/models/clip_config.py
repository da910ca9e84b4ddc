"""What a CLIP is made of."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onward.models.open_clip_loader import open_clip, quietly
from onward.models.tokens import Tokens, small_tokenizer


@dataclass(frozen=True)
class ClipConfig:
    """What a CLIP is made of: a configuration of open_clip, by name or written out.

    ``settings`` are further arguments of open_clip's ``create_model``, where it has a name.
    """

    name: str
    written_out: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def made(self) -> Any:
        """Return a new model with weights of open_clip's own drawing."""
        library = open_clip()
        if self.written_out is not None:
            return library.model.CLIP(**copy.deepcopy(dict(self.written_out)))
        # Texts of some are read by a model of another library, whose own weights are not wanted.
        with quietly():
            return library.create_model(self.name, pretrained_hf=False, **self.settings)

    def tokens(self) -> Tokens:
        """Return its tokenizer."""
        if self.written_out is None:
            return Tokens(open_clip().get_tokenizer(self.name))
        text = self.written_out["text_cfg"]
        return Tokens(small_tokenizer(text["context_length"], text["vocab_size"]))


# Of 32 pixels and 24 tokens: learns enough of 1,200 drawings in a quarter of a minute to tell
# methods apart. Convolutions would take twice the time here.
SMALL = ClipConfig(
    "small",
    {
        "embed_dim": 128,
        "vision_cfg": {
            "image_size": 32,
            "patch_size": 8,
            "width": 64,
            "layers": 2,
            "head_width": 32,
            "mlp_ratio": 2,
        },
        "text_cfg": {
            "context_length": 24,
            "vocab_size": 8192,
            "width": 48,
            "heads": 2,
            "layers": 1,
        },
    },
)

CONFIGS: Mapping[str, ClipConfig] = {
    "clip_small": SMALL,
    "clip_vit_b16": ClipConfig("ViT-B-16"),
    "clip_vit_b32": ClipConfig("ViT-B-32"),
}
"""By the names of our models."""
