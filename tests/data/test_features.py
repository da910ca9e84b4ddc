from pathlib import Path

import numpy as np
import pytest

from onward.data.cache import cached
from onward.data.emoji_history import load_emoji, with_features
from onward.data.features import hog_colour, standardise
from onward.data.images import ImageColumn
from onward.types import Table


def _square(colour: tuple[int, int, int]) -> np.ndarray:
    image = np.zeros((32, 32, 4), np.uint8)
    image[8:24, 8:24] = (*colour, 255)
    return image


def test_each_image_is_described_by_itself() -> None:
    images = np.random.default_rng(0).integers(0, 256, (600, 32, 32, 4), np.uint8)
    together = hog_colour(images)
    np.testing.assert_array_equal(
        together[[0, 511, 512, 599]], hog_colour(images[[0, 511, 512, 599]])
    )


def test_colour_changes_colours_and_not_the_outline() -> None:
    red, blue = hog_colour(np.stack([_square((255, 0, 0)), _square((76, 76, 76))]))
    np.testing.assert_allclose(red[:324], blue[:324], atol=1e-2)
    assert np.abs(red[324:449] - blue[324:449]).max() > 0.4


def test_transparent_is_white() -> None:
    clear = np.zeros((1, 32, 32, 4), np.uint8)
    np.testing.assert_array_equal(hog_colour(clear), hog_colour(np.full_like(clear, 255)))


def test_field_colours_are_means() -> None:
    image = np.full((1, 32, 32, 4), 255, np.uint8)
    image[0, :8, 8:16, :3] = (255, 0, 51)
    fields = hog_colour(image)[0, 449:].reshape(4, 4, 3)
    np.testing.assert_allclose(fields[0, 1], [1, 0, 0.2], atol=1e-6)
    np.testing.assert_allclose(fields[1, 1], 1)


def test_the_scale_comes_from_the_reference_alone() -> None:
    rng = np.random.default_rng(0)
    reference, rest = rng.normal(3, 2, (500, 4)), rng.normal(50, 9, (500, 4))
    scaled = standardise(reference, reference)
    assert np.abs(scaled.mean(0)).max() < 0.02
    assert scaled.max() <= 3 / np.sqrt(4)
    both = standardise(np.concatenate([reference, rest]), reference)
    np.testing.assert_array_equal(both[:500], scaled)


def test_a_constant_feature_does_not_divide_by_zero() -> None:
    assert np.isfinite(standardise(np.ones((3, 2)), np.ones((2, 2)))).all()


def test_emoji_inputs_are_scaled_on_the_first_snapshot() -> None:
    table = with_features(load_emoji())
    first = table.values("snapshot") == 0
    inputs = table.wide["input"]
    assert isinstance(inputs, np.ndarray)
    assert inputs.shape == (len(table), 497)
    assert np.abs(inputs[first].mean(0)).max() < 0.02
    assert np.abs(inputs[~first].mean(0)).max() > 0.02


def test_noise_touches_only_its_rows() -> None:
    table = load_emoji()
    image = table.wide["image"]
    assert isinstance(image, ImageColumn)
    rows = np.arange(100, 200)
    noisy = Table(
        table.columns, {"image": image.with_noise(rows, np.random.default_rng(0))}, "noisy"
    )
    np.testing.assert_array_equal(noisy.wide["image"][np.arange(100)], image[np.arange(100)])
    assert (noisy.wide["image"][rows] != image[rows]).mean() > 0.9


def test_the_cache_returns_what_was_stored_and_survives_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path))
    calls: list[int] = []

    def compute() -> np.ndarray:
        calls.append(1)
        return np.arange(3)

    for _ in range(3):
        np.testing.assert_array_equal(cached("key", compute), [0, 1, 2])
    assert len(calls) == 1
    content = (tmp_path / "key.npy").read_bytes()
    for number, damage in enumerate((b"garbage", b"", content[:-1] + b"\x07"), start=2):
        (tmp_path / "key.npy").write_bytes(damage)
        np.testing.assert_array_equal(cached("key", compute), [0, 1, 2])
        assert len(calls) == number
