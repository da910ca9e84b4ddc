"""Images moved and recoloured."""

import numpy as np

from onward.data.variations import recoloured, warped


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_warping_by_hand() -> None:
    image = np.arange(1, 17, dtype=np.uint8).reshape(1, 4, 4, 1)
    same = warped(image, np.eye(3)[None])
    np.testing.assert_array_equal(same, image)
    half = warped(image, np.diag([2.0, 2.0, 1.0])[None])[0, ..., 0]
    assert half.tolist() == [[0, 0, 0, 0], [0, 6, 8, 0], [0, 14, 16, 0], [0, 0, 0, 0]]
    quarter = np.array([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])
    np.testing.assert_array_equal(warped(image, quarter)[0, ..., 0], np.rot90(image[0, ..., 0]))


def test_colours_change_and_places_do_not() -> None:
    flat = np.full((50, 8, 8, 3), (120, 80, 40), np.uint8)
    found = recoloured(flat, rng())
    assert (found == found[:, :1, :1]).all()
    brightness = found.mean((1, 2, 3)) / flat.mean()
    assert brightness.min() < 0.75 < 1.25 < brightness.max()
    grey = np.full((50, 8, 8, 3), 100, np.uint8)
    changed = recoloured(grey, rng()).astype(int)
    assert np.ptp(changed, axis=3).max() <= 1  # grey stays grey, up to rounding
