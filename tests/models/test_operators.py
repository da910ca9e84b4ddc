"""The plain operators, by hand and against torchvision's own."""

import sys
from typing import Any

import pytest
import torch

from onward.models.operators import nms, roi_align
from onward.models.torchvision_loader import torchvision


def corners(*boxes: tuple[float, ...]) -> torch.Tensor:
    return torch.tensor(boxes, dtype=torch.float32)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_nms_by_hand() -> None:
    # A chain: the second overlaps the first by 1/3 and the third the second by 1/3. The second
    # goes because of the first, and a box that is gone removes nobody.
    chain = corners((0, 0, 2, 1), (1, 0, 3, 1), (2, 0, 4, 1))
    assert nms(chain, torch.tensor([0.9, 0.8, 0.7]), 0.3).tolist() == [0, 2]
    assert nms(chain, torch.tensor([0.7, 0.9, 0.8]), 0.3).tolist() == [1]
    # An overlap of exactly the threshold stays.
    half = corners((0, 0, 2, 2), (0, 0, 2, 1))
    assert nms(half, torch.tensor([0.9, 0.8]), 0.5).tolist() == [0, 1]
    same = corners((0, 0, 1, 1), (0, 0, 1, 1), (0, 0, 0, 0), (0, 0, 0, 0))
    assert nms(same, torch.ones(4), 0.5).tolist() == [0, 2, 3]
    none = nms(torch.empty(0, 4), torch.empty(0), 0.5)
    assert none.tolist() == []
    assert none.dtype == torch.int64


def one_by_one(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> list[int]:
    """Return what stays, by the definition: the best one, then what it leaves, and so on."""
    left, kept = scores.argsort(descending=True, stable=True).tolist(), []
    while left:
        best, *left = left
        kept.append(best)
        low = torch.maximum(boxes[best, :2], boxes[left, :2])
        high = torch.minimum(boxes[best, 2:], boxes[left, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        over = shared / (areas[best] + areas[left] - shared) > threshold
        left = [box for box, gone in zip(left, over.tolist(), strict=True) if not gone]
    return kept


@pytest.mark.parametrize(("count", "threshold"), [(60, 0.3), (300, 0.7), (2300, 0.5)])
def test_nms_is_that_of_the_definition(count: int, threshold: float) -> None:
    at, size = torch.rand(count, 2, generator=generator()) * 40, torch.rand(count, 2) * 15
    boxes = torch.cat([at, at + size], 1)
    # Ties among the scores, which the first one wins.
    scores = (torch.rand(count, generator=generator(1)) * 50).round()
    assert nms(boxes, scores, threshold).tolist() == one_by_one(boxes, scores, threshold)


def test_roi_align_by_hand() -> None:
    # f(x, y) = x + 10 y is its own interpolation, so the mean of points is f of their mean.
    ramp = (torch.arange(8.0) + 10 * torch.arange(8.0)[:, None])[None, None]
    roi = torch.tensor([[0.0, 2, 4, 10, 8]])
    found = roi_align(ramp, roi, 0.5, 2, 2, 2, False)[0, 0]
    # On the map it reaches from (1, 2) to (5, 4): cells of 2 x 1, with centres (2, 2.5), ...
    torch.testing.assert_close(found, torch.tensor([[27.0, 29.0], [37.0, 39.0]]))
    moved = roi_align(ramp, roi, 0.5, 2, 2, 2, True)[0, 0]
    torch.testing.assert_close(moved, found - 5.5)
    # As many points as a cell has pixels: the mean stays the same.
    torch.testing.assert_close(roi_align(ramp, roi, 0.5, 2, 2, -1, False)[0, 0], found)


def test_points_beyond_the_edge() -> None:
    ones = torch.ones(1, 1, 4, 4)
    # One point per cell, at -0.5 (on the way out: the edge), 1.5 and 3.5, and 5.5 (nothing).
    roi = torch.tensor([[0.0, -1.5, 0, 6.5, 4]])
    found = roi_align(ones, roi, 1.0, 1, 4, 1, False)[0, 0, 0]
    assert found.tolist() == [1.0, 1.0, 1.0, 0.0]
    # A box without an extent is one pixel wide where pixels are not aligned.
    assert roi_align(ones, torch.tensor([[0.0, 1, 1, 1, 1]]), 1.0, 1, 1, 1, False).item() == 1
    assert roi_align(ones, torch.empty(0, 5), 1.0, 3, 2, 2, False).shape == (0, 1, 3, 2)


def regions() -> torch.Tensor:
    """Return boxes in two images, out of order, all inside them."""
    rng = generator(3)
    low = torch.rand(7, 2, generator=rng) * torch.tensor([50.0, 40.0])
    high = low + torch.rand(7, 2, generator=rng) * torch.tensor([30.0, 25.0])
    return torch.cat([torch.tensor([[1.0], [0], [1], [1], [0], [0], [1]]), low, high], 1)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("points", [1, 2, -1])
def test_roi_align_and_its_gradient_are_torchvisions(points: int, aligned: bool) -> None:
    vision = torchvision()
    # The written-out one of torchvision, not compiled; then whatever its users get.
    reference: Any = sys.modules["torchvision.ops.roi_align"]
    maps = torch.randn(2, 3, 9, 11, generator=generator(2), requires_grad=True)
    mine = roi_align(maps, regions(), 0.125, 3, 2, points, aligned)
    written = reference._roi_align.__wrapped__(maps, regions(), 0.125, 3, 2, points, aligned)
    called = vision.ops.roi_align(maps, regions(), (3, 2), 0.125, points, aligned)
    slope = torch.randn(mine.shape, generator=generator(4))
    (gradient,) = torch.autograd.grad(mine, maps, slope)
    for other in (written, called):
        torch.testing.assert_close(mine, other)
        (theirs,) = torch.autograd.grad(other, maps, slope)
        torch.testing.assert_close(gradient, theirs)


def test_the_gradient_of_roi_align_is_that_of_differences() -> None:
    maps = torch.randn(2, 2, 4, 5, dtype=torch.float64, generator=generator(), requires_grad=True)
    rois = torch.tensor([[0, 1.0, 2, 20, 25], [1, 5, 0, 39, 31]], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda m: roi_align(m, rois, 0.125, 2, 2, 2, True), maps)
