"""Outputs of two runs that may differ in their last bits."""

import numpy as np

from onward.types import Array

# Detections with a score below 0.05 are left out.
_LOW = 0.06


def comparable(outputs: Array) -> Array:
    """Return outputs; of detections (image, place, 6) the ten best scores of each image.

    Detections whose scores are close to each other or to the threshold change places and come and
    go with the last bits.
    """
    if outputs.ndim == 3 and outputs.shape[2] == 6:
        return np.sort(outputs[..., 1].clip(_LOW), 1)[:, -10:]
    return outputs
