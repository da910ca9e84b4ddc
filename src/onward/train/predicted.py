"""What a model says about all samples of a view."""

import torch
from torch.utils.dlpack import from_dlpack

from onward.models.model import Model
from onward.pairs import as_bytes
from onward.types import Array, View


def predicted(model: Model, view: View) -> Array:
    """Return a model's outputs for a view, which is read part by part."""
    outputs = [model.predict(from_dlpack(as_bytes(part))) for part in view.parts()]
    return torch.cat(outputs).numpy()
