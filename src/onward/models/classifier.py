"""A classifier: any backbone, and a head that takes new classes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from onward import distributed
from onward.errors import OnwardError, unknown
from onward.models.model import Model, to_full_precision
from onward.models.pixels import Normalize, Scale
from onward.models.shared import drawing_from, forward_macs
from onward.models.weights import Weights, load_backbone

# Pixels that are embedded at a time on a CPU: what a first layer makes of them stays in its cache.
_CPU_PIXELS = 2**16
_MIN_BATCH_SIZE, _BATCH_SIZE = 8, 256
# The fewest pixels a side that images have.
_MIN_PIXELS = 8
# A shorter vector has no direction, and no gradient passes through it.
_MIN_LENGTH = 1e-8


class Classifier(Model):
    """A backbone that turns inputs into features, and a head with one row per class.

    Batch normalization uses the batch's statistics in training, but for a batch of one sample,
    which has no variance; it uses the running statistics in evaluation.

    Parameters
    ----------
    make_backbone
        Returns the backbone; called again to initialize its weights anew, under a seed.
    shape
        The shape of one input.
    classes
        The number of classes to begin with.
    generator
        Draws the weights.
    head
        The last layer: ``linear`` or ``cosine``.
    normal
        Whether a linear head is drawn from a normal distribution.
    preprocess
        What is done to inputs first, such as scaling the values of images.
    weights
        A file with the weights that the backbone starts from.
    convert
        Returns the weights of a file under the backbone's own names.
    name
        What the model is called in messages; by default, what its backbone is an instance of.
    """

    def __init__(
        self,
        make_backbone: Callable[[], nn.Module],
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        head: str = "linear",
        normal: bool = False,
        preprocess: nn.Module | None = None,
        weights: str | None = None,
        convert: Callable[[Weights, nn.Module], Weights] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._make_backbone, self._convert, self._name = make_backbone, convert, name
        self._weights = None if weights is None else Path(weights).expanduser()
        self.preprocess = nn.Identity() if preprocess is None else preprocess
        self.backbone = self._new_backbone(generator)
        norms = nn.modules.batchnorm._BatchNorm
        self.uses_batch_statistics = any(isinstance(m, norms) for m in self.backbone.modules())
        sample = torch.zeros(1, *shape)
        if len(shape) > 1:
            sample = self.preprocess(sample.to(torch.uint8))
        self.eval()
        width = _feature_count(self.backbone, sample)
        if head not in HEADS:
            raise unknown("head", head, HEADS, "docs/design.md")
        self.head = HEADS[head](width, classes, generator, normal=normal and head == "linear")
        self._backbone_macs = forward_macs(self.backbone, sample)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.head.weight)

    @property
    def class_rows(self) -> Mapping[str, torch.Tensor]:
        """The parameters with one row per class, by name."""
        return {f"head.{name}": rows for name, rows in self.head.rows.items()}

    @property
    def macs(self) -> int:  # type: ignore[override]
        """Multiply-accumulates of one forward pass of one sample."""
        return self._backbone_macs + int(self.head.in_features) * self.classes

    @property
    def is_linear_probe(self) -> bool:
        """Whether it is a linear layer on the inputs, and nothing else."""
        return self._has_no_backbone and isinstance(self.head, LinearHead)

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, or load those of the file again."""
        self.backbone.load_state_dict(self._new_backbone(generator).state_dict())
        self.head.init_weights(generator)

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Extend the head to this many classes; known ones keep their weights."""
        self.head.add_classes(classes, generator)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        alone = self.training and self.uses_batch_statistics and len(inputs) == 1
        alone = alone and not distributed.is_sharing()
        if alone:
            self.backbone.eval()
        self.features = self.backbone(self.preprocess(self._in_precision(inputs)))
        if len(self.features) != len(inputs):
            raise OnwardError(
                f"expected one row of features per sample from the backbone, found "
                f"{len(self.features)} rows for {len(inputs)} samples. Correct its forward"
            )
        if alone:
            self.backbone.train()
        return to_full_precision(self.head(self.features))

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, in evaluation mode."""
        with self.evaluating():
            return to_full_precision(self.head(self.embed(inputs)))

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features, in evaluation mode."""
        if self._has_no_backbone:
            return self._in_precision(inputs)
        pixels, batch_size = getattr(self.preprocess, "pixels", 0), _BATCH_SIZE
        if pixels and self.device.type == "cpu":
            batch_size = max(_CPU_PIXELS // pixels, _MIN_BATCH_SIZE)
        with self.evaluating():
            parts = torch.split(self._in_precision(inputs), batch_size)
            found = [self.backbone(self.preprocess(part)) for part in parts]
        return to_full_precision(torch.cat(found))

    def _in_precision(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return features in the precision of the weights; images are bytes."""
        return inputs.to(self.head.weight.dtype) if inputs.is_floating_point() else inputs

    @property
    def _has_no_backbone(self) -> bool:
        return all(isinstance(part, nn.Identity) for part in (self.preprocess, self.backbone))

    def compile_network(self) -> None:
        """Compile the backbone."""
        self.backbone.compile()

    def _set_classes(self, classes: int) -> None:
        self.head.set_classes(classes)

    def _new_backbone(self, generator: torch.Generator) -> nn.Module:
        if self._make_backbone is nn.Identity:
            return nn.Identity()  # draws nothing: the head has the generator's first numbers
        with drawing_from(generator):
            backbone = self._make_backbone()
        if self._weights is not None:
            called = self._name or type(backbone).__name__
            load_backbone(backbone, self._weights, of=called, convert=self._convert)
        # Images come with their colours last, and convolutions are faster that way too.
        return backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


