"""What a detector sees in a batch of images."""

import zlib
from functools import cached_property
from typing import Any

import torch

from onward.models.torchvision_loader import torchvision

# Where a true box says whether it is a crowd's.
_CROWD = 5


class Sight:
    """A batch on its way through a region-based detector: its maps, then what may be an object.

    What follows depends on the question: `loss` compares with true boxes, `detections` decides,
    and `classified` says what is seen at any places.

    Proposals to learn from are drawn at random. The numbers are made of the images themselves:
    the same batch is compared at the same places, in a run that is resumed too, and nobody else's
    random numbers are touched.

    Parameters
    ----------
    net
        A module with torchvision's parts ``backbone``, ``rpn`` and ``roi_heads``.
    images
        Normalised and padded (images, 3, height, width).
    size
        Height and width without the padding.
    scale
        How many of its pixels are one of the pixels that boxes are given in, down and across.
    inputs
        The images as they came.
    """

    def __init__(
        self,
        net: Any,
        images: torch.Tensor,
        size: tuple[int, int],
        scale: tuple[float, float],
        inputs: torch.Tensor,
    ) -> None:
        down, across = scale
        self._net, self._inputs = net, inputs
        self._sizes = [size] * len(images)
        self._scale = images.new_tensor([across, down, across, down])
        # Some of torchvision's operators take 32 bits alone: a lower precision is that of the
        # backbone and of the first layers on its maps.
        self.maps: dict[str, torch.Tensor] = {
            name: values.float() for name, values in net.backbone(images).items()
        }
        objectness, moves = net.rpn.head([*self.maps.values()])
        # Of each level, how many places times shapes there are.
        self._levels = [level[0].numel() for level in objectness]
        listed = _detection("image_list").ImageList(images, self._sizes)
        self._anchors = net.rpn.anchor_generator(listed, [*self.maps.values()])
        joined = _detection("rpn").concat_box_prediction_layers(objectness, moves)
        self.objectness: torch.Tensor = joined[0].view(len(images), -1).float()
        self.moves: torch.Tensor = joined[1].view(len(images), -1, 4).float()

    @cached_property
    def features(self) -> torch.Tensor:
        """The mean of the coarsest map over all its places: one row per image."""
        return [*self.maps.values()][-1].mean((2, 3))

    @cached_property
    def proposals(self) -> list[torch.Tensor]:
        """Where there may be an object, image by image, best first."""
        rpn = self._net.rpn
        moves = self.moves.detach().reshape(-1, 4)
        boxes = rpn.box_coder.decode(moves, self._anchors).view(len(self.moves), -1, 4)
        found: list[torch.Tensor] = rpn.filter_proposals(
            boxes, self.objectness, self._sizes, self._levels
        )[0]
        return found

    def classified(self, places: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return for boxes of each image the outputs of all classes, and how each would move it."""
        heads = self._net.roi_heads
        seen = heads.box_head(heads.box_roi_pool(self.maps, places, self._sizes))
        logits, moves = heads.box_predictor(seen)
        return logits.float(), moves.float()

    def loss(self, targets: torch.Tensor) -> torch.Tensor:
        """Return Faster R-CNN's loss, with its graph.

        Parameters
        ----------
        targets
            True boxes as the task kind ``boxes`` has them. Those of crowds are nothing to learn
            from and left out, as is usual.
        """
        seed = zlib.crc32(self._inputs.cpu().contiguous().numpy().data)
        for part in (self._net.rpn, self._net.roi_heads):
            part.fg_bg_sampler.seed = seed
        true = [self._as_truth(rows) for rows in targets]
        with torch.enable_grad():
            return self._proposal_loss(true) + self._box_loss(true)

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

    def _as_truth(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        real = rows[(rows[:, 0] >= 0) & (rows[:, _CROWD] == 0)]
        # Class 0 is the background.
        return {"boxes": real[:, 1:5] * self._scale, "labels": real[:, 0].long() + 1}

    def _proposal_loss(self, true: list[dict[str, torch.Tensor]]) -> torch.Tensor:
        """Return how wrong the proposals are: is there an object, and where exactly."""
        rpn = self._net.rpn
        labels, matched = rpn.assign_targets_to_anchors(self._anchors, true)
        wanted = rpn.box_coder.encode(matched, self._anchors)
        there, where = rpn.compute_loss(
            self.objectness.reshape(-1, 1), self.moves.reshape(-1, 4), labels, wanted
        )
        found: torch.Tensor = there + where
        return found

    def _box_loss(self, true: list[dict[str, torch.Tensor]]) -> torch.Tensor:
        """Return how wrong the classes and corners of some proposals are."""
        heads = self._net.roi_heads
        places, _, labels, wanted = heads.select_training_samples([*self.proposals], true)
        logits, moves = self.classified(places)
        what, where = _detection("roi_heads").fastrcnn_loss(logits, moves, labels, wanted)
        found: torch.Tensor = what + where
        return found


def _detection(module: str) -> Any:
    """Return a module of torchvision's detectors."""
    return getattr(torchvision().models.detection, module)
