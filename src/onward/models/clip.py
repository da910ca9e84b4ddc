"""CLIP: an image tower and a text tower of open_clip, which meet in one space."""

import copy
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.clip_config import CONFIGS, SMALL, ClipConfig
from onward.models.device import device
from onward.models.open_clip_loader import open_clip
from onward.models.pixels import Scale, normalised, scale_of
from onward.models.shared import Trained, drawing_from, few, forward_macs, gradients_of, overwrite
from onward.pairs import PairLayout
from onward.table import Array

# How sharp similarities may become, as in CLIP.
_SHARPEST = math.log(100)
# How many samples are looked at together where nothing is learned.
_AT_A_TIME = 256


class Clip(Trained):
    """Makes directions of images and texts; scaling, normalisation and tokens are part of it.

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
    recomputes
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
        recomputes: bool = False,
    ) -> None:
        if head != "linear":
            raise OnwardError(f"expected a linear head for CLIP, found {head!r}")
        self._layout = PairLayout(shape)
        self._config = CONFIGS[config] if isinstance(config, str) else config
        self.classes = classes
        self._device, self._recomputes = device(), recomputes
        self._weights = None if weights is None else Path(weights).expanduser()
        self._tokens = self._config.tokens()
        self._take(self._made(generator))
        visual = self._net.visual
        # Height and width of the images that its tower looks at.
        self.side = _pair(visual.image_size)
        mean, deviation = scale_of(_scale_of_images(visual))
        self._scale = mean.to(self._device.name), deviation.to(self._device.name)
        nothing = self._read([""])
        with torch.no_grad():
            self._width = int(self._net.encode_text(nothing).shape[1])
        self.macs = sum(tower_macs(self._net, self.side, nothing.shape[1]))
        self._graph: torch.Tensor | None = None

    @property
    def features(self) -> torch.Tensor:
        """The directions of the images in the last `forward`."""
        if self._graph is None:
            raise RuntimeError("features were asked for before forward")
        return self._graph.detach()[:, 0]

    @property
    def head(self) -> dict[str, torch.Tensor]:
        """The parameters with one row per class: none."""
        return {}

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew, or begin again with those of the file."""
        overwrite(self, self._made(generator).state_dict())

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Know of more classes."""
        self.classes = max(self.classes, classes)

    def seeing(self, shape: tuple[int, ...]) -> "Clip":
        """Return the same model, weights and all, for pairs with images of another shape."""
        other = copy.copy(self)
        other._layout = PairLayout(shape)
        return other

    def fit(self, image: Any) -> Array:
        """Return an image of Pillow as bytes (height, width, 3), cut and scaled as for its tower.

        As open_clip does it, but for the normalisation, which `predict` does.
        """
        for step in self._fitting[:-2]:  # the last two make numbers of it, and normalise them
            image = step(image)
        return np.asarray(image, np.uint8)

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return what is made of images and texts."""
        with torch.no_grad():
            return torch.cat([self._look(some) for some in few(inputs, _AT_A_TIME)])

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the directions of images."""
        return self.predict(inputs)[:, 0]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return what is made of a batch, and remember what `backward` needs."""
        self._graph = None  # frees the last one before the next one is built
        self.parameters["logit_scale"].clamp_(0, _SHARPEST)
        with torch.enable_grad():
            self._graph = self._look(inputs)
        return self._graph.detach()

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of the last `forward` on all parameters."""
        if self._graph is None:
            raise RuntimeError("backward was called before forward")
        if feature_slope is not None:
            slope = slope.clone()
            slope[:, 0] += feature_slope
        for name, gradient in gradients_of(self._net, self._graph, slope, again=True).items():
            self.parameters[name].grad = gradient

    def forget(self) -> None:
        """Let go of the last graph."""
        self._graph = None

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of what each pair adds to the gradient.

        The others of its batch are held fixed: what a pair is compared with is no part of it.
        """
        squares = {name: torch.zeros_like(values) for name, values in self.parameters.items()}
        for pair, slope in zip(inputs, slopes, strict=True):
            with torch.enable_grad():
                graph = self._look(pair[None])
            for name, gradient in gradients_of(self._net, graph, slope[None]).items():
                squares[name].addcmul_(gradient, gradient)
        return squares

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Clip":
        """Return a CLIP with other weights."""
        other = copy.copy(self)
        net = copy.deepcopy(self._net)
        net.load_state_dict(dict(weights), strict=False)
        other.classes = classes
        other.forget()
        other._take(net.requires_grad_(requires_grad=False))
        return other

    @cached_property
    def _fitting(self) -> list[Any]:
        said = getattr(self._net.visual, "preprocess_cfg", {})
        ways = {name: said[name] for name in ("interpolation", "resize_mode") if name in said}
        steps = open_clip().image_transform(self.side, is_train=False, **ways).transforms
        return list(steps)

    def _made(self, generator: torch.Generator) -> Any:
        with drawing_from(generator):
            net = self._config.made()
        if self._weights is not None:
            from onward.models.checkpoints import read_weights, require_fit, unwrapped

            read = unwrapped(read_weights(self._weights))
            require_fit(net, read, self._weights, of=f"open_clip's {self._config.name}")
            net.load_state_dict(read)
        if self._recomputes:
            net.set_grad_checkpointing()
        return net.float().eval().to(self._device.name)

    def _take(self, net: Any) -> None:
        """Show the weights without their graph: who changes them in place changes the model."""
        self._net = net
        self.parameters = {name: p.detach() for name, p in net.named_parameters()}
        # What is not stored, such as the mask of a text, is no part of the model's state.
        stored = net.state_dict().keys() - self.parameters.keys()
        self.buffers = {name: b for name, b in net.named_buffers() if name in stored}

    def _look(self, rows: torch.Tensor) -> torch.Tensor:
        """Return what is made of samples, with its graph where one is wanted."""
        with self._device.precision():
            return self._directions(rows).float()

    def _directions(self, rows: torch.Tensor) -> torch.Tensor:
        seen, read = self._layout.has_image(rows) > 0, self._layout.has_text(rows) > 0
        if bool(seen.all()) and bool(read.all()):
            return torch.stack([self._of_images(rows), self._of_texts(rows)], 1)
        whole = torch.zeros(len(rows), 2, self._width, device=self._device.name)
        if bool(seen.any()):
            whole[seen, 0] = self._of_images(rows[seen]).to(whole.dtype)
        if bool(read.any()):
            whole[read, 1] = self._of_texts(rows[read]).to(whole.dtype)
        return whole

    def _of_images(self, rows: torch.Tensor) -> torch.Tensor:
        images = normalised(self._layout.images(rows).to(self._device.name), self._scale)
        if tuple(images.shape[2:]) != self.side:
            images = functional.interpolate(
                images, self.side, mode="bicubic", align_corners=False, antialias=True
            )
        directions: torch.Tensor = self._net.encode_image(images, normalize=True)
        sharpness: torch.Tensor = self._net.logit_scale.exp()
        return directions * sharpness

    def _of_texts(self, rows: torch.Tensor) -> torch.Tensor:
        lines = [text.split("\n") for text in self._layout.texts(rows)]
        tokens = self._read([line for text in lines for line in text])
        # Prompts may have a hundred lines each; in training a text has one.
        some = [tokens] if torch.is_grad_enabled() else few(tokens, _AT_A_TIME)
        every = torch.cat([self._net.encode_text(part, normalize=True) for part in some])
        if len(every) == len(lines):
            return every
        counts = torch.tensor([len(text) for text in lines])
        owner = torch.repeat_interleave(torch.arange(len(lines)), counts).to(every.device)
        total = every.new_zeros(len(lines), every.shape[1]).index_add(0, owner, every)
        return functional.normalize(total, dim=1)

    def _read(self, texts: list[str]) -> torch.Tensor:
        return self._tokens(texts).to(self._device.name)


