"""Loading torchvision, also where its compiled operators do not fit the torch beside it.

Some registries pair a CPU build of torch with a CUDA build of torchvision, whose `import` then
stops at the operator ``torchvision::nms``. Architectures, which are plain torch, need none of its
operators; detectors need `nms` alone, and get one that is written in torch.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch

from onward.errors import OnwardError

_OPERATORS = ("nms", "qnms")
_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def torchvision() -> Any:
    """Return the module torchvision, with the operators that its import asks for."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    found = importlib.util.find_spec("torchvision")
    if found is None or found.origin is None:
        raise OnwardError(
            "expected torchvision, which has the architectures of image models, found none. "
            "Install it: pip install 'onward[vision]'"
        )
    if _compiled_operators_load(Path(found.origin).parent):
        return importlib.import_module("torchvision")
    _define_operators()
    module: Any = importlib.import_module("torchvision")
    # It asks whether its compiled operators are there before it calls ours.
    module.ops.boxes._assert_has_ops = lambda: None
    return module


def nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Return which boxes stay, best first: each removes those that overlap it too much.

    Parameters
    ----------
    boxes
        Corners x1, y1, x2, y2, one row per box.
    scores
        One per box.
    iou_threshold
        A box goes if intersection over union with a better one is above this.

    Examples
    --------
    >>> boxes = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1], [5, 5, 6, 6]])
    >>> nms(boxes, torch.tensor([0.9, 0.8, 0.95]), 0.4).tolist()
    [2, 0]
    """
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    left = scores.argsort(descending=True, stable=True)
    kept = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        low = torch.maximum(boxes[best, :2], boxes[left, :2])
        high = torch.minimum(boxes[best, 2:], boxes[left, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        # Two empty boxes give 0 / 0, which is not above any threshold: both stay.
        left = left[~(shared / (areas[best] + areas[left] - shared) > iou_threshold)]
    return torch.stack(kept) if kept else left


def _compiled_operators_load(folder: Path) -> bool:
    """Load torchvision's library as its own import will, and say whether that worked."""
    for library in folder.glob("_C*"):
        try:
            torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]
        except OSError:
            return False
    return hasattr(torch.ops.torchvision, "nms")


def _define_operators() -> None:
    for name in _OPERATORS:
        torch.library.define(f"torchvision::{name}", _SCHEMA)
    torch.library.impl("torchvision::nms", "CPU", nms)
