"""Features that go with an exported stream, so that a linear probe learns from it at once."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.curate.exported import Exported
from onward.curate.stage import open_stage
from onward.curate.store import Store
from onward.data.features import hog_colour, standardise
from onward.data.folder_images import opened_image, rgb_bytes, square
from onward.errors import OnwardError, first_few

HOG, CLIP = "hog", "clip"
_SIDE = 32
_AT_ONCE = 256


def drawn_features(
    samples: Sequence[Exported], progress: Callable[[int], None] = lambda done: None
) -> NDArray[np.float32]:
    """Return outline and colour of each image, on the scale of the earliest labelled bucket.

    Nothing later is looked at for the scale: a stream must not know its future.
    """
    parts = []
    for start in range(0, len(samples), _AT_ONCE):
        some = samples[start : start + _AT_ONCE]
        parts.append(hog_colour(np.stack([_drawing(one) for one in some])))
        progress(len(some))
    features = np.concatenate(parts)
    first = min(one.bucket for one in samples)
    past = np.array([one.bucket == first for one in samples])
    return standardise(features, features[past])


def stored_features(samples: Sequence[Exported], embedded: Path) -> NDArray[np.float32]:
    """Return the directions of each image out of a folder of ``onward curate embed``."""
    open_stage(embedded, "embed")
    ids = np.array([one.id for one in samples])
    found, there = Store.open(embedded).of(pa.array(ids))
    if not there.all():
        raise OnwardError(
            f"expected a direction of every image in {embedded}, found none of "
            f"{first_few(sorted(ids[~there].tolist()))}. Embed the same images, or leave "
            "--features out"
        )
    return found


def _drawing(one: Exported) -> NDArray[np.uint8]:
    with opened_image(one.place.read(), lambda: str(one.place.path)) as image:
        pixels = rgb_bytes(square(image.convert("RGB"), _SIDE))
    return np.concatenate([pixels, np.full_like(pixels[..., :1], 255)], axis=2)
