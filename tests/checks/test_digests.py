import io
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from onward.checks.digests import digest, digest_folder


def test_equal_contents_have_equal_digests() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert digest(array) == digest(np.asfortranarray(array)) == digest(torch.from_numpy(array))
    assert digest(["a", {"b": 1.5}]) == digest(("a", {"b": 1.5}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([0.0]), np.array([-0.0])),
        (["ab"], ["a", "b"]),
        ("1", 1),
        (None, 0),
        (np.array([{"a": 1}], object), np.array([{"a": 2}], object)),
    ],
)
def test_other_contents_have_other_digests(one: object, other: object) -> None:
    assert digest(one) != digest(other)


def test_the_time_of_day_in_an_archive_does_not_count(tmp_path: Path) -> None:
    def archive(folder: str, content: bytes, year: int) -> Path:
        (tmp_path / folder).mkdir()
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w") as file:
            file.writestr(zipfile.ZipInfo("a.npy", (year, 1, 1, 0, 0, 0)), content)
        (tmp_path / folder / "state.npz").write_bytes(sink.getvalue())
        return tmp_path / folder

    then, now = archive("then", b"x", 1999), archive("now", b"x", time.localtime().tm_year)
    assert digest_folder(then) == digest_folder(now)
    assert digest_folder(then) != digest_folder(archive("other", b"y", 1999))
