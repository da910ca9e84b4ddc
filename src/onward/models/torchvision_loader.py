"""Loading torchvision, also where its compiled operators do not fit the torch beside it.

Some registries pair a CPU build of torch with a CUDA build of torchvision, whose `import` then
stops at the operator ``torchvision::nms``. Architectures, which are plain torch, need none of its
operators; detectors need two, and get those of `onward.models.operators`, written in torch.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

import torch

from onward.extras import need
from onward.models.operators import nms, roi_align

_NMS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_ROI_ALIGN = (
    "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor"
)


def torchvision() -> Any:
    """Return the module torchvision, with the operators that its import asks for."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    folder = need("torchvision", "which has image models and augmentations", "vision")
    if _compiled_operators_load(folder):
        return importlib.import_module("torchvision")
    for name, schema in (("nms", _NMS), ("qnms", _NMS), ("roi_align", _ROI_ALIGN)):
        torch.library.define(f"torchvision::{name}", schema)
    torch.library.impl("torchvision::nms", "CompositeExplicitAutograd", nms)
    # Made of other operators, which know their gradients.
    torch.library.impl("torchvision::roi_align", "CompositeImplicitAutograd", roi_align)
    module: Any = importlib.import_module("torchvision")
    # It asks whether its compiled operators are there before it calls ours.
    for part in ("boxes", "roi_align"):
        asking: Any = sys.modules[f"torchvision.ops.{part}"]
        asking._assert_has_ops, asking._has_ops = lambda: None, lambda: True
    return module


def transforms() -> Any:
    """Return the module torchvision.transforms.v2."""
    torchvision()  # by this loader first
    return importlib.import_module("torchvision.transforms.v2")


def _compiled_operators_load(folder: Path) -> bool:
    """Load torchvision's library as its own import will, and say whether that worked."""
    for library in folder.glob("_C*"):
        try:
            torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]
        except OSError:
            return False
    return hasattr(torch.ops.torchvision, "nms")
