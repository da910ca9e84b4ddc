import importlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from onward.models.augment import AUGMENTATIONS, Augmentation, _color_jitter, augmented
from onward.models.torchvision_loader import torchvision

NOTHING = Augmentation(
    min_scale=1,
    brightness=0,
    contrast=0,
    saturation=0,
    hue=0,
    jitter_p=1,
    grayscale_p=0,
    blur_p=0,
    flip_p=0,
)
SIDE = 12


@pytest.fixture
def pixels() -> torch.Tensor:
    return torch.rand(6, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))


def crops_of(
    pixels: torch.Tensor, how: Augmentation, seed: int = 0, size: int = SIDE
) -> torch.Tensor:
    return augmented(pixels, how, size, np.random.default_rng(seed))


def luminance(pixels: torch.Tensor) -> torch.Tensor:
    return torch.einsum("c,nchw->nhw", torch.tensor([0.299, 0.587, 0.114]), pixels)


def test_a_crop_shows_pixels_of_its_own_image() -> None:
    """Stripes across stay where they are as long as only the other edge is cut."""
    stripes = torch.linspace(0, 1, SIDE).view(1, 1, SIDE, 1).expand(64, 3, SIDE, SIDE)
    crops = crops_of(stripes, NOTHING)
    # Either the height is whole, and nothing changed, or the stripes are cut at one end.
    whole = [torch.allclose(one, stripes[0], atol=1e-5) for one in crops]
    assert 16 < sum(whole) < 48
    assert torch.allclose(crops, crops[..., :1].expand_as(crops), atol=1e-5)
    assert (crops.diff(dim=2) >= -1e-5).all()


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_crops_are_drawn_from_the_generator_alone(name: str, pixels: torch.Tensor) -> None:
    how = AUGMENTATIONS[name]
    first, again, other = (crops_of(pixels, how, seed) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert first.min() >= 0
    assert first.max() <= 1


def test_a_mirror_image_is_one(pixels: torch.Tensor) -> None:
    straight, mirrored = (crops_of(pixels, replace(NOTHING, flip_p=flip)) for flip in (0, 1))
    assert torch.allclose(mirrored, straight.flip(3), atol=1e-5)


def test_grey_images_have_no_colour_and_keep_their_luminance(pixels: torch.Tensor) -> None:
    before, grey = crops_of(pixels, NOTHING), crops_of(pixels, replace(NOTHING, grayscale_p=1))
    assert torch.allclose(grey[:, 0], grey[:, 2], atol=1e-5)
    assert torch.allclose(grey[:, 0], luminance(before), atol=1e-3)


def test_turning_colours_keeps_their_luminance(pixels: torch.Tensor) -> None:
    muted = 0.4 + 0.2 * pixels
    before, turned = crops_of(muted, NOTHING), crops_of(muted, replace(NOTHING, hue=0.5))
    assert not torch.allclose(before, turned, atol=0.02)
    assert torch.allclose(luminance(before), luminance(turned), atol=1e-4)


def test_a_blur_smooths_and_leaves_one_colour_alone(pixels: torch.Tensor) -> None:
    large = torch.nn.functional.interpolate(pixels, (224, 224))
    sharp, soft = (crops_of(large, replace(NOTHING, blur_p=blur), size=224) for blur in (0, 1))
    # Squares, since a step that is spread over some pixels is as high in all.
    assert soft.diff(dim=3).square().mean() < 0.8 * sharp.diff(dim=3).square().mean()
    flat = torch.full_like(large, 0.3)
    assert torch.allclose(crops_of(flat, replace(NOTHING, blur_p=1), size=224), flat, atol=1e-5)


def test_a_crop_has_the_size_that_is_asked_for(pixels: torch.Tensor) -> None:
    assert crops_of(pixels, AUGMENTATIONS["photos"], size=20).shape == (6, 3, 20, 20)


@pytest.mark.parametrize("name", ["brightness", "contrast", "saturation"])
def test_color_jitter_equals_that_of_torchvision_image_by_image(
    name: str, pixels: torch.Tensor
) -> None:
    torchvision()
    transforms = importlib.import_module("torchvision.transforms.v2.functional")
    found = _color_jitter(pixels, replace(NOTHING, **{name: 0.4}), np.random.default_rng(1))
    rng, n = np.random.default_rng(1), len(pixels)
    rng.random(n)  # which images change: all
    numbers = {other: rng.uniform(-1, 1, n) for other in ("brightness", "contrast", "saturation")}
    adjust = getattr(transforms, f"adjust_{name}")
    for image, mine, number in zip(pixels, found, numbers[name], strict=True):
        torch.testing.assert_close(mine, adjust(image, 1 + 0.4 * number), atol=1e-3, rtol=0)


def test_only_some_images_are_blurred(pixels: torch.Tensor) -> None:
    large = torch.nn.functional.interpolate(pixels, (64, 64))
    sharp, some = (crops_of(large, replace(NOTHING, blur_p=blur_p), size=64) for blur_p in (0, 0.5))
    equal = [torch.equal(one, other) for one, other in zip(sharp, some, strict=True)]
    assert 0 < sum(equal) < len(equal)
