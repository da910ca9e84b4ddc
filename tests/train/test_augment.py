from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from tic_miniature import encoded, tar

from onward.budget import Budget
from onward.data.folder_images import FolderImages, opened, random_part
from onward.data.pair_column import PAIR, PairColumn
from onward.data.shards import open_shards
from onward.errors import OnwardError
from onward.models.clip_config import open_clip
from onward.models.torchvision_loader import torchvision
from onward.table import Column
from onward.train.augment import augmented, shifted
from onward.types import Array, Call, Samples, Table, View
from onward.view import Reader, reader_of


def reader(column: Column) -> Reader:
    count = column.shape[0]
    budget = Budget()
    budget.open(np.arange(count))
    table = Table(pa.table({"id": pa.array(range(count))}), {"input": column}, "made up")
    samples = Samples(np.arange(count), np.zeros(count, np.int64))
    return reader_of(View(table, samples, ("a", "b"), Call(budget)))


def images(count: int = 40, side: int = 16) -> Array:
    return np.random.default_rng(0).integers(0, 256, (count, side, side, 3), np.uint8)


def test_flips_mirror_about_half_of_the_images_and_change_no_other() -> None:
    whole = images()
    before, positions = whole.copy(), np.arange(40)
    found = augmented(reader(whole), positions, "flip", (0, 0, 0))
    flipped = [np.array_equal(a, b[:, ::-1]) for a, b in zip(found, whole, strict=True)]
    same = [np.array_equal(a, b) for a, b in zip(found, whole, strict=True)]
    assert np.array_equal(np.array(flipped) | np.array(same), np.ones(40, bool))
    assert 8 < sum(flipped) < 32
    np.testing.assert_array_equal(whole, before)


