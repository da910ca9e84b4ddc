"""Any region-based detector of torchvision's parts, trained by autograd."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import nn
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.balanced_sampler import BalancedSampler
from onward.models.pixels import Scale, normalised, scale_of
from onward.models.shared import Trained, drawing_from, few, forward_macs, gradients_of, overwrite
from onward.models.sight import Sight

# COCO's limit of what is counted in an image.
_MOST = 100
# How many images are looked at together where nothing is learned.
_AT_A_TIME = 16
_LAST = "roi_heads.box_predictor."


class Detector(Trained):
    """Abstract: finds boxes in images of bytes; scaling and normalisation are part of it.

    The outputs of `forward` are a `Sight`, whose `loss` brings its own graph, so `backward` takes
    that number in place of a slope. Those of `predict` are rows of class, score and corners.

    Each one says by class attributes how images are brought to it, and makes its parts.

    Parameters
    ----------
    shape
        The shape of one image: height, width, 3.
    classes
        The number of classes to begin with; the background is one more.
    generator
        Draws the weights.
    head
        Has to be ``linear``.
    side
        What the shorter side of images is scaled to, and the longer one to no more than 5/3 of it;
        by default what `SIDE` says.
    weights
        A file with weights to start from, also when they are drawn anew.
    """

    NAME: str
    SCALE: Scale
    # What the shorter side of images is scaled to: None, not at all.
    SIDE: int | None = None
    # What sides are padded to a multiple of.
    STRIDE: int
    # As torchvision does: 800 and 1,333 pixels.
    LONGEST = 5 / 3
    # Its images share one loss, whose graph goes through all of them.
    mixes = True
    shares_loss = True

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
        if len(shape) != 3 or shape[2] != 3:
            raise OnwardError(
                f"expected images (height, width, 3 colours) for {self.NAME}, found inputs of the "
                f"shape {shape}"
            )
        if head != "linear":
            raise OnwardError(f"expected a linear head for {self.NAME}, found {head!r}")
        self._side = side or self.SIDE
        self._weights = None if weights is None else Path(weights).expanduser()
        self._scale = scale_of(self.SCALE)
        self._take(self._made(classes, generator))
        self._features: torch.Tensor | None = None
        self.macs = self._count_macs(shape)

    @property
    def features(self) -> torch.Tensor:
        """The mean of the coarsest map of the last `forward`."""
        if self._features is None:
            raise RuntimeError("features were asked for before forward")
        return self._features

    @property
    def head(self) -> dict[str, torch.Tensor]:
        """The rows of the last layer by class, each with its four corners; not the background's."""
        known = 1 + self.classes
        return {
            name: values.view(known, len(values) // known, *values.shape[1:])[1:]
            for name, values in self.parameters.items()
            if name.startswith(_LAST)
        }

    @property
    def classes(self) -> int:
        """How many classes it knows."""
        return int(self._net.roi_heads.box_predictor.cls_score.out_features) - 1

    def reset(self, generator: torch.Generator) -> None:
        """Draw all weights anew, or begin again with those of the file."""
        overwrite(self, self._made(self.classes, generator).state_dict())

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Make room for this many classes in the last layer; those known before keep theirs."""
        if classes > self.classes:
            before = self._net.roi_heads.box_predictor
            with drawing_from(generator):
                after = self._predictor(classes)
            with torch.no_grad():
                for mine, theirs in zip(after.parameters(), before.parameters(), strict=True):
                    mine[: len(theirs)] = theirs
            self._net.roi_heads.box_predictor = after
            self._take(self._net)

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return what is found: (images, 100, 6) of class, score and corners, class -1 behind."""
        with torch.no_grad():
            return torch.cat(
                [self._look(some).detections(_MOST) for some in few(inputs, _AT_A_TIME)]
            )

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean of the coarsest map."""
        with torch.no_grad():
            return torch.cat([self._look(some).features for some in few(inputs, _AT_A_TIME)])

    def forward(self, inputs: torch.Tensor) -> Any:
        """Return a `Sight`, what is seen in a batch, with its graph."""
        with torch.enable_grad():
            found = self._look(inputs, training=True)
        self._features = found.features.detach()
        return found

    def sees(self, inputs: torch.Tensor) -> Sight:
        """Return what is seen in a batch, without a graph: what a teacher is asked."""
        with torch.no_grad():
            return self._look(inputs)

    def backward(self, slope: torch.Tensor, feature_slope: torch.Tensor | None = None) -> None:
        """Set the gradient of a loss on all parameters that it depends on."""
        if feature_slope is not None:
            raise OnwardError(f"expected no slope at the features of {self.NAME}, found one")
        for name, gradient in gradients_of(self._net, slope, again=True).items():
            self.parameters[name].grad = gradient

    def forget(self) -> None:
        """Let go of the last features."""
        self._features = None

    def squared_gradient(self, inputs: torch.Tensor, slopes: torch.Tensor) -> NoReturn:
        """Raise: there are no slopes by sample, since images share one loss."""
        raise OnwardError("expected a loss of its own for each image, found one for all of them")

    def frozen(self, weights: Mapping[str, torch.Tensor], classes: int) -> "Detector":
        """Return a detector with other weights and statistics."""
        other = copy.copy(self)
        net = copy.deepcopy(self._net)
        if classes != self.classes:
            net.roi_heads.box_predictor = self._predictor(classes)
        net.load_state_dict(weights)
        other._take(net.requires_grad_(requires_grad=False))
        return other

    def _parts(self, outputs: int) -> Any:
        """Make torchvision's detector with this many outputs, the background among them."""
        raise NotImplementedError

    def _load(self, net: nn.Module, path: Path) -> None:
        """Give a new detector the weights of a file."""
        raise OnwardError(f"expected no weights for {self.NAME}, which is trained from scratch")

    def _made(self, classes: int, generator: torch.Generator) -> nn.Module:
        with drawing_from(generator):
            parts = self._parts(classes + 1)
        for part in (parts.rpn, parts.roi_heads):
            part.fg_bg_sampler = BalancedSampler(part.fg_bg_sampler)
        net = nn.Module()
        net.backbone, net.rpn, net.roi_heads = parts.backbone, parts.rpn, parts.roi_heads
        # What outputs are divided by before they become probabilities: some methods say so.
        net.register_buffer("temperature", torch.ones(1))
        if self._weights is not None:
            self._load(net, self._weights)
        return net

    def _predictor(self, classes: int) -> Any:
        last = self._net.roi_heads.box_predictor
        return type(last)(last.cls_score.in_features, classes + 1)

    def _take(self, net: Any) -> None:
        """Show the weights without their graph: who changes them in place changes the detector."""
        self._net = net
        self.parameters = {name: p.detach() for name, p in net.named_parameters()}
        self.buffers = dict(net.named_buffers())

    def _look(self, inputs: torch.Tensor, *, training: bool = False) -> Sight:
        if self._net.training != training:
            self._net.train(training)
        images = normalised(inputs, self._scale)
        height, width = images.shape[2:]
        size = self._scaled(height, width)
        if size != (height, width):
            images = functional.interpolate(images, size, mode="bilinear", align_corners=False)
        below, beside = (-side % self.STRIDE for side in size)
        return Sight(
            self._net,
            functional.pad(images, (0, beside, 0, below)),
            size,
            (size[0] / height, size[1] / width),
            inputs,
        )

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        """Return what sides are scaled to."""
        if self._side is None:
            return height, width
        longest = self._side * self.LONGEST
        scale = min(self._side / min(height, width), longest / max(height, width))
        return round(height * scale), round(width * scale)

    def _count_macs(self, shape: tuple[int, ...]) -> int:
        """Count the work on one image, with all its proposals."""
        height, width = self._scaled(*shape[:2])
        padded = height + -height % self.STRIDE, width + -width % self.STRIDE
        with torch.device("meta"):
            return forward_macs(_Work(copy.deepcopy(self._net)).eval().to("meta"), (3, *padded))


class _Work(nn.Module):
    """All matrix products of a detector, without its decisions."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self._net = net

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Run all parts on one image, the last one on as many proposals as there may be."""
        rpn, heads = self._net.rpn, self._net.roi_heads
        maps = [*self._net.backbone(images).values()]
        rpn.head(maps)
        grid = heads.box_roi_pool.output_size
        proposals = torch.zeros(rpn.post_nms_top_n(), maps[0].shape[1], *grid)
        found: torch.Tensor = heads.box_predictor(heads.box_head(proposals))[0]
        return found
