"""CLIP: an image tower and a text tower of open_clip, which meet in one space."""

import copy
import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.modules.utils import _pair

from onward.errors import OnwardError
from onward.models.clip_config import CONFIGS, SMALL, ClipConfig, open_clip
from onward.models.model import Model, to_full_precision
from onward.models.pixels import Normalize
from onward.models.shared import drawing_from, forward_macs
from onward.pairs import PairLayout
from onward.table import Array

# The largest logarithm of the scale of similarities, as in CLIP.
_MAX_LOGIT_SCALE = math.log(100)
# How many samples are computed together where nothing is learned.
_BATCH_SIZE = 256


class Clip(Model):
    """Embeds images and texts; scaling, normalization and tokenization are part of it.

    Inputs are rows of bytes, see `onward.pairs`. Outputs are (sample, 2, width), see
    `onward.tasks.image_text`. Classes are told by texts, so there is no last layer that grows.

    Parameters
    ----------
    shape
        The shape of an image: height, width, 3.
    classes
        How many there are to tell apart by texts.
    generator
        Draws the weights.
    config
        What it is made of, or the name of one of `CONFIGS`.
    head
        Has to be ``linear``.
    weights
        A file with weights to start from, also when they are drawn anew.
    grad_checkpointing
        Whether what lies between layers is computed again on the way back instead of being kept:
        a third more work, and the memory of one layer.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        config: ClipConfig | str = SMALL,
        head: str = "linear",
        weights: str | None = None,
        grad_checkpointing: bool = False,
    ) -> None:
        super().__init__()
        if head != "linear":
            raise OnwardError(f"expected a linear head for CLIP, found {head!r}")
        self._layout = PairLayout(shape)
        self._config = CONFIGS[config] if isinstance(config, str) else config
        self._classes, self._grad_checkpointing = classes, grad_checkpointing
        self._weights = None if weights is None else Path(weights).expanduser()
        self._tokens = self._config.tokenizer()
        self.net = self._made(generator)
        # Height and width of the images that its tower reads.
        self.side: tuple[int, int] = _pair(self.net.visual.image_size)
        library, visual = open_clip(), self.net.visual
        mean = getattr(visual, "image_mean", None) or library.OPENAI_DATASET_MEAN
        std = getattr(visual, "image_std", None) or library.OPENAI_DATASET_STD
        self._normalize = Normalize((tuple(mean), tuple(std)))
        nothing = self._tokens([""])
        with torch.no_grad():
            self._width = int(self.net.encode_text(nothing).shape[1])
        self.macs = sum(tower_macs(self.net, self.side, nothing.shape[1]))

    @property
    def classes(self) -> int:
        """The number of classes, which texts describe."""
        return self._classes

    @property
    def class_rows(self) -> dict[str, torch.Tensor]:
        """The parameters with one row per class: none."""
        return {}

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, or load those of the file again."""
        self.net.load_state_dict(self._made(generator).state_dict())

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Count more classes."""
        self._classes = max(self._classes, classes)

    def seeing(self, shape: tuple[int, ...]) -> "Clip":
        """Return the same model, weights and all, for pairs with images of another shape."""
        other = copy.copy(self)
        other._layout = PairLayout(shape)
        return other

    def fit(self, image: Any) -> Array:
        """Return an image of Pillow as bytes (height, width, 3), cut and scaled as for its tower.

        As open_clip does it, without the normalization, which `predict` does.
        """
        return np.asarray(self._crop_and_resize(image), np.uint8)

    def compile_network(self) -> None:
        """Compile both towers."""
        self.net.visual.compile()
        self.net.transformer.compile()

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of images and texts."""
        with torch.no_grad():
            return torch.cat([self._embeddings(some) for some in torch.split(inputs, _BATCH_SIZE)])

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of images."""
        return self.predict(inputs)[:, 0]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of images and texts, with their graph."""
        self.net.logit_scale.detach().clamp_(0, _MAX_LOGIT_SCALE)
        found = self._embeddings(inputs)
        self.features = found[:, 0]
        return found

    def train(self, mode: bool = True) -> "Clip":  # noqa: FBT001 (the signature of torch)
        """Keep the network in evaluation mode, in which CLIP has nothing random."""
        super().train(mode)
        self.net.eval()
        return self

    @cached_property
    def _crop_and_resize(self) -> Any:
        config = getattr(self.net.visual, "preprocess_cfg", {})
        ways = {name: config[name] for name in ("interpolation", "resize_mode") if name in config}
        transform = open_clip().image_transform(self.side, is_train=False, **ways)
        del transform.transforms[-2:]  # which make a tensor of it, and normalize it
        return transform

    def _made(self, generator: torch.Generator) -> Any:
        with drawing_from(generator):
            net = self._config.made()
        if self._weights is not None:
            from onward.models.weights import read_weights, require_fit, without_parallel

            read = without_parallel(read_weights(self._weights))
            require_fit(net, read, self._weights, of=f"open_clip's {self._config.name}")
            net.load_state_dict(read)
        if self._grad_checkpointing:
            net.set_grad_checkpointing()
        return net.float().eval()

    def _set_classes(self, classes: int) -> None:
        self._classes = classes

    def _embeddings(self, rows: torch.Tensor) -> torch.Tensor:
        seen, read = self._layout.has_image(rows) > 0, self._layout.has_text(rows) > 0
        if bool(seen.all()) and bool(read.all()):
            pairs = torch.stack([self._of_images(rows), self._of_texts(rows)], 1)
            return to_full_precision(pairs)
        dtype = self.net.logit_scale.dtype
        whole = torch.zeros(len(rows), 2, self._width, dtype=dtype, device=self.device)
        if bool(seen.any()):
            whole[seen, 0] = self._of_images(rows[seen]).to(whole.dtype)
        if bool(read.any()):
            whole[read, 1] = self._of_texts(rows[read]).to(whole.dtype)
        return whole

    def _of_images(self, rows: torch.Tensor) -> torch.Tensor:
        images = self._normalize(self._layout.images(rows).to(self.device))
        if tuple(images.shape[2:]) != self.side:
            images = functional.interpolate(
                images, self.side, mode="bicubic", align_corners=False, antialias=True
            )
        embeddings: torch.Tensor = self.net.encode_image(images, normalize=True)
        scale: torch.Tensor = self.net.logit_scale.exp()
        return embeddings * scale

    def _of_texts(self, rows: torch.Tensor) -> torch.Tensor:
        lines = [text.split("\n") for text in self._layout.texts(rows)]
        tokens = self._tokens([line for text in lines for line in text]).to(self.device)
        # Prompts may have a hundred lines each; in training a text has one.
        some = [tokens] if torch.is_grad_enabled() else torch.split(tokens, _BATCH_SIZE)
        every = torch.cat([self.net.encode_text(part, normalize=True) for part in some])
        if len(every) == len(lines):
            return every
        counts = torch.tensor([len(text) for text in lines])
        owner = torch.repeat_interleave(torch.arange(len(lines)), counts).to(every.device)
        total = every.new_zeros(len(lines), every.shape[1]).index_add(0, owner, every)
        return functional.normalize(total, dim=1)


def tower_macs(net: Any, side: tuple[int, int], context: int) -> tuple[int, int]:
    """Return the multiply-accumulates of an image and of a text of so many numbers, forward."""
    # Where nothing is computed: fused attention would not be counted, and copies take no memory.
    moved: dict[int, Any] = {id(values): values.to("meta") for values in net.buffers()}
    for weights in net.parameters():
        moved[id(weights)] = nn.Parameter(weights.detach().to("meta"), requires_grad=False)
    with torch.device("meta"):
        bare = copy.deepcopy(net, moved)
        image, text = torch.zeros(1, 3, *side), torch.zeros(1, context)
        return (
            forward_macs(bare.visual, image),
            forward_macs(lambda tokens: bare.encode_text(tokens.long()), text),
        )