def test_variation_depends_on_its_key_alone() -> None:
    view, positions = reader(images()), np.arange(40)
    one, again, other = (
        augmented(view, positions, "random_crop_flip", key)
        for key in ((1, 2, 3), (1, 2, 3), (1, 2, 4))
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_square_images_are_shifted_by_an_eighth_at_most_and_repeat_their_edge() -> None:
    image = np.arange(16 * 16).reshape(1, 16, 16, 1)
    up_left = shifted(image, np.array([[0.99, 0.99]]))[0, ..., 0]
    np.testing.assert_array_equal(up_left[:14, :14], image[0, 2:, 2:, 0])
    np.testing.assert_array_equal(up_left[14:, :14], image[0, [15, 15], 2:, 0])
    np.testing.assert_array_equal(shifted(image, np.array([[0.5, 0.5]])), image)
    at = np.random.default_rng(0).random((2000, 2))
    corners = shifted(np.repeat(image, 2000, 0), at)[:, 8, 8, 0]
    assert set(corners.tolist()) == {r * 16 + c for r in range(6, 11) for c in range(6, 11)}


@pytest.fixture
def photos(tmp_path: Path) -> FolderImages:
    """A wide and a tall photo whose pixels tell their place along the longer edge."""
    ramp = np.tile(np.arange(20, dtype=np.uint8)[None, :, None], (8, 1, 3))
    Image.fromarray(ramp).save(tmp_path / "wide.png")
    Image.fromarray(ramp.transpose(1, 0, 2)).save(tmp_path / "tall.png")
    return FolderImages(tmp_path, ["wide.png", "tall.png"], 8)


def test_photos_are_cropped_along_their_longer_edge(photos: FolderImages) -> None:
    rows = np.array([0, 1, 0])
    found = photos.crop(rows, np.array([0.0, 0.5, 1.0]))
    assert found[0, 0, :, 0].tolist() == list(range(8))
    assert found[1, :, 0, 0].tolist() == list(range(6, 14))
    assert found[2, 0, :, 0].tolist() == list(range(12, 20))
    np.testing.assert_array_equal(photos[rows], photos.crop(rows, None))
    assert photos[rows][0, 0, :, 0].tolist() == list(range(6, 14))


def test_training_crops_photos_anywhere_and_each_place_is_as_likely(photos: FolderImages) -> None:
    view, begins = reader(photos), set()
    for step in range(150):
        wide, _ = augmented(view, np.arange(2), "random_crop_flip", (0, 0, step))
        assert abs(int(wide[0, 0, 0]) - int(wide[0, -1, 0])) == 7
        begins.add(int(wide[0, :, 0].min()))
    assert begins == set(range(13))


def test_parts_have_the_shapes_and_places_that_torchvision_draws(photos: FolderImages) -> None:
    wide = opened(photos.root / "wide.png")
    whole = np.asarray(wide)
    # All of a square picture; a part that never fits becomes the centre, 4:3 at most.
    square_one = wide.crop((0, 0, 8, 8))
    part = random_part(square_one, 8, np.array([[1.0, 0.5, 0.9, 0.9]]), 0.08)
    np.testing.assert_array_equal(part, whole[:, :8])
    never = np.ones((10, 4))
    centre = wide.crop((4, 0, 15, 8)).resize((8, 8), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(random_part(wide, 8, never, 0.08), np.asarray(centre))
    view, darkest = reader(photos), []
    for step in range(100):
        images = augmented(view, np.arange(2), "random_resized_crop_flip", (0, 0, step))
        assert images.shape == (2, 8, 8, 3)
        darkest.append(int(images[0].min()))
    assert min(darkest) == 0
    assert max(darkest) > 10


def test_most_of_an_image_is_what_open_clip_cuts_out() -> None:
    functional = torchvision().transforms.functional
    crop = (
        open_clip().image_transform(8, is_train=True, mean=(0, 0, 0), std=(1, 1, 1)).transforms[0]
    )
    assert (crop.scale, crop.size) == ((0.9, 1.0), (8, 8))
    assert crop.interpolation.value == "bicubic"
    picture = Image.fromarray(images(1, 40)[0]).crop((0, 0, 40, 36))
    # Area, shape, left, top: 95 % of 1,440 pixels, as wide as high, in a corner.
    part = random_part(picture, 8, np.array([[0.5, 0.5, 0.99, 0.0]]), 0.9, Image.Resampling.BICUBIC)
    # 37 pixels are higher than the picture: after the last try it is the centre, 4:3 at most.
    centre = functional.resized_crop(picture, 0, 0, 36, 40, [8, 8], crop.interpolation)
    np.testing.assert_array_equal(part, np.asarray(centre))
    fits = random_part(picture, 8, np.array([[0.0, 0.5, 0.99, 0.0]]), 0.9, Image.Resampling.BICUBIC)
    corner = functional.resized_crop(picture, 0, 4, 36, 36, [8, 8], crop.interpolation)
    np.testing.assert_array_equal(fits, np.asarray(corner))


def test_most_of_the_image_of_a_pair_and_all_of_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    column = column_of(tmp_path)
    every = np.arange(6)
    found = augmented(reader(column), every, "random_resized_crop", (0, 0, 1))
    np.testing.assert_array_equal(found["text"], column[every]["text"])
    assert not np.array_equal(found["image"], column[every]["image"])
    assert found["has_image"].all()
    # One of several processes makes of its share what the others would make of it.
    mine = augmented(reader(column), every, "random_resized_crop", (0, 0, 1), slice(2, 5))
    np.testing.assert_array_equal(mine, found[2:5])
    other = augmented(reader(column), every, "random_resized_crop", (0, 0, 2))
    assert not np.array_equal(found["image"], other["image"])


def test_most_of_a_square_without_more_around_it_keeps_its_colours() -> None:
    flat = np.full((4, 16, 16, 3), 7, np.uint8)
    np.testing.assert_array_equal(
        augmented(reader(flat), np.arange(4), "random_resized_crop", (0,)), flat
    )
    whole = images()
    before = whole.copy()
    found = augmented(reader(whole), np.arange(40), "random_resized_crop", (0,))
    np.testing.assert_array_equal(whole, before)
    assert not np.array_equal(found, whole)


def column_of(folder: Path) -> PairColumn:
    """Six pairs in a shard, with square pictures: of wider ones nine tenths are too wide."""
    image = encoded(size=(20, 20))
    samples = {key: {"jpg": image, "txt": f"caption of {key}".encode()} for key in "abcdef"}
    shards = open_shards([tar(folder / "0.tar", samples)], folder)
    return PairColumn(
        shards, np.arange(6), np.full(6, PAIR, np.uint8), np.full(6, -1, np.int32), (), 8
    )


def test_the_middle_of_a_larger_square(photos: FolderImages) -> None:
    found = replace(photos, size=4, shorter=8)[np.array([0])]
    assert found[0, 0, :, 0].tolist() == list(range(8, 12))


def test_wrong_augmentation_is_named() -> None:
    with pytest.raises(
        OnwardError, match=r"padded_crop_flip, random_resized_crop_flip, .*, found 'mixup'"
    ):
        augmented(reader(images()), np.arange(2), "mixup", (0,))
    with pytest.raises(OnwardError, match="expected images to augment"):
        augmented(reader(np.zeros((4, 3), np.float32)), np.arange(2), "flip", (0,))


def test_noise_is_cropped_to_itself(photos: FolderImages) -> None:
    noisy = photos.with_noise(np.array([0]), np.random.default_rng(0))
    np.testing.assert_array_equal(noisy.crop(np.array([0]), np.array([0.3])), noisy[np.array([0])])
    assert replace(noisy, noise=None).shape == photos.shape
