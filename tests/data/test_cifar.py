"""CIFAR-100's files: layouts, content, and what is wrong with others."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cifar_miniature import python2_pickle, write_cifar

from onward.data.cifar import PlanarImages, cifar_folder, read_cifar
from onward.errors import OnwardError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cifar(tmp_path, train=3, test=2) / "cifar-100-python"


def _change(path: Path, **changes: Any) -> None:
    found = pickle.loads(path.read_bytes(), encoding="latin1")
    found = {name: value for name, value in (found | changes).items() if value is not None}
    path.write_bytes(pickle.dumps(found))


def test_the_folder_or_the_one_above(folder: Path, tmp_path: Path) -> None:
    assert cifar_folder(tmp_path) == folder == cifar_folder(folder)
    assert cifar_folder(tmp_path / "nothing") is None


def test_samples_are_in_the_order_of_their_files(folder: Path) -> None:
    table = read_cifar(folder)
    train, test = (
        pickle.loads((folder / side).read_bytes(), encoding="bytes") for side in ("train", "test")
    )
    assert len(table) == 500
    assert table.values("test").tolist() == [False] * 300 + [True] * 200
    names = pickle.loads((folder / "meta").read_bytes(), encoding="latin1")["fine_label_names"]
    labels = [*train[b"fine_labels"], *test[b"fine_labels"]]
    found = table.columns.column("subclass").cast("string").to_pylist()
    assert found == [names[label] for label in labels]
    images = table.wide["image"]
    assert images.shape == (500, 32, 32, 3)
    rows = np.array([0, 299, 300, 499, 7])
    both = np.concatenate([train[b"data"], test[b"data"]])[rows]
    assert np.array_equal(images[rows], both.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
    assert np.array_equal(images[rows[:2]], images[rows][:2])


def test_the_digest_is_that_of_the_content(folder: Path, tmp_path: Path) -> None:
    digest = read_cifar(folder).digest
    data = np.array(pickle.loads((folder / "train").read_bytes(), encoding="latin1")["data"])
    _change(folder / "train", batch_label="another")
    assert read_cifar(folder).digest == digest
    data[5, 100] ^= 1
    _change(folder / "train", data=data)
    assert read_cifar(folder).digest != digest


def test_noise_takes_the_place_of_some_rows(folder: Path) -> None:
    images = read_cifar(folder).wide["image"]
    assert isinstance(images, PlanarImages)
    noisy = images.with_noise(np.array([1, 400]), np.random.default_rng(0))
    rows = np.array([0, 1, 400, 499])
    same = (noisy[rows] == images[rows]).all((1, 2, 3))
    assert same.tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("train", {"data": None}, "expected data in"),
        ("train", {"fine_labels": None, "labels": [1]}, "an entry 'labels'"),
        ("train", {"data": np.zeros((300, 3071), np.uint8)}, "images of 3072 bytes"),
        ("train", {"data": np.zeros((300, 3072), np.int16)}, "images of 3072 bytes"),
        ("train", {"data": [1, 2]}, "bytes in .*, found none"),
        ("train", {"data": np.zeros((299, 3072), np.uint8)}, "300 labels and 299 images"),
        ("train", {"fine_labels": [100] * 300}, "found 100 to 100"),
        ("train", {"fine_labels": [-1] * 300}, "fine labels from 0 to 99"),
        ("train", {"fine_labels": ["a"] * 300}, "a list of whole numbers"),
        ("train", {"fine_labels": 3}, "a list of whole numbers"),
        ("meta", {"fine_label_names": ["apple"] * 100}, "every class once"),
        ("meta", {"fine_label_names": None}, "expected fine_label_names"),
        ("meta", {"fine_label_names": [1, 2]}, "expected fine_label_names"),
        ("meta", {"fine_label_names": 5}, "expected fine_label_names"),
        ("meta", {"fine_label_names": [b"\xff\xfe", b"b"]}, "expected fine_label_names"),
        ("meta", {"fine_label_names": ["\ud800", "b"]}, "expected fine_label_names"),
    ],
)
def test_content_that_is_not_cifars(
    folder: Path, name: str, changes: dict[str, Any], message: str
) -> None:
    _change(folder / name, **changes)
    with pytest.raises(OnwardError, match=message):
        read_cifar(folder)


def test_a_file_that_is_missing_or_empty(folder: Path) -> None:
    (folder / "test").write_bytes(b"")
    with pytest.raises(OnwardError, match="an empty file"):
        read_cifar(folder)
    (folder / "test").unlink()
    with pytest.raises(OnwardError, match=r"found no .*test"):
        read_cifar(folder)


def test_something_else_than_a_dictionary(folder: Path) -> None:
    (folder / "meta").write_bytes(pickle.dumps([1]))
    with pytest.raises(OnwardError, match="found list"):
        read_cifar(folder)


def test_labels_as_an_array_are_fine(folder: Path) -> None:
    labels = pickle.loads((folder / "train").read_bytes(), encoding="latin1")["fine_labels"]
    digest = read_cifar(folder).digest
    _change(folder / "train", fine_labels=np.array(labels))
    assert read_cifar(folder).digest == digest


def test_the_miniature_is_written_as_python_2_wrote(tmp_path: Path) -> None:
    content = python2_pickle({"data": np.zeros((1, 2), np.uint8)})
    assert content.startswith(b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct")
