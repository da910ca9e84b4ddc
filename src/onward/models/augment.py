"""Two looks at one image: the augmentations of MoCo v2, on whole batches."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# Weights of the channels in luminance, and the rotation of colours about the grey axis (YIQ).
_LUMINANCE = (0.299, 0.587, 0.114)
_YIQ = (_LUMINANCE, (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))
_LARGEST_RATIO = 4 / 3
_BLUR = (0.1, 2.0)
# Of 224 pixels, which the deviations of the blur above are meant for.
_BLURRED_SIDE = 224


@dataclass(frozen=True)
class Augmentation:
    """How much two looks at one image may differ.

    Parameters
    ----------
    crop
        The smallest share of the image's area that is cut out.
    brightness, contrast, saturation
        Largest relative change of each.
    hue
        Largest turn of the colours, as a share of the whole circle.
    jitter, grey, blur, flip
        How probable a change of colours, loss of colours, a blur and a mirror image are.
    """

    crop: float
    brightness: float
    contrast: float
    saturation: float
    hue: float
    jitter: float
    grey: float
    blur: float
    flip: float


AUGMENTATIONS: Mapping[str, Augmentation] = {
    # Chen et al. 2020, the option "aug_plus" of the released code.
    "photos": Augmentation(
        crop=0.2,
        brightness=0.4,
        contrast=0.4,
        saturation=0.4,
        hue=0.1,
        jitter=0.8,
        grey=0.2,
        blur=0.5,
        flip=0.5,
    ),
    # Of a drawing, colours are half of what it says, and its fine lines do not survive a blur.
    # In a mirror, arrows and letters say something else.
    "drawings": Augmentation(
        crop=0.25,
        brightness=0.2,
        contrast=0.2,
        saturation=0.3,
        hue=0.05,
        jitter=0.8,
        grey=0.0,
        blur=0.0,
        flip=0.0,
    ),
}


def augmented(pixels: Tensor, how: Augmentation, size: int, rng: np.random.Generator) -> Tensor:
    """Return another look at each image, of this size.

    A batch is (n, 3, side, side), between 0 and 1. Colours change in a fixed order (brightness,
    contrast, saturation, hue), where the released code draws one.
    """
    looks = _cropped(pixels, how, size, rng)
    looks = _recoloured(looks, how, rng)
    if how.blur:
        looks = _blurred(looks, how, rng)
    return looks


def _cropped(pixels: Tensor, how: Augmentation, size: int, rng: np.random.Generator) -> Tensor:
    n = len(pixels)
    area = rng.uniform(how.crop, 1, n)
    ratio = np.exp(rng.uniform(-1, 1, n) * math.log(_LARGEST_RATIO))
    width, height = (np.minimum(np.sqrt(edge), 1) for edge in (area * ratio, area / ratio))
    grid = np.zeros((n, 2, 3))
    grid[:, 0, 0] = np.where(rng.random(n) < how.flip, -width, width)
    grid[:, 1, 1] = height
    grid[:, 0, 2] = rng.uniform(-1, 1, n) * (1 - width)
    grid[:, 1, 2] = rng.uniform(-1, 1, n) * (1 - height)
    places = functional.affine_grid(_tensor(grid), [n, 3, size, size], align_corners=False)
    return functional.grid_sample(pixels, places, padding_mode="border", align_corners=False)


def _recoloured(pixels: Tensor, how: Augmentation, rng: np.random.Generator) -> Tensor:
    n = len(pixels)
    changed = rng.random(n) < how.jitter

    def factor(largest: float) -> Tensor:
        return _per_image(np.where(changed, 1 + rng.uniform(-largest, largest, n), 1))

    pixels = (pixels * factor(how.brightness)).clamp(0, 1)
    mean = _luminance(pixels).mean((2, 3), keepdim=True)
    pixels = torch.lerp(mean, pixels, factor(how.contrast)).clamp(0, 1)
    saturation = factor(how.saturation) * _per_image(rng.random(n) >= how.grey)
    pixels = torch.lerp(_luminance(pixels), pixels, saturation).clamp(0, 1)
    turn = np.where(changed, rng.uniform(-how.hue, how.hue, n), 0) * 2 * math.pi
    return torch.einsum("nij,njhw->nihw", _tensor(_turns(turn)), pixels).clamp(0, 1)


def _turns(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each angle the matrix that turns colours and keeps their luminance."""
    rotation = np.zeros((len(angle), 3, 3))
    rotation[:, 0, 0] = 1
    rotation[:, 1, 1] = rotation[:, 2, 2] = np.cos(angle)
    rotation[:, 2, 1] = np.sin(angle)
    rotation[:, 1, 2] = -rotation[:, 2, 1]
    turned: NDArray[np.float64] = np.linalg.inv(_YIQ) @ rotation @ np.array(_YIQ)
    return turned


def _blurred(pixels: Tensor, how: Augmentation, rng: np.random.Generator) -> Tensor:
    n, channels, side, _ = pixels.shape
    deviation = rng.uniform(*_BLUR, n) * side / _BLURRED_SIDE
    reach = max(1, math.ceil(2 * _BLUR[1] * side / _BLURRED_SIDE))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation[:, None]) ** 2)
    sharp = np.arange(-reach, reach + 1) == 0
    kernel = np.where((rng.random(n) < how.blur)[:, None], kernel, sharp)
    weights = _tensor(kernel / kernel.sum(1, keepdims=True)).repeat_interleave(channels, 0)
    # One channel per image and colour, so that each image has a kernel of its own.
    flat = pixels.reshape(1, n * channels, side, side)
    for shape, padding in (((1, -1), (reach, reach, 0, 0)), ((-1, 1), (0, 0, reach, reach))):
        padded = functional.pad(flat, padding, mode="replicate")
        flat = functional.conv2d(padded, weights.view(n * channels, 1, *shape), groups=n * channels)
    return flat.view_as(pixels)


def _luminance(pixels: Tensor) -> Tensor:
    return (pixels * pixels.new_tensor(_LUMINANCE).view(3, 1, 1)).sum(1, keepdim=True)


def _per_image(values: NDArray[np.generic]) -> Tensor:
    return _tensor(values).view(-1, 1, 1, 1)


def _tensor(values: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))
