"""Any torch network with a head on it, trained by autograd."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.heads import OnHead, make_head
from onward.models.pixels import Scale, normalised, scale_of
from onward.models.shared import few, forward_macs, gradients_of

# So many pixels are embedded at a time: what a first layer makes of them stays in the cache.
_AT_ONCE = 2**16
_LEAST_AT_ONCE = 8


class Network(OnHead):
    """Abstract: an image classifier on bytes; normalisation is part of it.

    Predicting uses the running statistics of its batch normalisation, training those of the
    batch. A batch of one sample has no deviation, and is trained with the running ones. Gradients
    go through the head as through any other, and below it through autograd.

    Each one says by class attributes what lies below its head.

    Parameters
    ----------
    shape
        The shape of one image: height, width, 3.
    classes
        The number of classes to begin with.
    generator
        Draws the weights, convolutions from normal distributions (Kaiming).
    head
        The last layer: ``linear`` or ``cosine``.
    side
        What images are scaled to before the network sees them; by default they are not.
    weights
        A file with the weights that the body starts from, by torchvision's names; by default they
        are drawn. Those of its last layer are left out: the classes are others.
    """

    # The stem of a large network divides the side by four; below two pixels there is no picture.
    SMALLEST = 8
    NAME: str
    # How many features the body gives.
    FEATURES: int
    SCALE: Scale
    # What the deviation of a convolution's weights is taken from: its inputs or its outputs.
    FAN: Literal["fan_in", "fan_out"] = "fan_out"
    # Whether a linear head draws its weights from a normal distribution.
    NORMAL = False

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        head: str = "linear",
        side: int | None = None,
        weights: str | None = None,
    ) -> None:
        self._require_images(shape)
        self._side, self._weights = side, weights
        self._graph: torch.Tensor | None = None
        self._scale = scale_of(self.SCALE)
        # Without memory first: torch would draw weights from the global generator.
        with torch.device("meta"):
            net: Any = self._body()
        for norm in _norms(net):
            norm.num_batches_tracked = None  # only counts, which nothing here reads
        # The bytes of an image lie colour by colour, and convolutions are faster that way too.
        self._net = net.to_empty(device="cpu").to(memory_format=torch.channels_last)
        self.mixes = bool(_norms(net))
        self._draw_body(generator)
        self._head = make_head(head, (self.FEATURES,), classes, generator, normal=self.NORMAL)
        self._share_weights()
        seen = shape[:2] if side is None else (side, side)
        self._body_macs = forward_macs(self._net.eval(), (3, *seen))

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""
        return self._body_macs + self._head.macs

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew, or go back to those of the file, and forget all statistics."""
        self._draw_body(generator)
        self._head.reset(generator)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes in the last layer; those known before keep theirs."""
        if classes > self.classes:
            self._head.grow(classes, generator)
            self._share_weights()

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features, with fixed statistics."""
        height, width = inputs.shape[1:3] if self._side is None else (self._side, self._side)
        size = max(_AT_ONCE // (height * width), _LEAST_AT_ONCE)
        with torch.no_grad():
            return torch.cat([self._run(part, training=False) for part in few(inputs, size)])

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, and remember the graph for `backward`."""
        self._graph = None  # frees the last one before the next one is built
        with torch.enable_grad():
            self._graph = self._run(inputs, training=len(inputs) > 1)
        return self._head.forward(self._graph.detach())

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of the last `forward` on all parameters."""
        if self._graph is None:
            raise RuntimeError("backward was called before forward")
        self._head.backward(slope)
        below = self._slope_below(slope, self.features, feature_slope)
        for name, gradient in gradients_of(self._net, self._graph, below, again=True).items():
            self.parameters[name].grad = gradient

    def forget(self) -> None:
        """Let go of the last graph."""
        self._graph = None
        self._head.forget()

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of each sample's gradient, with fixed statistics."""
        body = [name for name, _ in self._net.named_parameters()]
        squares = {name: torch.zeros_like(self.parameters[name]) for name in body}
        met = []
        for sample, slope in zip(inputs, slopes, strict=True):
            with torch.enable_grad():
                features = self._run(sample[None], training=False)
            met.append(features.detach())
            below = self._head.slope_below(slope[None], met[-1])
            for name, gradient in gradients_of(self._net, features, below).items():
                squares[name].addcmul_(gradient, gradient)
        return squares | self._head.squared_gradient(torch.cat(met), slopes)

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Network":
        """Return a model with other weights and statistics."""
        other = copy.copy(self)
        other._net = copy.deepcopy(self._net)
        own = {name: weights[name].clone() for name in self._head.parameters}
        other._head = self._head.frozen(own, classes)
        other._share_weights()
        for name, values in {**other.parameters, **other.buffers}.items():
            if name not in own:
                values.copy_(weights[name])
        return other

    def _body(self) -> nn.Module:
        """Make the network below the head, which turns images into features.

        Called where nothing takes memory, so that it draws no weights.
        """
        raise NotImplementedError

    def _run(self, inputs: torch.Tensor, *, training: bool) -> torch.Tensor:
        if self._net.training != training:
            self._net.train(training)
        images = normalised(inputs, self._scale)
        if self._side is not None:
            images = functional.interpolate(
                images, size=(self._side, self._side), mode="bilinear", align_corners=False
            )
        features: torch.Tensor = self._net(images)
        return features

    def _draw_body(self, generator: torch.Generator) -> None:
        if self._weights is not None:
            self._load_body(Path(self._weights).expanduser())
            return
        with torch.no_grad():
            for module in self._net.modules():
                if isinstance(module, nn.Conv2d):
                    # Drawn in plain order: several times as fast as in that of the colours.
                    drawn = torch.empty(module.weight.shape)
                    nn.init.kaiming_normal_(
                        drawn, mode=self.FAN, nonlinearity="relu", generator=generator
                    )
                    module.weight.copy_(drawn)
            for norm in _norms(self._net):
                for ones in (norm.weight, norm.running_var):
                    ones.fill_(1)
                for zeros in (norm.bias, norm.running_mean):
                    zeros.zero_()

    def _load_body(self, path: Path) -> None:
        from onward.models.checkpoints import read_weights, require_fit

        read = read_weights(path)
        inner = {name: value for name, value in read.items() if not name.startswith("fc.")}
        require_fit(self._net, inner, path, of=self.NAME)
        own = {**dict(self._net.named_parameters()), **dict(self._net.named_buffers())}
        with torch.no_grad():
            for name, values in own.items():
                values.copy_(inner[name])

    def _share_weights(self) -> None:
        """Show the weights without their graph: who changes them in place changes the network."""
        self._graph = None
        body = {name: p.detach() for name, p in self._net.named_parameters()}
        self.parameters = body | self._head.parameters
        self.buffers = dict(self._net.named_buffers())

    def _require_images(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 3 or shape[2] != 3:
            raise OnwardError(
                f"expected images (height, width, 3 colours), found inputs of the shape {shape}. "
                f"{self.NAME} cannot read features: choose the model linear or mlp"
            )
        if min(shape[:2]) < self.SMALLEST:
            raise OnwardError(
                f"expected images of at least {self.SMALLEST} pixels a side for {self.NAME}, found "
                f"{shape[0]} x {shape[1]}. Choose a larger size"
            )


def _norms(net: Any) -> list[Any]:
    return [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
