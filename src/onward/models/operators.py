"""The operators of torchvision that detectors need, written in plain torch.

They stand in where torchvision's compiled ones do not fit the torch beside it, see
`onward.models.torchvision_loader`.
"""

import torch

# So many boxes are compared with each other at a time: a matrix of a million overlaps.
_AT_A_TIME = 1000


def nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Return which boxes stay, best first: each removes those that overlap it too much.

    Parameters are those of `torchvision.ops.nms`.

    Examples
    --------
    >>> boxes = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1], [5, 5, 6, 6]])
    >>> nms(boxes, torch.tensor([0.9, 0.8, 0.95]), 0.4).tolist()
    [2, 0]
    """
    from onward.models.torchvision_loader import torchvision  # which loads these operators

    overlap = torchvision().ops.box_iou
    order = scores.argsort(descending=True, stable=True)
    kept = order[:0]
    for start in range(0, len(order), _AT_A_TIME):
        some = order[start : start + _AT_A_TIME]
        if len(kept):
            some = some[~(overlap(boxes[kept], boxes[some]) > iou_threshold).any(0)]
        # Two empty boxes give 0 / 0, which is not above any threshold: both stay.
        removes = (overlap(boxes[some], boxes[some]) > iou_threshold).triu(1)
        # Who stays depends on who of the better ones stays: right for the first one at once, and
        # for one more at least with every round, so what no longer changes is right for all.
        stays = ~removes.any(0)
        while not torch.equal(stays, now := ~(removes & stays[:, None]).any(0)):
            stays = now
        kept = torch.cat([kept, some[stays]])
    return kept


def roi_align(
    features: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,  # noqa: FBT001 - as torchvision calls it
) -> torch.Tensor:
    """Return the part of a map that lies below each box, as a grid of means.

    Each cell of the grid is the mean of some points between pixels. A point's weights factor into
    those of its row and of its column, so a whole map is pooled by two matrix products.

    Parameters are those of `torchvision.ops.roi_align`; `rois` has one row per box, the number of
    its image before its corners.

    Examples
    --------
    >>> ramp = torch.arange(4.0).expand(1, 1, 4, 4)
    >>> roi_align(ramp, torch.tensor([[0.0, 0, 0, 2, 2]]), 1.0, 1, 2, 1, False).flatten().tolist()
    [0.5, 1.5]
    """
    corners = rois[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    sizes = corners[:, 2:] - corners[:, :2]
    if not aligned:
        sizes = sizes.clamp(min=1.0)
    height, width = features.shape[-2:]
    rows = _weights(corners[:, 1], sizes[:, 1], pooled_height, height, sampling_ratio)
    columns = _weights(corners[:, 0], sizes[:, 0], pooled_width, width, sampling_ratio)
    found = features.new_zeros(len(rois), features.shape[1], pooled_height, pooled_width)
    for number, image in enumerate(features):
        here = (rois[:, 0] == number).nonzero()[:, 0]
        if len(here):
            # (boxes, rows of the grid, channels, width), then the columns of the grid.
            across = torch.tensordot(rows[here], image, dims=([2], [1]))
            pooled = across.flatten(1, 2) @ columns[here].transpose(1, 2)
            grids = pooled.unflatten(1, across.shape[1:3]).transpose(1, 2)
            found = found.index_copy(0, here, grids)
    return found


def _weights(
    start: torch.Tensor, size: torch.Tensor, cells: int, pixels: int, points: int
) -> torch.Tensor:
    """Return how much each pixel of an axis counts in each cell: (boxes, cells, pixels)."""
    step = size / cells
    wanted = torch.full_like(step, points) if points > 0 else step.ceil().clamp(min=1)
    device = start.device
    point = torch.arange(int(wanted.max()) if len(wanted) else 0, device=device)
    inside = (point + 0.5) / wanted[:, None] * step[:, None]
    first = start[:, None] + torch.arange(cells, device=device) * step[:, None]
    at = first[..., None] + inside[:, None]
    # A point further out than one pixel counts as nothing, one on the way there as the edge.
    used = (at >= -1) & (at <= pixels) & (point < wanted[:, None])[:, None]
    away = (at.clamp(0, pixels - 1)[..., None] - torch.arange(pixels, device=device)).abs()
    share = (1 - away).clamp(min=0) * used[..., None]
    return share.sum(2) / wanted[:, None, None]
