"""The augmentations of MoCo v2, with numbers of its own for each image of a batch.

The functions of `torchvision.transforms.v2` take the same numbers for all images of a batch. One
call per image is several times slower on small images than what is computed here for all at once,
and equal to it. A blur, which only large images have, is faster by torchvision.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from onward.models.torchvision_loader import transforms

# Weights of the channels in luminance, and the axes that hue rotates about the gray one (YIQ).
_LUMINANCE = (0.299, 0.587, 0.114)
_YIQ = (_LUMINANCE, (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))
_LARGEST_RATIO = 4 / 3
_BLUR = (0.1, 2.0)


@dataclass(frozen=True)
class Augmentation:
    """How much two crops of one image may differ.

    Parameters
    ----------
    min_scale
        The smallest fraction of the image's area that a crop has.
    brightness, contrast, saturation
        The largest relative change of each.
    hue
        The largest rotation of the colors, as a fraction of the whole circle.
    jitter_p, grayscale_p, blur_p, flip_p
        The probabilities of color jitter, of grayscale, of a Gaussian blur and of a horizontal
        flip.
    """

    min_scale: float
    brightness: float
    contrast: float
    saturation: float
    hue: float
    jitter_p: float = 0.8
    grayscale_p: float = 0.0
    blur_p: float = 0.0
    flip_p: float = 0.0


AUGMENTATIONS: Mapping[str, Augmentation] = {
    # Chen et al. 2020, the option "aug_plus" of the released code.
    "photos": Augmentation(
        min_scale=0.2,
        brightness=0.4,
        contrast=0.4,
        saturation=0.4,
        hue=0.1,
        grayscale_p=0.2,
        blur_p=0.5,
        flip_p=0.5,
    ),
    # Colors are half of what a drawing says, its fine lines do not survive a blur, and flipped
    # arrows and letters say something else.
    "drawings": Augmentation(
        min_scale=0.25, brightness=0.2, contrast=0.2, saturation=0.3, hue=0.05
    ),
}


def augmented(pixels: Tensor, how: Augmentation, size: int, rng: np.random.Generator) -> Tensor:
    """Return a random crop of each image, of this size, with random colors.

    A batch is (n, 3, side, side), between 0 and 1. Colors change in a fixed order (brightness,
    contrast, saturation, hue), where the released code draws one.
    """
    crops = _color_jitter(_random_resized_crop(pixels, how, size, rng), how, rng)
    if how.blur_p:
        n = len(crops)
        # Standard deviations are meant for images of 224 pixels.
        largest, *sigmas = np.array([_BLUR[1], *rng.uniform(*_BLUR, n)]) * size / 224
        kernel = 2 * max(1, math.ceil(2 * largest)) + 1
        blur = transforms().functional.gaussian_blur
        for place in np.flatnonzero(rng.random(n) < how.blur_p).tolist():
            crops[place] = blur(crops[place], kernel, float(sigmas[place]))
    return crops


def _random_resized_crop(
    pixels: Tensor, how: Augmentation, size: int, rng: np.random.Generator
) -> Tensor:
    n = len(pixels)
    area = rng.uniform(how.min_scale, 1, n)
    ratio = np.exp(rng.uniform(-1, 1, n) * math.log(_LARGEST_RATIO))
    width, height = (np.minimum(np.sqrt(edge), 1) for edge in (area * ratio, area / ratio))
    grid = np.zeros((n, 2, 3))
    grid[:, 0, 0] = np.where(rng.random(n) < how.flip_p, -width, width)
    grid[:, 1, 1] = height
    grid[:, 0, 2] = rng.uniform(-1, 1, n) * (1 - width)
    grid[:, 1, 2] = rng.uniform(-1, 1, n) * (1 - height)
    places = functional.affine_grid(_tensor(grid), [n, 3, size, size], align_corners=False)
    return functional.grid_sample(pixels, places, padding_mode="border", align_corners=False)


def _color_jitter(pixels: Tensor, how: Augmentation, rng: np.random.Generator) -> Tensor:
    n = len(pixels)
    changed = rng.random(n) < how.jitter_p

    def factor(largest: float) -> Tensor:
        return _tensor(np.where(changed, 1 + rng.uniform(-largest, largest, n), 1))[
            :, None, None, None
        ]

    pixels = (pixels * factor(how.brightness)).clamp_(0, 1)
    mean = _grayscale(pixels).mean((2, 3), keepdim=True)
    pixels = torch.lerp(mean, pixels, factor(how.contrast)).clamp_(0, 1)
    saturation = factor(how.saturation)
    saturation[rng.random(n) < how.grayscale_p] = 0
    pixels = torch.lerp(_grayscale(pixels), pixels, saturation).clamp_(0, 1)
    turn = np.where(changed, rng.uniform(-how.hue, how.hue, n), 0) * 2 * math.pi
    # Rotations of colors that preserve their luminance.
    rotation = np.zeros((n, 3, 3))
    rotation[:, 0, 0] = 1
    rotation[:, 1, 1] = rotation[:, 2, 2] = np.cos(turn)
    rotation[:, 2, 1] = np.sin(turn)
    rotation[:, 1, 2] = -rotation[:, 2, 1]
    matrices = _tensor(np.linalg.inv(_YIQ) @ rotation @ np.array(_YIQ))
    return torch.bmm(matrices, pixels.flatten(2)).view_as(pixels).clamp_(0, 1)


def _grayscale(pixels: Tensor) -> Tensor:
    red, green, blue = (pixels[:, channel : channel + 1] for channel in range(3))
    weights = _LUMINANCE
    return (red * weights[0]).add_(green, alpha=weights[1]).add_(blue, alpha=weights[2])


def _tensor(values: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))
