"""Images varied while they are trained on, and never when they are predicted.

Crops and sizes are calls of Pillow, as they are in `torchvision.transforms.v2`, which is not
installed everywhere.
"""

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from PIL import Image

from onward.data.folder_images import random_part
from onward.data.variations import covered, moved, recoloured, seen_from_elsewhere, turned
from onward.errors import OnwardError
from onward.pairs import IMAGE
from onward.seeds import Draws, draws
from onward.train.recipe import Augment
from onward.types import Array, Rows
from onward.view import Reader


def which_mirrored(rng: np.random.Generator, count: int) -> Array:
    """Return which of so many images are mirrored: the first numbers that a variation draws."""
    return rng.random(count) < 0.5


def _mirror(images: Array, which: Array) -> None:
    """Mirror some images in their place."""
    # One by one and with the colours last, as torchvision's `horizontal_flip` of such an image:
    # torch has a kernel for that, which takes a tenth of the time of an index in numpy.
    import torch  # loaded when it is needed

    pixels = torch.from_numpy(images).permute(0, 3, 1, 2)
    for place in np.flatnonzero(which).tolist():
        pixels[place] = pixels[place].flip(-1)


def _every_other_mirrored(images: Array, rng: np.random.Generator) -> Array:
    found = images.copy()
    _mirror(found, which_mirrored(rng, len(images)))
    return found


# What is done to images as they are, one after the other.
_VARIED = {
    "flip_perspective_erasing": (_every_other_mirrored, seen_from_elsewhere, covered),
    "flip_rotation_color_jitter": (_every_other_mirrored, turned, recoloured),
    "random_affine": (moved,),
}
AUGMENTATIONS = get_args(Augment)
# The smallest share of an image's area that a part has.
_LEAST = {"random_resized_crop_flip": 0.08, "random_resized_crop": 0.9}
# How often a part that does not fit is tried again, as in torchvision.
_TRIES = 10
# How far an image without anything beyond its frame is shifted, as a share of its side.
_SHIFT = 1 / 8


def augmented(
    reader: Reader,
    positions: Rows,
    augment: str,
    key: tuple[int, ...],
    share: slice = slice(None),
) -> Array:
    """Return the images at these positions, each varied in its own way.

    Parameters
    ----------
    reader, positions
        Reads the samples that are trained on; those of one batch.
    augment
        ``flip`` mirrors every other image, at random. ``random_crop_flip`` also takes another crop
        along the longer edge where the data has one, as CLEAR does; where all there is is the
        square, it shifts it by up to an eighth and repeats its edge. ``padded_crop_flip`` always
        does that with black beyond the edge: of 32 pixels, four on each side, as is usual for
        CIFAR. ``random_resized_crop_flip`` cuts a random part out of an image and resizes it, as is
        usual for ImageNet; a square without more around it is shifted. ``random_resized_crop`` cuts
        out at least nine tenths and does not mirror, as open_clip does, also of pairs.
        ``flip_perspective_erasing`` and ``flip_rotation_color_jitter`` are those of CLAD's
        challenge, see `onward.data.variations`. ``random_affine`` moves drawings
        a little and does not mirror them; it and those of the challenge can be asked of pairs too.
    key
        What the variation is drawn from: the same again when a call is resumed.
    share
        Which of them are wanted, with ``random_resized_crop``: each is what it would be among all.
    """
    if augment not in AUGMENTATIONS:
        raise OnwardError(
            f"expected augment to be one of {', '.join(AUGMENTATIONS)}, found {augment!r}"
        )
    if len(reader.input_shape) != 3:
        raise OnwardError(
            f"expected images to augment, found inputs of the shape {reader.input_shape}. Choose "
            "augment none"
        )
    rng, count = draws(Draws.VARIATION, *key), len(positions)
    if augment == "random_resized_crop":
        tries = rng.random((count, _TRIES, 4))[share]
        images = reader.resized_parts(positions[share], tries, _LEAST[augment])
        if images is None:
            images = _changed(reader.read(positions[share]), _part_of_each, tries)
        return images
    if augment in _VARIED:
        return _changed(reader.read(positions), varied, augment, rng)
    mirrored = which_mirrored(rng, count)
    images = None
    if augment == "random_resized_crop_flip":
        tries = rng.random((count, _TRIES, 4))
        images = reader.resized_parts(positions, tries, _LEAST[augment])
    if augment != "flip" and images is None:
        at = rng.random((count, 2))
        images = reader.crops(positions, at[:, 0]) if augment == "random_crop_flip" else None
        if images is None:
            images = shifted(reader.read(positions), at, black=augment == "padded_crop_flip")
    images = reader.read(positions) if images is None else images
    _mirror(images, mirrored)
    return images


def varied(images: Array, augment: str, rng: np.random.Generator) -> Array:
    """Return images of bytes varied, as `augmented` does it to images as they are."""
    for change in _VARIED[augment]:
        images = change(images, rng)
    return images


def _changed(inputs: Array, change: Callable[..., Array], *options: Any) -> Array:
    """Return inputs whose images are changed: they are images, or pairs with a text."""
    images = inputs if inputs.dtype.names is None else inputs[IMAGE]
    images[...] = change(images, *options)
    return inputs


def _part_of_each(images: Array, tries: Array) -> Array:
    """Return most of each square, in its size, where there is nothing more around it."""
    options = _LEAST["random_resized_crop"], Image.Resampling.BICUBIC
    return np.stack(
        [
            random_part(Image.fromarray(image), len(image), numbers, *options)
            for image, numbers in zip(images, tries, strict=True)
        ]
    )


def shifted(images: Array, at: Array, *, black: bool = False) -> Array:
    """Shift images down and right by shares of ±1/8 of their sides; edges are repeated, or black.

    Examples
    --------
    >>> image = np.arange(8).reshape(1, 1, 8, 1)
    >>> shifted(image, np.array([[0.5, 0.99]])).ravel().tolist()
    [1, 2, 3, 4, 5, 6, 7, 7]
    >>> shifted(image, np.array([[0.5, 0.99]]), black=True).ravel().tolist()
    [1, 2, 3, 4, 5, 6, 7, 0]
    """
    places, inside = [], []
    for axis in (0, 1):
        side = images.shape[1 + axis]
        most = int(side * _SHIFT)
        offset = (at[:, axis] * (2 * most + 1)).astype(np.int64) - most
        place = np.arange(side) + offset[:, None]
        places.append(np.clip(place, 0, side - 1))
        inside.append(place == places[-1])
    rows, columns = places
    each = np.arange(len(images))[:, None, None]
    found = np.asarray(images[each, rows[:, :, None], columns[:, None, :]])
    if black:
        found[~(inside[0][:, :, None] & inside[1][:, None, :])] = 0
    return found
