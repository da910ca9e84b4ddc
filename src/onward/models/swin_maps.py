"""The stages of a Swin transformer as maps."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from onward.models.torchvision_loader import torchvision


class SwinMaps(nn.Module):
    """A Swin transformer below a detector: what some of its stages see, each normalised.

    It has no random depth, so that two runs see the same. Its stages lie at every other place of
    torchvision's list of layers, each behind what makes the map coarser.

    Parameters
    ----------
    widths, depths, heads
        How many channels, layers and heads each stage has; each is twice as wide as the last.
    window
        How many places a layer looks at, to each side.
    first
        The first stage that is shown.

    References
    ----------
    Liu et al., Swin Transformer, ICCV 2021.
    """

    def __init__(
        self,
        widths: Sequence[int],
        depths: Sequence[int],
        heads: Sequence[int],
        window: int,
        *,
        first: int = 0,
    ) -> None:
        super().__init__()
        made: Any = torchvision().models.SwinTransformer(
            patch_size=[4, 4],
            embed_dim=widths[0],
            depths=[*depths],
            num_heads=[*heads],
            window_size=[window, window],
            stochastic_depth_prob=0.0,
            num_classes=1,
        )
        self.body = made.features
        self._first = first
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in widths[first:])

    def forward(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Return a map for each stage, the finest first."""
        seen, stages = images, []
        for place, layer in enumerate(self.body):
            seen = layer(seen)
            if place % 2:
                stages.append(seen)
        shown = zip(self.norms, stages[self._first :], strict=True)
        # Transformers have channels last.
        return [norm(stage).permute(0, 3, 1, 2) for norm, stage in shown]
