"""A classifier: any backbone, and a head that takes new classes."""

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.checkpoints import Weights, load_backbone
from onward.models.heads import LinearHead, make_head
from onward.models.model import Model
from onward.models.pixels import Scale, normalised, scale_of
from onward.models.shared import drawing_from, few, forward_macs

# Pixels that are embedded at a time on a CPU: what a first layer makes of them stays in its cache.
_CPU_PIXELS = 2**16
_LEAST_AT_ONCE = 8
_AT_ONCE = 256


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
        self.uses_batch_statistics = any(
            isinstance(module, nn.modules.batchnorm._BatchNorm)
            for module in self.backbone.modules()
        )
        sample = self._sample(shape)
        self.eval()
        width = feature_count(self.backbone, sample)
        self.head = make_head(head, width, classes, generator, normal=normal)
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
        if alone:
            self.backbone.eval()
        self.features = self.backbone(self.preprocess(inputs))
        if alone:
            self.backbone.train()
        logits: torch.Tensor = self.head(self.features)
        return logits.float()

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return one logit per class, in evaluation mode."""
        with self.evaluating():
            logits: torch.Tensor = self.head(self.embed(inputs))
        return logits.float()

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the features, in evaluation mode."""
        if self._has_no_backbone:
            return inputs
        with self.evaluating():
            found = [self.backbone(self.preprocess(part)) for part in few(inputs, self._at_once)]
        return torch.cat(found).float()

    @property
    def _has_no_backbone(self) -> bool:
        return all(isinstance(part, nn.Identity) for part in (self.preprocess, self.backbone))

    def compile_network(self) -> None:
        """Compile the backbone."""
        self.backbone.compile()

    @property
    def _at_once(self) -> int:
        pixels = getattr(self.preprocess, "pixels", 0)
        if not pixels or self.device.type != "cpu":
            return _AT_ONCE
        return max(_CPU_PIXELS // pixels, _LEAST_AT_ONCE)

    def _set_classes(self, classes: int) -> None:
        self.head.set_classes(classes)

    def _sample(self, shape: tuple[int, ...]) -> torch.Tensor:
        if len(shape) == 1:
            return torch.zeros(1, *shape)
        sample: torch.Tensor = self.preprocess(torch.zeros(1, *shape, dtype=torch.uint8))
        return sample

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


class ImageInput(nn.Module):
    """Turns bytes (n, height, width, 3) into normalized images (n, 3, height, width).

    Parameters
    ----------
    shape
        The shape of one image: height, width, 3.
    scale
        Mean and standard deviation per colour.
    image_size
        What images are resized to; by default they are not.
    name, smallest
        What the model is called, and the fewest pixels a side that it can read.
    """

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(
        self,
        shape: tuple[int, ...],
        scale: Scale,
        image_size: int | None = None,
        *,
        name: str,
        smallest: int = 8,
    ) -> None:
        super().__init__()
        if len(shape) != 3 or shape[2] != 3:
            raise OnwardError(
                f"expected images (height, width, 3 colours), found inputs of the shape {shape}. "
                f"{name} cannot read features: choose the model linear or mlp"
            )
        if min(shape[:2]) < smallest:
            raise OnwardError(
                f"expected images of at least {smallest} pixels a side for {name}, found "
                f"{shape[0]} x {shape[1]}. Choose a larger size"
            )
        self.image_size = None if image_size is None else (image_size, image_size)
        height, width = self.image_size or shape[:2]
        self.pixels = height * width
        mean, std = scale_of(scale)
        # Constants, not weights: they move along with the device and are in no checkpoint.
        self.register_buffer("mean", mean, persistent=False)
        self.register_buffer("std", std, persistent=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return normalized images of the right size."""
        pixels = normalised(images, (self.mean, self.std))
        if self.image_size is None or pixels.shape[2:] == self.image_size:
            return pixels
        return functional.interpolate(
            pixels, size=self.image_size, mode="bilinear", align_corners=False
        )


def image_classifier(
    make_backbone: Callable[[], nn.Module],
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    name: str,
    scale: Scale,
    head: str = "linear",
    image_size: int | None = None,
    weights: str | None = None,
    convert: Callable[[Weights, nn.Module], Weights] | None = None,
    normal: bool = False,
) -> Classifier:
    """Make a classifier of images stored as bytes."""
    preprocess = ImageInput(shape, scale, image_size, name=name)
    return Classifier(
        make_backbone,
        shape,
        classes,
        generator,
        head=head,
        normal=normal,
        preprocess=preprocess,
        weights=weights,
        convert=convert,
        name=name,
    )


def feature_count(backbone: nn.Module, sample: torch.Tensor) -> int:
    """Return how many features a backbone gives for one sample, or say what it gives instead.

    Examples
    --------
    >>> feature_count(nn.Linear(3, 8), torch.zeros(1, 3))
    8
    """
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


def linear_probe(
    shape: tuple[int, ...], classes: int, generator: torch.Generator, *, head: str = "linear"
) -> Classifier:
    """Make a classifier that is a head on features, and nothing else."""
    require_features(shape)
    return Classifier(nn.Identity, shape, classes, generator, head=head)


def mlp(
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    *,
    head: str = "linear",
    hidden_dim: int = 2048,
) -> Classifier:
    """Make a classifier with one hidden layer, by default of 2,048 units as in CLEAR."""
    width = require_features(shape)
    return Classifier(
        lambda: nn.Sequential(nn.Linear(width, hidden_dim), nn.ReLU()),
        shape,
        classes,
        generator,
        head=head,
    )


def require_features(shape: tuple[int, ...]) -> int:
    """Return the number of features of an input, or say that it has another shape."""
    if len(shape) != 1:
        raise OnwardError(
            f"expected inputs with one axis, their features; found the shape {shape}. A linear "
            "layer cannot read images: choose features, or the model resnet18"
        )
    return shape[0]
