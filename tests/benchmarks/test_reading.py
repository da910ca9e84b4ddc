"""Whose data it is, where nobody says for which benchmark."""

from pathlib import Path

import pytest

from onward.benchmarks import BENCHMARKS, benchmark_reading
from onward.errors import OnwardError

FOLDERS = {
    "clear": ("labeled_metadata.json", "class_names.txt"),
    "iirc": ("train/cat/1.png", "val/cat/2.png"),
    "clad-c": (
        "SSLAD-2D/labeled/annotations/instance_val.json",
        "SSLAD-2D/labeled/train/1.jpg",
        "SSLAD-2D/labeled/val/2.jpg",
    ),
    "tic": ("yearly/train/2016/0.tar",),
    "yours": ("holiday/1.jpg",),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_recognised_by_what_is_in_it(name: str, tmp_path: Path) -> None:
    for file in FOLDERS[name]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(b"{}")
    assert benchmark_reading(str(tmp_path)) == name


def test_frames_are_no_classes(tmp_path: Path) -> None:
    for file in FOLDERS["clad-c"]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(b"{}")
    assert benchmark_reading(str(tmp_path / "SSLAD-2D" / "labeled")) == "clad-c"


def test_every_name_of_data_belongs_to_a_benchmark_that_has_it() -> None:
    for listed in map(BENCHMARKS.find, BENCHMARKS):
        for name in listed.named:
            assert name in BENCHMARKS[benchmark_reading(name)].named
    with pytest.raises(OnwardError, match="Did you mean 'street'"):
        benchmark_reading("streat")
