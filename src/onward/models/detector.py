"""Region-based detectors of torchvision's parts, and what they return for a batch of images."""

import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from onward import distributed
from onward.errors import OnwardError
from onward.models.model import Model, to_full_precision
from onward.models.pixels import Normalize, Scale
from onward.models.shared import drawing_from, forward_macs
from onward.models.torchvision_loader import torchvision

# COCO's limit of what is counted in an image.
_MAX_DETECTIONS = 100
# How many images are computed together where nothing is learned.
_BATCH_SIZE = 16
_PREDICTOR = "net.roi_heads.box_predictor."
# The column of a true box that says whether it is a crowd's.
_CROWD = 5


class Detector(Model):
    """Abstract: finds boxes in images of bytes; scaling and normalization are part of it.

    The outputs of `forward` are a `DetectorOutput`, which computes its own loss. Those of `predict`
    are rows of class, score and corners.

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
    image_size
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

    def __init__(
        self,
        shape: tuple[int, ...],
        classes: int,
        generator: torch.Generator,
        *,
        head: str = "linear",
        image_size: int | None = None,
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
        self._side = image_size or self.SIDE
        self._weights = None if weights is None else Path(weights).expanduser()
        self._normalize = Normalize(self.SCALE)
        self.net = self._new_net(classes, generator)
        self.macs = self._count_macs(shape)

    @property
    def class_rows(self) -> dict[str, torch.Tensor]:
        """The rows of the last layer by class, each with its four corners; not the background's."""
        known = 1 + self.classes
        return {
            name: values.detach().view(known, len(values) // known, *values.shape[1:])[1:]
            for name, values in self.named_parameters()
            if name.startswith(_PREDICTOR)
        }

    @property
    def classes(self) -> int:
        """The number of classes, without the background."""
        return int(self.net.roi_heads.box_predictor.cls_score.out_features) - 1

    def init_weights(self, generator: torch.Generator) -> None:
        """Initialize all weights anew, or load those of the file again."""
        self.net.load_state_dict(self._new_net(self.classes, generator).state_dict())

    def add_classes(self, classes: int, generator: torch.Generator) -> None:
        """Extend the last layer to this many classes; known ones keep their weights."""
        if classes > self.classes:
            before = self.net.roi_heads.box_predictor
            with drawing_from(generator):
                self._set_classes(classes)
            after = self.net.roi_heads.box_predictor
            with torch.no_grad():
                for new, old in zip(after.parameters(), before.parameters(), strict=True):
                    new[: len(old)] = old

    def compile_network(self) -> None:
        """Compile the backbone, whose images have one size; numbers of proposals change."""
        self.net.backbone.compile()

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return (images, 100, 6) of class, score and corners; class -1 where there are fewer."""
        with self.evaluating():
            parts = torch.split(inputs, _BATCH_SIZE)
            return torch.cat([self(part).detections(_MAX_DETECTIONS) for part in parts])

    def embed(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean of the coarsest map."""
        with self.evaluating():
            return torch.cat([self(part).features for part in torch.split(inputs, _BATCH_SIZE)])

    def forward(self, inputs: torch.Tensor) -> "DetectorOutput":
        """Return maps and proposals of a batch, from which losses are computed."""
        images = self._normalize(inputs)
        height, width = images.shape[2:]
        size = self._scaled(height, width)
        if size != (height, width):
            images = functional.interpolate(images, size, mode="bilinear", align_corners=False)
        below, beside = (-side % self.STRIDE for side in size)
        padded = functional.pad(images, (0, beside, 0, below))
        found = DetectorOutput(self.net, padded, size, inputs)
        self.features = found.features
        return found

    def _backbone(self) -> nn.Module:
        """Make what turns images into maps."""
        raise NotImplementedError

    def _parts(self, outputs: int) -> Any:
        """Make torchvision's detector with this many outputs, the background among them."""
        raise NotImplementedError

    def _load(self, net: nn.Module, path: Path) -> None:
        """Give a new detector the weights of a file."""
        raise OnwardError(f"expected no weights for {self.NAME}, which is trained from scratch")

    def _new_net(self, classes: int, generator: torch.Generator) -> nn.Module:
        with drawing_from(generator):
            parts = self._parts(classes + 1)
        for part in (parts.rpn, parts.roi_heads):
            part.fg_bg_sampler = _SeededSampler(part.fg_bg_sampler)
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
        self.net.roi_heads.box_predictor = new.to(last.cls_score.weight)

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        """Return what sides are scaled to."""
        if self._side is None:
            return height, width
        longest = self._side * self.LONGEST
        scale = min(self._side / min(height, width), longest / max(height, width))
        return round(height * scale), round(width * scale)

    def _count_macs(self, shape: tuple[int, ...]) -> int:
        """Count the work on one image, with as many proposals as there may be."""
        padded = (side + -side % self.STRIDE for side in self._scaled(*shape[:2]))
        with torch.device("meta"):
            net: Any = copy.deepcopy(self.net).eval().to("meta")

            def all_layers(images: torch.Tensor) -> None:
                maps, heads = [*net.backbone(images).values()], net.roi_heads
                net.rpn.head(maps)
                grid = heads.box_roi_pool.output_size
                proposals = torch.zeros(net.rpn.post_nms_top_n(), maps[0].shape[1], *grid)
                heads.box_predictor(heads.box_head(proposals))

            return forward_macs(all_layers, torch.zeros(1, 3, *padded))


class DetectorOutput:
    """The outputs of a region-based detector for a batch: feature maps, then proposals.

    `loss` compares them with true boxes, `detections` returns what is found, and `classified` the
    outputs of the box head for any boxes. The proposals that a loss samples of an image are drawn
    with a seed that the image gives, the sum of its bytes: the same image has the same ones in a
    run that is resumed and in any process, and torch's generator is left alone.

    It is computed by the `net` of a `Detector` from images that are normalized, scaled to `size`
    and then padded; boxes are given in the pixels of `inputs`, the images as they came.
    """

    def __init__(
        self, net: Any, images: torch.Tensor, size: tuple[int, int], inputs: torch.Tensor
    ) -> None:
        self._net, self._inputs = net, inputs
        self._sizes = [size] * len(images)
        down, across = (side / before for side, before in zip(size, inputs.shape[1:], strict=False))
        self._scale = images.new_tensor([across, down, across, down])
        # Some of torchvision's operators take 32 bits alone: a lower precision is that of the
        # backbone and of the first layers on its maps.
        self.maps: dict[str, torch.Tensor] = {
            name: to_full_precision(values) for name, values in net.backbone(images).items()
        }
        objectness, moves = net.rpn.head([*self.maps.values()])
        # Of each level, how many anchors there are.
        self._levels = [level[0].numel() for level in objectness]
        detection = torchvision().models.detection
        listed = detection.image_list.ImageList(images, self._sizes)
        self._anchors = net.rpn.anchor_generator(listed, [*self.maps.values()])
        joined = detection.rpn.concat_box_prediction_layers(objectness, moves)
        self.objectness = to_full_precision(joined[0].view(len(images), -1))
        self.moves = to_full_precision(joined[1].view(len(images), -1, 4))

    @cached_property
    def features(self) -> torch.Tensor:
        """The mean of the coarsest map: one row per image."""
        return [*self.maps.values()][-1].mean((2, 3))

    @cached_property
    def proposals(self) -> list[torch.Tensor]:
        """Boxes that may hold an object, image by image, best first."""
        rpn = self._net.rpn
        moves = self.moves.detach().reshape(-1, 4)
        boxes = rpn.box_coder.decode(moves, self._anchors).view(len(self.moves), -1, 4)
        found: list[torch.Tensor] = rpn.filter_proposals(
            boxes, self.objectness, self._sizes, self._levels
        )[0]
        return found

    def classified(self, places: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return for boxes of each image the logits of all classes, and how each would move it."""
        heads = self._net.roi_heads
        seen = heads.box_head(heads.box_roi_pool(self.maps, places, self._sizes))
        logits, moves = heads.box_predictor(seen)
        return to_full_precision(logits), to_full_precision(moves)

    def loss(self, targets: torch.Tensor) -> torch.Tensor:
        """Return Faster R-CNN's loss, with its graph.

        Targets are true boxes as the task kind ``boxes`` has them. Those of crowds are left out, as
        is usual.
        """
        rpn, heads = self._net.rpn, self._net.roi_heads
        seeds = self._inputs.flatten(1).sum(1).tolist()
        rpn.fg_bg_sampler.seeds = heads.fg_bg_sampler.seeds = seeds
        real = [rows[(rows[:, 0] >= 0) & (rows[:, _CROWD] == 0)] for rows in targets]
        # Class 0 is the background.
        true = [
            {"boxes": rows[:, 1:5].to(self._scale) * self._scale, "labels": rows[:, 0].long() + 1}
            for rows in real
        ]
        with torch.enable_grad():
            labels, matched = rpn.assign_targets_to_anchors(self._anchors, true)
            wanted = rpn.box_coder.encode(matched, self._anchors)
            proposal_losses = rpn.compute_loss(
                self.objectness.reshape(-1, 1), self.moves.reshape(-1, 4), labels, wanted
            )
            places, _, labels, wanted = heads.select_training_samples([*self.proposals], true)
            box_loss = torchvision().models.detection.roi_heads.fastrcnn_loss
            box_losses = box_loss(*self.classified(places), labels, wanted)
        weights = self._loss_weights(rpn.fg_bg_sampler.sampled, heads.fg_bg_sampler.sampled)
        total: torch.Tensor = sum(proposal_losses) * weights[0] + sum(box_losses) * weights[1]
        return total

    def _loss_weights(self, *sampled: int) -> list[float]:
        """Return the factors of losses that are means over sampled anchors, or over proposals.

        Images may have different numbers of them. Of a batch that is shared out, the losses of all
        processes then make the mean over what all of them have sampled.
        """
        if not distributed.is_sharing():
            return [1.0] * len(sampled)
        own = self.moves.new_tensor([len(self._sizes), *sampled])
        (every,) = distributed.all_reduce(own)
        return [float((own[n] / own[0]) / (every[n] / every[0])) for n in range(1, len(own))]

    def detections(self, most: int) -> torch.Tensor:
        """Return class, score and corners of what is found, class -1 where there is less."""
        logits, moves = self.classified(self.proposals)
        found = self._net.roi_heads.postprocess_detections(
            logits / self._net.temperature, moves, self.proposals, self._sizes
        )
        rows = logits.new_zeros(len(self._sizes), most, 6)
        rows[..., 0] = -1
        for row, boxes, scores, labels in zip(rows, *found, strict=True):
            count = len(labels)
            row[:count, 0], row[:count, 1] = labels - 1, scores
            row[:count, 2:] = boxes / self._scale
        return rows


class _SeededSampler:
    """torchvision's sampler of anchors or proposals; draws on the CPU, by a seed for each image.

    ``sampled`` is how many it has sampled in the last call.
    """

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        self.seeds: list[int] = []
        self.sampled = 0

    def __call__(self, matched: list[torch.Tensor]) -> list[list[torch.Tensor]]:
        """Return masks of the chosen ones with and without an object, image by image."""
        with torch.random.fork_rng(devices=[]):
            masks: tuple[list[torch.Tensor], list[torch.Tensor]] = [], []
            for labels, seed in zip(matched, self.seeds, strict=True):
                torch.default_generator.manual_seed(seed)
                for known, found in zip(masks, self._sampler([labels.cpu()]), strict=True):
                    known += found
        self.sampled = sum(int(mask.sum()) for part in masks for mask in part)
        return [[mask.to(matched[0].device) for mask in part] for part in masks]
