import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image
from tic_miniature import encoded, tar

from onward.budget import Budget
from onward.data.folder_images import FolderImages
from onward.data.pair_column import PAIR, PairColumn
from onward.data.shards import open_shards
from onward.errors import OnwardError
from onward.models.clip_config import open_clip
from onward.table import Column
from onward.train.augment import AUGMENTATIONS, _transform, augmented, which_mirrored
from onward.types import Array, Call, Samples, Table, View
from onward.view import Reader, reader_of

TWO = np.arange(2)
CROP = "random_resized_crop"


def reader(column: Column) -> Reader:
    count = column.shape[0]
    budget = Budget()
    budget.open(np.arange(count))
    table = Table(pa.table({"id": pa.array(range(count))}), {"input": column}, "made up")
    samples = Samples(np.arange(count), np.zeros(count, np.int64))
    return reader_of(View(table, samples, ("a", "b"), Call(budget)))


def images(count: int = 40, side: int = 16) -> Array:
    return np.random.default_rng(0).integers(0, 256, (count, side, side, 3), np.uint8)


def batch(images: Array, augment: str, key: tuple[int, ...] = (0, 0, 0)) -> Array:
    every = np.arange(len(images))
    return augmented(reader(images), every, augment, key, every)


def test_flips_mirror_about_half_of_the_images_and_change_no_other() -> None:
    whole = images()
    before = whole.copy()
    found = batch(whole, "flip")
    flipped = [np.array_equal(a, b[:, ::-1]) for a, b in zip(found, whole, strict=True)]
    same = [np.array_equal(a, b) for a, b in zip(found, whole, strict=True)]
    assert np.array_equal(np.array(flipped) | np.array(same), np.ones(40, bool))
    assert 8 < sum(flipped) < 32
    np.testing.assert_array_equal(whole, before)


