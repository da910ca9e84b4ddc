"""Lets torchvision be imported where its compiled operators do not fit the torch beside it."""

import sys

import torch

_LIBRARIES = []


def mend_torchvision() -> None:
    """Define the operators that its import asks for; what is measured uses none of them."""
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)  # the operators live as long as it does
