import shutil
from pathlib import Path

import numpy as np
import pytest
from clear_miniature import write_new, write_old

from onward.data.emoji_history import load_emoji
from onward.data.past import read_past
from onward.errors import OnwardError


def test_the_past_of_the_emoji_is_their_first_snapshot() -> None:
    table = load_emoji()
    first = table.wide["image"][np.flatnonzero(table.values("snapshot") == 0)]
    past = read_past("emoji", 32)
    found = past.images[np.arange(past.images.shape[0])]
    assert {image.tobytes() for image in found} == {image.tobytes() for image in first}


@pytest.mark.parametrize("write", [write_old, write_new])
def test_only_bucket_0_of_a_download_is_used(write, tmp_path: Path) -> None:  # noqa: ANN001
    root = write(tmp_path / "clear", per_class=3)
    past = read_past(str(root), 24)
    assert past.images.shape == (12, 24, 24, 3)
    assert past.name == "clear, bucket 0"
    assert read_past(str(root), 24).digest == past.digest != read_past(str(root), 16).digest
    for folder in root.rglob("labeled_images/0"):
        shutil.rmtree(folder)
    with pytest.raises(OnwardError, match="would be to look ahead"):
        read_past(str(root), 24)


def test_a_plain_folder_of_images(tmp_path: Path) -> None:
    root = write_old(tmp_path / "clear", per_class=2)
    shutil.copytree(root / "labeled_images" / "0", tmp_path / "photos")
    (tmp_path / "photos" / "notes.txt").write_text("no image")
    past = read_past(str(tmp_path / "photos"), 16)
    assert (past.name, past.images.shape) == ("photos", (8, 16, 16, 3))
    (tmp_path / "empty").mkdir()
    with pytest.raises(OnwardError, match="expected images in"):
        read_past(str(tmp_path / "empty"), 16)
    with pytest.raises(OnwardError, match="Did you mean 'emoji'"):
        read_past("emojis", 16)
