"""Images seen from elsewhere, turned, covered and recoloured."""

import numpy as np
import pytest

from onward.data.variations import (
    covered,
    homographies,
    recoloured,
    seen_from_elsewhere,
    turned,
    warped,
)
from onward.train.augment import varied
from onward.types import Array

CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def images(count: int = 60, side: int = 16) -> Array:
    return np.random.default_rng(0).integers(1, 256, (count, side, side, 3), np.uint8)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_homography_takes_each_corner_home() -> None:
    corners = CORNERS * (1 - 0.5 * rng().random((5, 4, 2)))
    for way, mine in zip(homographies(corners), corners, strict=True):
        u, v, depth = way @ np.column_stack([mine, np.ones(4)]).T
        np.testing.assert_allclose(np.column_stack([u / depth, v / depth]), CORNERS, atol=1e-9)


def test_warping_by_hand() -> None:
    image = np.arange(1, 17, dtype=np.uint8).reshape(1, 4, 4, 1)
    same = warped(image, np.eye(3)[None])
    np.testing.assert_array_equal(same, image)
    half = warped(image, np.diag([2.0, 2.0, 1.0])[None])[0, ..., 0]
    assert half.tolist() == [[0, 0, 0, 0], [0, 6, 8, 0], [0, 14, 16, 0], [0, 0, 0, 0]]
    quarter = np.array([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])
    np.testing.assert_array_equal(warped(image, quarter)[0, ..., 0], np.rot90(image[0, ..., 0]))


def test_every_other_image_is_seen_from_elsewhere_and_stays_in_its_frame() -> None:
    whole = images()
    found = seen_from_elsewhere(whole, rng())
    same = (found == whole).all((1, 2, 3))
    assert 18 < same.sum() < 42
    black = (found[~same] == 0).all(3).mean()
    assert 0.1 < black < 0.7


def test_turning_keeps_the_middle_and_loses_corners() -> None:
    whole = images(side=17)
    found = turned(whole, rng())
    np.testing.assert_array_equal(found[:, 8, 8], whole[:, 8, 8])
    assert (found[:, 0, 0] == 0).all(1).mean() > 0.3


def test_every_other_image_is_covered_by_one_rectangle_of_a_third_at_most() -> None:
    found = covered(images(400), rng())
    hidden = (found == 0).all(3)
    some = hidden[hidden.any((1, 2))]
    assert 150 < len(some) < 250
    for mask in some:
        rows, columns = mask.any(1), mask.any(0)
        assert mask.sum() == rows.sum() * columns.sum()
        assert mask.mean() < 0.37


def test_colours_change_and_places_do_not() -> None:
    flat = np.full((50, 8, 8, 3), (120, 80, 40), np.uint8)
    found = recoloured(flat, rng())
    assert (found == found[:, :1, :1]).all()
    brightness = found.mean((1, 2, 3)) / flat.mean()
    assert brightness.min() < 0.75 < 1.25 < brightness.max()
    grey = np.full((50, 8, 8, 3), 100, np.uint8)
    changed = recoloured(grey, rng()).astype(int)
    assert np.ptp(changed, axis=3).max() <= 1  # grey stays grey, up to rounding


@pytest.mark.parametrize("how", ["flip_perspective_erasing", "flip_rotation_color_jitter"])
def test_a_variation_depends_on_its_numbers_alone_and_changes_no_image(how: str) -> None:
    whole = images()
    before = whole.copy()
    one, again, other = (varied(whole, how, rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    assert one.dtype == np.uint8
    assert one.shape == whole.shape
    np.testing.assert_array_equal(whole, before)
    assert varied(whole[:0], how, rng()).shape == (0, 16, 16, 3)
