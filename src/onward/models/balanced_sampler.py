"""Which places of an image a detector learns from."""

from typing import Any

import torch


class BalancedSampler:
    """Chooses some places with an object and some without, as another one of torchvision does.

    Unlike that it draws from a ``seed``, and not from the generator that all of torch shares.
    """

    def __init__(self, other: Any) -> None:
        self._count = other.batch_size_per_image
        # How many places with an object there are at most.
        self._most = int(self._count * other.positive_fraction)
        self.seed = 0

    def __call__(
        self, matched: list[torch.Tensor]
    ) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Return masks of the chosen places with and without an object, image by image.

        A place that is matched above 0 has an object, at 0 none, and below 0 is neither.
        """
        generator = torch.Generator().manual_seed(self.seed)
        with_object, without = [], []
        for labels in matched:
            found = _chosen(labels >= 1, self._most, generator)
            with_object.append(found)
            without.append(_chosen(labels == 0, self._count - int(found.sum()), generator))
        return with_object, without


def _chosen(possible: torch.Tensor, most: int, generator: torch.Generator) -> torch.Tensor:
    places = possible.nonzero()[:, 0]
    drawn = torch.randperm(len(places), generator=generator)[:most]
    return torch.zeros_like(possible).index_fill_(0, places[drawn], value=True)
