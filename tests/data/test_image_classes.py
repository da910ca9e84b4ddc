"""Images in folders by class, in the order of the released code or in that of their names."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from onward.data.image_classes import has_image_classes, read_image_classes, released_order
from onward.errors import OnwardError


def write_classes(root: Path, train: dict[str, int], test: int = 2, *, tests: str = "val") -> Path:
    for side in ("train", tests):
        for number, (name, count) in enumerate(train.items()):
            folder = root / side / name
            folder.mkdir(parents=True)
            for place in range(count if side == "train" else test):
                image = Image.new("RGB", (12, 10), (number, place, 0))
                image.save(folder / f"{place:02d}.png")
    return root


def test_training_images_come_first_class_by_class(tmp_path: Path) -> None:
    write_classes(tmp_path, {"b": 2, "a": 3})
    assert has_image_classes(tmp_path)
    table = read_image_classes(tmp_path, ["b", "a"], order="sorted", size=8)
    expected = [f"train/b/{n:02d}.png" for n in range(2)] + [
        f"train/a/{n:02d}.png" for n in range(3)
    ]
    assert table.values("id").tolist()[:5] == expected
    assert table.values("test").tolist() == [False] * 5 + [True] * 4
    images = table.wide["image"][np.array([0, 4])]
    assert images.shape == (2, 8, 8, 3)
    assert images[1, 0, 0].tolist() == [1, 2, 0]


def test_the_order_of_the_released_code(tmp_path: Path) -> None:
    write_classes(tmp_path, {"b": 2, "a": 3})
    table = read_image_classes(tmp_path, ["b", "a"], order="released", size=8)
    names = [name.removeprefix("train/").removesuffix(".png") for name in table.values("id")[:5]]
    assert names == ["a/01", "a/02", "b/00", "b/01", "a/00"]
    labels = table.columns.column("subclass").cast("string").to_pylist()[:5]
    assert labels == ["a", "a", "b", "b", "a"]


def test_the_released_order_is_right_where_classes_are_sorted() -> None:
    assert released_order(["a/1", "a/2", "b/1"]).tolist() == [0, 1, 2]


def test_the_digest_knows_names_sizes_and_order(tmp_path: Path) -> None:
    write_classes(tmp_path, {"a": 2, "b": 2}, tests="test")
    digests = {
        read_image_classes(tmp_path, ["a", "b"], order=order, size=8).digest
        for order in ("sorted", "released")
    }
    (tmp_path / "train" / "a" / "00.png").rename(tmp_path / "train" / "a" / "09.png")
    digests.add(read_image_classes(tmp_path, ["a", "b"], order="sorted", size=8).digest)
    assert len(digests) == 3


def test_classes_without_a_folder_or_images(tmp_path: Path) -> None:
    write_classes(tmp_path, {"a": 2})
    with pytest.raises(OnwardError, match=r"found none for b, c \(2 in all\)"):
        read_image_classes(tmp_path, ["a", "b", "c"], order="sorted", size=8)
    (tmp_path / "train" / "b").mkdir()
    (tmp_path / "val" / "b").mkdir()
    (tmp_path / "train" / "b" / "notes.txt").touch()
    with pytest.raises(OnwardError, match=r"expected images in .*b, found none"):
        read_image_classes(tmp_path, ["a", "b"], order="sorted", size=8)
