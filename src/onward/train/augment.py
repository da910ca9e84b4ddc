"""Images augmented in training by `torchvision.transforms.v2`, and never when they are predicted.

Each sample has a random stream of its own. The transforms draw from torch's default generator,
which is seeded for each sample (a microsecond) and set back afterwards.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, get_args

import numpy as np
import torch
from PIL import Image

from onward.errors import OnwardError
from onward.models.torchvision_loader import transforms
from onward.pairs import IMAGE
from onward.seeds import Draws, sample_draws
from onward.train.recipe import Augment
from onward.types import Array, Rows
from onward.view import Reader

AUGMENTATIONS = get_args(Augment)
# Those that transform the decoded image of a file, where there is one.
_OF_FILES = ("random_crop_flip", "random_resized_crop_flip", "random_resized_crop")


def augmented(
    reader: Reader, positions: Rows, augment: str, key: Sequence[int], indices: Rows
) -> Array:
    """Return the images at these positions, each augmented by itself.

    Parameters
    ----------
    reader, positions
        Reads the samples that are trained on; those of one batch, or of a part of it.
    augment
        ``flip`` mirrors every other image, at random. ``random_crop_flip`` also takes another crop
        along the longer edge where the data has one, as CLEAR does; where all there is is the
        square, it shifts it by up to an eighth and repeats its edge. ``padded_crop_flip`` always
        does that with black beyond the edge: of 32 pixels, four on each side, as is usual for
        CIFAR. ``random_resized_crop_flip`` cuts a random part out of an image and resizes it, as is
        usual for ImageNet; a square without more around it is shifted. ``random_resized_crop`` cuts
        out at least nine tenths and does not mirror, as open_clip does, also of pairs.
        ``flip_perspective_erasing`` and ``flip_rotation_color_jitter`` are those of CLAD's
        challenge. ``random_affine`` turns, shifts and scales drawings a little, on white, and does
        not mirror them; it and those of the challenge can be asked of pairs too.
    key
        Seed, call and step: the same again when a call is resumed.
    indices
        The index of each sample in the whole batch, on which its augmentation depends.
    """
    require_augmentable(reader, augment)
    images = None
    if augment in _OF_FILES:
        of_files = _transform(augment, reader.input_shape[:2], of_files=True)
        with _seeded(of_files, key, indices) as transform:
            resize = augment == "random_crop_flip"
            images = reader.transformed(positions, transform, resize=resize)
    if images is None:
        return augmented_inputs(reader.read(positions), augment, key, indices)
    return _mirrored(images, augment, key, indices)


def augmented_inputs(inputs: Array, augment: str, key: Sequence[int], indices: Rows) -> Array:
    """Augment images, or pairs with a text, in place: `augmented` where there are no files."""
    images = inputs if inputs.dtype.names is None else inputs[IMAGE]
    if augment != "flip":
        of_squares = _transform(augment, images.shape[1:3], of_files=False)
        with _seeded(of_squares, key, indices) as transform:
            for place, image in enumerate(images):
                # Images of Pillow are warped and recoloured in a fraction of the time of tensors.
                if image.dtype == np.uint8 and image.shape[2] == 3:
                    images[place] = transform(Image.fromarray(image), place)
                else:
                    chw = torch.from_numpy(image).permute(2, 0, 1)
                    images[place] = transform(chw, place).permute(1, 2, 0)
    return _mirrored(inputs, augment, key, indices)


def require_augmentable(reader: Reader, augment: str) -> None:
    """Raise if inputs cannot be augmented so; import torchvision, before data workers start."""
    if augment not in AUGMENTATIONS:
        raise OnwardError(
            f"expected augment to be one of {', '.join(AUGMENTATIONS)}, found {augment!r}"
        )
    if len(reader.input_shape) != 3:
        raise OnwardError(
            f"expected images to augment, found inputs of the shape {reader.input_shape}. Choose "
            "augment none"
        )
    transforms()


def which_mirrored(key: Sequence[int], indices: Rows) -> Array:
    """Return which samples of a batch are mirrored, where images, and boxes with them, are."""
    return sample_draws(Draws.VARIATION, key, indices, 2)[:, 0] < 2**31


@contextmanager
def _seeded(
    transform: Callable[[Any], Any], key: Sequence[int], indices: Rows
) -> Iterator[Callable[[Any, int], Any]]:
    """Seed torch for each sample: yield the transform, called with an image and its place."""
    seeds = sample_draws(Draws.VARIATION, key, indices, 2)[:, 1].tolist()

    def transformed(image: Any, place: int) -> Any:
        torch.default_generator.manual_seed(seeds[place])
        return transform(image)

    with torch.random.fork_rng(devices=()):
        yield transformed


@cache
def _transform(augment: str, size: tuple[int, int], *, of_files: bool) -> Any:
    """Return what is done to images of files, or to those that are of this size, but mirroring."""
    v2 = transforms()
    if augment == "random_resized_crop":
        bicubic = v2.InterpolationMode.BICUBIC
        return v2.RandomResizedCrop(size, scale=(0.9, 1.0), interpolation=bicubic)
    if of_files:
        crop = v2.RandomCrop if augment == "random_crop_flip" else v2.RandomResizedCrop
        return crop(size)
    if augment == "flip_perspective_erasing":
        return v2.Compose([v2.RandomPerspective(), v2.RandomErasing()])
    if augment == "flip_rotation_color_jitter":
        jitter = v2.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4)
        return v2.Compose([v2.RandomRotation(15), jitter])
    if augment == "random_affine":
        return v2.RandomAffine(9, translate=(0.05, 0.05), scale=(0.88, 1.12), fill=255)
    height, width = size
    mode = "constant" if augment == "padded_crop_flip" else "edge"
    return v2.RandomCrop(size, padding=[width // 8, height // 8], padding_mode=mode)


def _mirrored(inputs: Array, augment: str, key: Sequence[int], indices: Rows) -> Array:
    if "flip" in augment:
        images = inputs if inputs.dtype.names is None else inputs[IMAGE]
        # In place, colours last: a tenth of the time of `RandomHorizontalFlip` for each image.
        pixels = torch.from_numpy(images).permute(0, 3, 1, 2)
        for place in np.flatnonzero(which_mirrored(key, indices)).tolist():
            pixels[place] = pixels[place].flip(-1)
    return inputs