def tower_macs(net: Any, side: tuple[int, int], context: int) -> tuple[int, int]:
    """Return the multiply-accumulates of an image and of a text of so many numbers, forward."""
    # Where nothing is computed: fused attention would not be counted, and copies take no memory.
    moved: dict[int, Any] = {id(values): values.to("meta") for values in net.buffers()}
    for weights in net.parameters():
        moved[id(weights)] = nn.Parameter(weights.detach().to("meta"), requires_grad=False)
    with torch.device("meta"):
        bare = copy.deepcopy(net, moved)
        return forward_macs(bare.visual, (3, *side)), forward_macs(_TextTower(bare), (context,))


class _TextTower(nn.Module):
    """A text tower whose work is counted."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self._net = net

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read one text."""
        found: torch.Tensor = self._net.encode_text(tokens.long())
        return found


def _pair(side: int | tuple[int, int]) -> tuple[int, int]:
    return (side, side) if isinstance(side, int) else (int(side[0]), int(side[1]))


def _scale_of_images(visual: Any) -> Scale:
    """Return mean and deviation of the images that a tower is used to."""
    library = open_clip()
    mean = getattr(visual, "image_mean", None) or library.OPENAI_DATASET_MEAN
    deviation = getattr(visual, "image_std", None) or library.OPENAI_DATASET_STD
    return tuple(mean), tuple(deviation)
