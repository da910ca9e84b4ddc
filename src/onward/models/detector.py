"""Any region-based detector of torchvision's parts, trained by autograd."""

import copy
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from onward.errors import OnwardError
from onward.models.balanced_sampler import BalancedSampler
from onward.models.model import Model
from onward.models.pixels import Scale, normalised, scale_of
from onward.models.shared import drawing_from, few, forward_macs
from onward.models.sight import Sight

# COCO's limit of what is counted in an image.
_MOST = 100
# How many images are looked at together where nothing is learned.
_AT_A_TIME = 16
_LAST = "net.roi_heads.box_predictor."


class Detector(Model):
    """Abstract: finds boxes in images of bytes; scaling and normalisation are part of it.

    The outputs of `forward` are a `Sight`, which computes its own loss. Those of `predict` are rows
    of class, score and corners.

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
    # Its images share one loss.
    uses_batch_statistics = True
    is_detector = True
    mean: torch.Tensor
    std: torch.Tensor

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
        super().__init__()
        if len(shape) != 3 or shape[2] != 3:
            raise OnwardError(
                f"expected images (height, width, 3 colours) for {self.NAME}, found inputs of the "
                f"shape {shape}"
            )
        if head != "linear":
            raise OnwardError(f"expected a linear head for {self.NAME}, found {head!r}")
        self._side = side or self.SIDE
        self._weights = None if weights is None else Path(weights).expanduser()
        for name, values in zip(("mean", "std"), scale_of(self.SCALE), strict=True):
            self.register_buffer(name, values, persistent=False)
        self.net = self._made(classes, generator)
        self.macs = self._count_macs(shape)

    @property
    def class_rows(self) -> dict[str, torch.Tensor]:
        """The rows of the last layer by class, each with its four corners; not the background's."""
        known = 1 + self.classes
        return {
            name: values.detach().view(known, len(values) // known, *values.shape[1:])[1:]
            for name, values in self.named_parameters()
            if name.startswith(_LAST)
        }

    @property
    def classes(self) -> int:
        """How many classes it knows."""
        return int(self.net.roi_heads.box_predictor.cls_score.out_features) - 1

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, or load those of the file again."""
        self.net.load_state_dict(self._made(self.classes, generator).state_dict())

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Extend the last layer to this many classes; known ones keep their weights."""
        if classes > self.classes:
            before = self.net.roi_heads.box_predictor
            with drawing_from(generator):
                self._set_classes(classes)
            after = self.net.roi_heads.box_predictor
            with torch.no_grad():
                for mine, theirs in zip(after.parameters(), before.parameters(), strict=True):
                    mine[: len(theirs)] = theirs

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return what is found: (images, 100, 6) of class, score and corners, class -1 behind."""
        with self.evaluating():
            return torch.cat([self(some).detections(_MOST) for some in few(inputs, _AT_A_TIME)])

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean of the coarsest map."""
        with self.evaluating():
            return torch.cat([self(some).features for some in few(inputs, _AT_A_TIME)])

    def forward(self, inputs: torch.Tensor) -> Sight:
        """Return what is found in a batch: maps and proposals, from which losses are computed."""
        images = normalised(inputs, (self.mean, self.std))
        height, width = images.shape[2:]
        size = self._scaled(height, width)
        if size != (height, width):
            images = functional.interpolate(images, size, mode="bilinear", align_corners=False)
        below, beside = (-side % self.STRIDE for side in size)
        found = Sight(
            self.net,
            functional.pad(images, (0, beside, 0, below)),
            size,
            (size[0] / height, size[1] / width),
            inputs,
        )
        self.features = found.features
        return found

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

    def _set_classes(self, classes: int) -> None:
        last = self.net.roi_heads.box_predictor
        # The weights of a teacher are drawn to be overwritten: that must not advance the generator.
        with torch.random.fork_rng(devices=[]):
            new = type(last)(last.cls_score.in_features, classes + 1)
        self.net.roi_heads.box_predictor = new.to(last.cls_score.weight.device)

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
            work = _Work(copy.deepcopy(self.net)).eval().to("meta")
            return forward_macs(work, torch.zeros(1, 3, *padded))


class _Work(nn.Module):
    """All matrix products of a detector, without its decisions."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.net = net

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Run all parts on one image, the last one on as many proposals as there may be."""
        rpn, heads = self.net.rpn, self.net.roi_heads
        maps = [*self.net.backbone(images).values()]
        rpn.head(maps)
        grid = heads.box_roi_pool.output_size
        proposals = torch.zeros(rpn.post_nms_top_n(), maps[0].shape[1], *grid)
        found: torch.Tensor = heads.box_predictor(heads.box_head(proposals))[0]
        return found
