"""torchvision's ResNet-18, trained from scratch on images."""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from onward.errors import OnwardError
from onward.models.linear import draw_uniform
from onward.models.macs import forward_macs
from onward.models.torchvision_loader import torchvision

# Of ImageNet, per colour, on the scale of bytes.
_MEAN = torch.tensor([0.485, 0.456, 0.406]) * 255
_DEVIATION = torch.tensor([0.229, 0.224, 0.225]) * 255


class ResNet18:
    """An image classifier on bytes; normalisation is part of it.

    Predicting uses the running statistics of its batch normalisation, training those of the
    batch. A batch of one sample has no deviation, and is trained with the running ones.

    Parameters
    ----------
    shape
        The shape of one image: height, width, 3.
    classes
        The number of classes to begin with.
    generator
        Draws the weights as torchvision does.

    References
    ----------
    He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016.
    """

    # The stem divides the side by four; below two pixels there is no picture left.
    SMALLEST = 8
    head = ("fc.weight", "fc.bias")

    def __init__(self, shape: tuple[int, ...], classes: int, generator: torch.Generator) -> None:
        if len(shape) != 3 or shape[2] != 3:
            raise OnwardError(
                f"expected images (height, width, 3 colours), found inputs of the shape {shape}. "
                "ResNet-18 cannot read features: choose the model linear or mlp"
            )
        if min(shape[:2]) < self.SMALLEST:
            raise OnwardError(
                f"expected images of at least {self.SMALLEST} pixels a side for ResNet-18, found "
                f"{shape[0]} x {shape[1]}. Choose a larger size"
            )
        # Without memory first: torchvision would draw weights from the global generator.
        with torch.device("meta"):
            net = torchvision().models.resnet18(num_classes=classes)
        for norm in _norms(net):
            norm.num_batches_tracked = None  # only counts, which nothing here reads
        # The bytes of an image lie colour by colour, and convolutions are faster that way too.
        self._net: Any = net.to_empty(device="cpu").to(memory_format=torch.channels_last)
        self._graph: torch.Tensor | None = None
        self._share_weights()
        self.reset(generator)
        self._body_macs = (
            forward_macs(self._net.eval(), (3, *shape[:2])) - self._net.fc.weight.numel()
        )

    @property
    def classes(self) -> int:
        """How many classes it knows."""
        return int(self._net.fc.out_features)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one forward pass of one sample."""
        return int(self._body_macs + self._net.fc.weight.numel())

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters.values())

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew, and forget all statistics."""
        with torch.no_grad():
            for module in self._net.modules():
                if isinstance(module, nn.Conv2d):
                    # Drawn in plain order: several times as fast as in that of the colours.
                    drawn = torch.empty(module.weight.shape)
                    nn.init.kaiming_normal_(
                        drawn, mode="fan_out", nonlinearity="relu", generator=generator
                    )
                    module.weight.copy_(drawn)
            for norm in _norms(self._net):
                for ones in (norm.weight, norm.running_var):
                    ones.fill_(1)
                for zeros in (norm.bias, norm.running_mean):
                    zeros.zero_()
            _draw_head(self._net.fc, 0, generator)

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes in the last layer; those known before keep theirs."""
        known, old = self.classes, self._net.fc
        if classes <= known:
            return
        with torch.no_grad():
            new = _empty_layer(old.in_features, classes)
            new.weight[:known], new.bias[:known] = old.weight, old.bias
            _draw_head(new, known, generator)
        self._net.fc = new
        self._share_weights()

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, with fixed statistics."""
        with torch.no_grad():
            return self._run(inputs, training=False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, and remember the graph for `backward`."""
        self._graph = None  # frees the last one before the next one is built
        with torch.enable_grad():
            outputs = self._run(inputs, training=len(inputs) > 1)
        self._graph = outputs
        return outputs.detach()

    def backward(self, slope: torch.Tensor) -> None:
        """Set the gradient of the last `forward` on all parameters."""
        if self._graph is None:
            raise RuntimeError("backward was called before forward")
        weights = list(self._net.parameters())
        gradients = torch.autograd.grad(self._graph, weights, slope, retain_graph=True)
        for parameter, gradient in zip(self.parameters.values(), gradients, strict=True):
            parameter.grad = gradient

    def forget(self) -> None:
        """Let go of the last graph."""
        self._graph = None

    def squared_gradient(
        self, inputs: torch.Tensor, slopes: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the summed squares of each sample's gradient, with fixed statistics."""
        squares = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        weights = list(self._net.parameters())
        for sample, slope in zip(inputs, slopes, strict=True):
            with torch.enable_grad():
                (outputs,) = self._run(sample[None], training=False)
            gradients = torch.autograd.grad(outputs, weights, slope)
            for square, gradient in zip(squares.values(), gradients, strict=True):
                square.addcmul_(gradient, gradient)
        return squares

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "ResNet18":
        """Return a model with other weights and statistics."""
        other = copy.copy(self)
        other._net = copy.deepcopy(self._net)
        other._net.fc = _empty_layer(self._net.fc.in_features, classes)
        other._share_weights()
        for name, values in {**other.parameters, **other.buffers}.items():
            values.copy_(weights[name])
        return other

    def _run(self, inputs: torch.Tensor, *, training: bool) -> torch.Tensor:
        if inputs.dtype != torch.uint8:
            raise OnwardError(f"expected images as bytes, found {inputs.dtype}")
        if self._net.training != training:
            self._net.train(training)
        images = inputs.permute(0, 3, 1, 2).to(torch.float32)
        images.sub_(_MEAN.view(3, 1, 1)).div_(_DEVIATION.view(3, 1, 1))
        outputs: torch.Tensor = self._net(images)
        return outputs

    def _share_weights(self) -> None:
        """Show the weights without their graph: who changes them in place changes the network."""
        self._graph = None
        self.parameters = {name: p.detach() for name, p in self._net.named_parameters()}
        self.buffers = dict(self._net.named_buffers())


def _norms(net: Any) -> list[Any]:
    return [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]


def _empty_layer(width: int, classes: int) -> nn.Linear:
    """Return a layer without weights: its own would be drawn from the global generator."""
    return nn.Linear(width, classes, device="meta").to_empty(device="cpu")


def _draw_head(layer: nn.Linear, first: int, generator: torch.Generator) -> None:
    for parameter in (layer.weight, layer.bias):
        draw_uniform(parameter[first:], layer.in_features, generator)
