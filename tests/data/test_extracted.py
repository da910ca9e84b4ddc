from collections.abc import Generator, Sequence
from pathlib import Path

import numpy as np
import pytest
from clear_miniature import write_old

from onward.data.emoji_history import load_emoji
from onward.data.extracted import Read, extracted
from onward.data.folder_images import FolderImages
from onward.data.images import ImageColumn, ImageStore
from onward.types import Array, Rows


class Reader:
    """Gives each image's mean colors, and counts how many images it has read."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.count = 0
        self._stop_after = stop_after

    def __call__(self, read: Read, parts: Sequence[Rows]) -> Generator[Array, None, None]:
        for part in parts:
            if self._stop_after is not None and self.count >= self._stop_after:
                raise KeyboardInterrupt
            self.count += len(part)
            yield mean_colors(read(part))


def mean_colors(images: Array) -> Array:
    return images[..., :3].mean((1, 2)).astype(np.float32)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def emoji(monkeypatch: pytest.MonkeyPatch) -> ImageColumn:
    """Two rows for each of fifty emoji, in a cache with four files for them."""
    monkeypatch.setattr("onward.data.extracted._SHARD", 16)
    column = load_emoji().wide["image"]
    assert isinstance(column, ImageColumn)
    few = ImageStore(column.store._encoded[:50], "fifty emoji of one digest")
    return ImageColumn(few, np.arange(100) % 50)


def test_each_distinct_image_is_read_once_and_then_never_again(emoji: ImageColumn) -> None:
    first, second = Reader(), Reader()
    features = extracted(emoji, "means", first)
    assert first.count == len(emoji.store)
    rows = np.array([0, 49, 99])
    assert np.array_equal(features[rows], mean_colors(emoji[rows]))
    assert np.array_equal(extracted(emoji, "means", second), features)
    assert second.count == 0
    other = Reader()
    extracted(emoji, "other weights", other)
    assert other.count == first.count


def test_what_was_done_before_a_stop_is_not_done_again(emoji: ImageColumn) -> None:
    stopped, after = Reader(stop_after=32), Reader()
    with pytest.raises(KeyboardInterrupt):
        extracted(emoji, "means", stopped)
    whole = extracted(emoji, "means", after)
    assert (stopped.count, after.count) == (32, 18)
    assert np.array_equal(whole, extracted(emoji, "means again", Reader()))


def test_noise_is_read_and_never_cached(emoji: ImageColumn) -> None:
    rows = np.arange(40)
    real = extracted(emoji, "means", Reader())
    for seed in (0, 1):
        noised = emoji.with_noise(rows, np.random.default_rng(seed))
        found = extracted(noised, "means", Reader())
        assert np.array_equal(found[rows], mean_colors(noised[rows]))
        assert np.array_equal(found[40:], real[40:])


def test_images_of_a_folder(tmp_path: Path) -> None:
    root = write_old(tmp_path / "clear", per_class=2)
    paths = sorted(str(path.relative_to(root)) for path in root.glob("labeled_images/*/*/*"))
    column = FolderImages(root, paths, 16)
    reader = Reader()
    features = extracted(column, "means", reader)
    assert np.array_equal(features, mean_colors(column[np.arange(len(paths))]))
    extracted(column, "means", reader)
    assert reader.count == len(paths)
    extracted(FolderImages(root, paths, 20), "means", reader)
    assert reader.count == 2 * len(paths)
    noised = column.with_noise(np.array([3]), np.random.default_rng(0))
    found = extracted(noised, "means", Reader())
    assert np.flatnonzero((found != features).any(1)).tolist() == [3]


def test_an_array_of_images() -> None:
    images = np.random.default_rng(0).integers(0, 256, (5, 4, 4, 3), np.uint8)
    assert np.array_equal(extracted(images, "means", Reader()), mean_colors(images))