def test_variation_depends_on_its_key_alone() -> None:
    one, again, other = (
        batch(images(), "random_crop_flip", key) for key in ((1, 2, 3), (1, 2, 3), (1, 2, 4))
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_square_images_are_shifted_by_an_eighth_at_most_and_repeat_their_edge() -> None:
    image = np.zeros((16, 16, 3), np.uint8)
    image[..., 0], image[..., 1] = np.arange(16)[:, None], np.arange(16)
    centres = set()
    for found in batch(np.repeat(image[None], 1000, 0), "random_crop_flip"):
        is_mirrored = int(found[8, 0, 1]) > int(found[8, -1, 1])
        shifted = found[:, ::-1] if is_mirrored else found
        row, column = (int(shifted[8, 8, axis]) for axis in (0, 1))
        expected = np.clip(np.arange(16) + column - 8, 0, 15)
        np.testing.assert_array_equal(shifted[8, :, 1], expected)
        centres.add((row, column))
    assert centres == {(row, column) for row in range(6, 11) for column in range(6, 11)}


def test_a_padded_crop_is_black_beyond_the_edge() -> None:
    found = batch(np.full((200, 16, 16, 3), 200, np.uint8), "padded_crop_flip")
    black = (found == 0).all(3)
    for lines in (black.all(2).sum(1), black.all(1).sum(1)):
        assert set(lines.tolist()) == {0, 1, 2}
    assert set(np.unique(found).tolist()) == {0, 200}


@pytest.fixture
def photos(tmp_path: Path) -> FolderImages:
    """A wide and a tall photo whose pixels tell their place along the longer edge."""
    ramp = np.tile(np.arange(20, dtype=np.uint8)[None, :, None], (8, 1, 3))
    Image.fromarray(ramp).save(tmp_path / "wide.png")
    Image.fromarray(ramp.transpose(1, 0, 2)).save(tmp_path / "tall.png")
    return FolderImages(tmp_path, ["wide.png", "tall.png"], 8)


def test_photos_are_cropped_in_the_centre_of_their_longer_edge(photos: FolderImages) -> None:
    wide, tall = photos[TWO]
    assert wide[0, :, 0].tolist() == list(range(6, 14))
    assert tall[:, 0, 0].tolist() == list(range(6, 14))


def test_training_crops_photos_anywhere_and_each_place_is_as_likely(photos: FolderImages) -> None:
    view, begins = reader(photos), set()
    for step in range(150):
        wide, _ = augmented(view, TWO, "random_crop_flip", (0, 0, step), TWO)
        assert abs(int(wide[0, 0, 0]) - int(wide[0, -1, 0])) == 7
        begins.add(int(wide[0, :, 0].min()))
    assert begins == set(range(13))


def test_random_resized_crops_of_photos_have_the_scale_of_torchvision(
    photos: FolderImages,
) -> None:
    darkest, ranges = [], []
    for step in range(100):
        found = augmented(reader(photos), TWO, "random_resized_crop_flip", (0, 0, step), TWO)
        assert found.shape == (2, 8, 8, 3)
        darkest.append(int(found[0].min()))
        ranges.append(int(np.ptp(found[0])))
    assert min(darkest) == 0
    assert max(darkest) > 10
    # Of 20 x 8 pixels 8 % at least, and 4:3 of its height at most: 3 to 11 pixels wide.
    assert min(ranges) <= 4
    assert 8 <= max(ranges) <= 10


def test_random_resized_crop_has_the_parameters_of_open_clip() -> None:
    image_transform = open_clip().image_transform(8, is_train=True, mean=(0, 0, 0), std=(1, 1, 1))
    theirs, ours = image_transform.transforms[0], _transform(CROP, (8, 8), of_files=True)
    for name in ("scale", "ratio", "size", "interpolation"):
        assert str(getattr(ours, name)) == str(getattr(theirs, name))


def test_most_of_the_image_of_a_pair_and_all_of_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    column = column_of(tmp_path)
    every = np.arange(6)
    found = augmented(reader(column), every, CROP, (0, 0, 1), every)
    np.testing.assert_array_equal(found["text"], column[every]["text"])
    assert not np.array_equal(found["image"], column[every]["image"])
    assert found["has_image"].all()
    part = augmented(reader(column), every[2:5], CROP, (0, 0, 1), every[2:5])
    np.testing.assert_array_equal(part, found[2:5])
    other = augmented(reader(column), every, CROP, (0, 0, 2), every)
    assert not np.array_equal(found["image"], other["image"])


def test_most_of_a_square_without_more_around_it_keeps_its_colours() -> None:
    flat = np.full((4, 16, 16, 3), 7, np.uint8)
    np.testing.assert_array_equal(batch(flat, CROP), flat)
    whole = images()
    before = whole.copy()
    found = batch(whole, CROP)
    np.testing.assert_array_equal(whole, before)
    assert not np.array_equal(found, whole)


@pytest.mark.parametrize("augment", AUGMENTATIONS[1:])
def test_a_part_of_a_batch_is_augmented_as_in_the_whole_batch(
    augment: str, photos: FolderImages
) -> None:
    for column in (images(20), replace(photos, paths=[*photos.paths] * 10)):
        rows, key = np.arange(20), (3, 1, 7)
        whole = augmented(reader(column), rows, augment, key, rows)
        assert not np.array_equal(whole, column[rows])
        state = torch.get_rng_state()
        for some in (np.arange(5, 9), np.array([17, 3, 4]), rows[:0]):
            part = augmented(reader(column), some, augment, key, some)
            np.testing.assert_array_equal(part, whole[some])
        assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("augment", AUGMENTATIONS[1:])
def test_samples_with_the_same_image_are_augmented_in_different_ways(augment: str) -> None:
    found = batch(np.repeat(images(1), 60, 0), augment)
    assert (found.dtype, found.shape) == (np.uint8, (60, 16, 16, 3))
    assert len(np.unique(found, axis=0)) >= (2 if augment == "flip" else 12)


def test_half_of_all_samples_are_mirrored() -> None:
    share = np.mean([which_mirrored((5, 0, step), np.arange(64)).mean() for step in range(100)])
    assert 0.48 < share < 0.52
    of_one = which_mirrored((5, 0, 1), np.array([7]))
    np.testing.assert_array_equal(of_one, which_mirrored((5, 0, 1), np.arange(9))[[7]])


def test_perspective_and_erasing_change_half_of_the_images_each() -> None:
    whole = np.full((400, 16, 16, 3), 200, np.uint8)
    black = (batch(whole, "flip_perspective_erasing") == 0).all(3)
    assert 0.15 < (~black.any((1, 2))).mean() < 0.4
    # Erased is one rectangle, of a third of the area at most.
    area = black.sum((1, 2)) / 256
    rectangle = black.any(1).sum(1) * black.any(2).sum(1) == black.sum((1, 2))
    assert 0.15 < (rectangle & (area > 0)).mean() < 0.5
    assert area[rectangle].max() < 0.37


def test_rotations_keep_the_middle_and_lose_corners() -> None:
    found = batch(np.full((100, 17, 17, 3), 200, np.uint8), "flip_rotation_color_jitter")
    assert (found[:, 0, 0] == 0).all(1).mean() > 0.3
    middle = found[:, 8, 8, 0] / 200
    assert 0.3 < middle.min() < 0.75
    assert middle.max() > 1.2


def test_random_affine_moves_drawings_on_white() -> None:
    drawings = np.full((100, 40, 40, 3), 255, np.uint8)
    drawings[:, 10:30, 10:30] = 0
    found = batch(drawings, "random_affine")
    assert (found[:, [0, -1]] == 255).all()
    area = (found == 0).all(3).sum((1, 2)) / 400
    assert 0.7 < area.min() < 0.9 < 1.1 < area.max() < 1.3
    assert len(np.unique(found, axis=0)) > 20


def test_grey_and_float_images_are_augmented_like_coloured_ones() -> None:
    expected = batch(images(), "padded_crop_flip")
    for other in (images()[..., :1], images().astype(np.float32)):
        found = batch(other, "padded_crop_flip")
        assert found.dtype == other.dtype
        np.testing.assert_array_equal(found, expected[..., : other.shape[3]])


def test_only_augmentation_asks_for_torchvision(
    photos: FolderImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert len(reader(photos).read(TWO)) == 2
    with pytest.raises(OnwardError, match=r"expected torchvision, .* 'onward\[vision\]'"):
        batch(images(), "flip")


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
        batch(images(), "mixup")
    with pytest.raises(OnwardError, match="expected images to augment"):
        batch(np.zeros((4, 3), np.float32), "flip")


def test_noise_is_not_cropped(photos: FolderImages) -> None:
    noisy, first = photos.with_noise(np.array([0]), np.random.default_rng(0)), np.array([0])
    np.testing.assert_array_equal(augmented(reader(noisy), first, CROP, (0,), first), noisy[first])
    assert replace(noisy, noise=None).shape == photos.shape