class Head(nn.Module):
    """Abstract: a last layer whose ``weight`` has one row per class.

    With `normal`, ``weight`` is drawn from a normal distribution of standard deviation
    1/√in_features, instead of uniform in ±1/√in_features as `torch.nn.Linear` does.
    """

    _ROWS: tuple[str, ...] = ("weight",)

    def __init__(
        self, in_features: int, classes: int, generator: torch.Generator, *, normal: bool = False
    ) -> None:
        super().__init__()
        self.in_features, self._normal = in_features, normal
        self.weight = nn.Parameter(torch.empty(0, in_features))
        self._add_parameters()
        self.add_classes(classes, generator)

    @property
    def rows(self) -> Mapping[str, torch.Tensor]:
        """The parameters with one row per class, by name."""
        return {name: getattr(self, name) for name in self._ROWS}

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew."""
        self._init_rows(0, generator)

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Extend it to this many classes; known ones keep their weights."""
        known = len(self.weight)
        if classes > known:
            self.set_classes(classes)
            self._init_rows(known, generator)

    def set_classes(self, classes: int) -> None:
        """Give it exactly this many rows; the first ones keep their weights, others are zero."""
        for name, before in self.rows.items():
            rows = before.new_zeros(classes, *before.shape[1:])
            kept = min(classes, len(before))
            rows[:kept] = before.detach()[:kept]
            setattr(self, name, nn.Parameter(rows))

    def _add_parameters(self) -> None:
        """Add the parameters beside ``weight``."""

    def _init_rows(self, first: int, generator: torch.Generator) -> None:
        for name, parameter in self.rows.items():
            rows = parameter.detach()[first:]
            if self._normal and name == "weight":
                rows.copy_(torch.randn(rows.shape, generator=generator) * self.in_features**-0.5)
            else:
                draw_uniform(rows, self.in_features, generator)


class LinearHead(Head):
    """Logits = W x + b."""

    _ROWS = ("weight", "bias")

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        if features.device.type != "cpu":
            return functional.linear(features, self.weight, self.bias)
        # For a few classes, a CPU multiplies from the left in half of the time.
        return torch.addmm(self.bias.unsqueeze(1), self.weight, features.t()).t()

    def _add_parameters(self) -> None:
        self.bias = nn.Parameter(torch.empty(0))


class CosineHead(Head):
    """Logits = eta · cos(w, x), with one weight vector per class and one eta for all of them.

    No class can win by the length of its weights, as those learned last otherwise do.

    References
    ----------
    Hou, Pan, Loy, Wang and Lin, Learning a Unified Classifier Incrementally via Rebalancing,
    CVPR 2019.
    """

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return one logit per class."""
        return self.eta * (unit_vectors(features) @ unit_vectors(self.weight).t())

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, and set eta to 1."""
        super().init_weights(generator)
        self.eta.detach().fill_(1)

    def _add_parameters(self) -> None:
        self.eta = nn.Parameter(torch.ones(1))


HEADS: Mapping[str, type[Head]] = {"linear": LinearHead, "cosine": CosineHead}


def unit_vectors(vectors: torch.Tensor) -> torch.Tensor:
    """Return rows scaled to length 1; rows that are too short to have a direction become zero.

    Unlike `torch.nn.functional.normalize`, whose gradient is huge near zero, no gradient passes
    through those.

    Examples
    --------
    >>> unit_vectors(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    length = vectors.norm(dim=1, keepdim=True)
    units: torch.Tensor = vectors / length.where(length > _MIN_LENGTH, torch.inf)
    return units


def draw_uniform(weights: torch.Tensor, in_features: int, generator: torch.Generator) -> None:
    """Draw weights uniform in ±1/√in_features, as `torch.nn.Linear` does."""
    bound = in_features**-0.5
    # Drawn by the generator, which is the CPU's, and then copied to where the weights are.
    weights.copy_(torch.rand(weights.shape, generator=generator) * 2 * bound - bound)


class ImageInput(Normalize):
    """Turns bytes (n, height, width, 3) into normalized images (n, 3, height, width) of one size.

    The shape of one image is (height, width, 3); without `image_size` images are not resized.
    `name` is what the model is called in messages.
    """

    def __init__(
        self, shape: tuple[int, ...], scale: Scale, image_size: int | None = None, *, name: str
    ) -> None:
        super().__init__(scale)
        if len(shape) != 3 or shape[2] != 3:
            raise OnwardError(
                f"expected images (height, width, 3 colours), found inputs of the shape {shape}. "
                f"{name} cannot read features: choose the model linear or mlp"
            )
        if min(shape[:2]) < _MIN_PIXELS:
            raise OnwardError(
                f"expected images of at least {_MIN_PIXELS} pixels a side for {name}, found "
                f"{shape[0]} x {shape[1]}. Choose a larger size"
            )
        self.image_size = None if image_size is None else (image_size, image_size)
        height, width = self.image_size or shape[:2]
        self.pixels = height * width

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return normalized images of the right size."""
        pixels = super().forward(images)
        if self.image_size is None or pixels.shape[2:] == self.image_size:
            return pixels
        return functional.interpolate(
            pixels, size=self.image_size, mode="bilinear", align_corners=False, antialias=True
        )


def image_classifier(
    make_backbone: Callable[[], nn.Module],
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    name: str,
    scale: Scale,
    image_size: int | None = None,
    **options: Any,
) -> Classifier:
    """Make a classifier of images stored as bytes; further options are those of `Classifier`."""
    preprocess = ImageInput(shape, scale, image_size, name=name)
    return Classifier(
        make_backbone, shape, classes, generator, preprocess=preprocess, name=name, **options
    )


def _feature_count(backbone: nn.Module, sample: torch.Tensor) -> int:
    """Return how many features a backbone gives for one sample, or say what it gives instead."""
    shape = tuple(sample.shape)
    try:
        with torch.no_grad():
            features = backbone(sample)
    except Exception as error:
        raise OnwardError(
            f"expected a backbone that reads an input of the shape {shape}, found that it raises "
            f"{type(error).__name__}: {str(error).rstrip('.')}. Choose another size of the images, "
            "or correct it"
        ) from error
    is_tensor = isinstance(features, torch.Tensor)
    if not is_tensor or features.ndim != 2 or len(features) != 1 or not features.shape[1]:
        found = f"the shape {tuple(features.shape)}" if is_tensor else type(features).__name__
        raise OnwardError(
            "expected a backbone that returns one row of features per sample, found "
            f"{found} for one input. Flatten or pool its outputs"
        )
    return int(features.shape[1])


def linear_probe(shape: tuple[int, ...], *args: Any, **options: Any) -> Classifier:
    """Make a `Classifier` that is a head on features, and nothing else."""
    _require_features(shape)
    return Classifier(nn.Identity, shape, *args, **options)


def mlp(shape: tuple[int, ...], *args: Any, hidden_dim: int = 2048, **options: Any) -> Classifier:
    """Make a `Classifier` with one hidden layer, by default of 2,048 units as in CLEAR."""
    _require_features(shape)

    def backbone() -> nn.Module:
        return nn.Sequential(nn.Linear(shape[0], hidden_dim), nn.ReLU())

    return Classifier(backbone, shape, *args, **options)


def _require_features(shape: tuple[int, ...]) -> None:
    if len(shape) != 1:
        raise OnwardError(
            f"expected inputs with one axis, their features; found the shape {shape}. The models "
            "linear and mlp cannot read images: choose features, or the model resnet18"
        )
