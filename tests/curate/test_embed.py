"""A store of directions: whole whatever is wrong with an image, and whenever it is stopped."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from curated_miniature import write_pictures, write_pool, write_tar
from PIL import Image
from task_folders import picture

from onward.curate.embed import Loaded, Part, embed, told, unit
from onward.curate.embed_images import image_parts, images_digest
from onward.curate.images import image_shards
from onward.curate.stage import Stage, making, open_stage
from onward.curate.store import Store
from onward.errors import OnwardError
from onward.models.clip import Clip
from onward.models.clip_choice import named_clip
from onward.models.clip_config import open_clip
from onward.train.loading import loading_with
from onward.types import Array


@pytest.fixture(scope="module")
def clip() -> Clip:
    return named_clip("clip_small")


def made(
    out: Path, clip: Clip, images: Path, pool: Stage | None = None, rows: int = 1 << 14
) -> Stage:
    shards = image_shards(images)
    with making(out, "embed", {"found": images_digest(shards)}) as folder:
        folder.finish(embed(image_parts(clip, shards, rows), out, pool))
    return open_stage(out, "embed")


def corrupt(out: Path) -> list[list[str]]:
    with (out / "corrupt.csv").open(newline="") as file:
        return list(csv.reader(file))[1:]


def encoded(image: Image.Image, kind: str) -> bytes:
    sink = io.BytesIO()
    image.save(sink, kind)
    return sink.getvalue()


def test_directions_are_those_of_open_clip(clip: Clip, tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "images", 2)
    stage = made(tmp_path / "store", clip, images)
    store = Store.open(stage.folder)
    assert stage.counts["embedded"] == len(store) == 12
    ids = store.ids(np.arange(12))
    assert ids == sorted(p.stem for p in (images / "0").iterdir()) + sorted(
        p.stem for p in (images / "1").iterdir()
    )
    assert store.buckets.tolist() == [-1] * 12
    assert all(array.dtype == np.float16 for array in store.arrays)
    transform = open_clip().image_transform(clip.side, is_train=False)
    with torch.no_grad():
        pixels = transform(Image.open(images / "1" / f"{ids[7]}.png"))[None]
        expected = clip.net.encode_image(pixels, normalize=True)[0].numpy()
    np.testing.assert_allclose(store.take(np.array([7]))[0], expected, atol=1e-3)
    np.testing.assert_allclose(
        np.linalg.norm(store.take(np.arange(12)).astype(np.float32), axis=1), 1, atol=1e-3
    )


def test_buckets_come_from_the_pool_and_gaps_are_counted(clip: Clip, tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", 2, {1: ["never fetched", "nor this"]})
    images = write_pictures(tmp_path / "images", 2)
    (images / "0" / "stranger.png").write_bytes(picture("red"))
    (images / "1" / "red_0_0.png").write_bytes(picture("red"))
    stage = made(tmp_path / "store", clip, images, pool)
    assert stage.counts["buckets"] == {"0": 7, "1": 6}
    assert stage.counts["outside_the_pool"] == 1
    assert stage.counts["without_a_direction"] == 2
    assert stage.counts["twice"] == 1
    assert (stage.folder / "twice.csv").read_text() == "shard,id\n1,red_0_0\n"
    words = " ".join(told(stage.counts))
    for word in ("1 with an id that came before", "1 that the pool has not", "2 of the pool"):
        assert word in words
    store = Store.open(stage.folder)
    ids = store.ids(np.arange(len(store)))
    assert all(
        bucket == (-1 if one == "stranger" else int(one.split("_")[1]))
        for one, bucket in zip(ids, store.buckets, strict=True)
    )


def test_what_is_no_image_is_listed_and_the_rest_goes_on(clip: Clip, tmp_path: Path) -> None:
    whole = picture("green")
    # Pillow warns of such a palette.
    palette = io.BytesIO()
    Image.new("P", (20, 20)).save(palette, "PNG", transparency=b"\x00\x80")
    write_tar(
        tmp_path / "tars" / "00000.tar",
        {
            "a.png": whole,
            "b.png": b"",
            "c.jpg": b"<html>not found</html>",
            "d.png": encoded(Image.new("1", (14000, 14000)), "PNG"),
            "e.png": whole[: len(whole) // 2],
            "f.png": encoded(Image.new("RGB", (4000, 1)), "PNG"),
            "g.txt": b"no image at all",
            "h.json": json.dumps({"id": "by its json"}).encode(),
            "h.png": whole,
            "i.json": b"{damaged",
            "i.bmp": encoded(Image.new("RGB", (9, 9)), "BMP"),
            "j.gif": encoded(Image.new("P", (20, 20)), "GIF"),
            "jj.png": palette.getvalue(),
            "k.png": encoded(Image.new("I;16", (30, 20)), "PNG"),
        },
    )
    stage = made(tmp_path / "store", clip, tmp_path / "tars")
    store = Store.open(stage.folder)
    assert store.ids(np.arange(len(store))) == ["a", "by its json", "i", "j", "jj", "k"]
    assert {row[1]: row[2] for row in corrupt(stage.folder)} == {
        "b": "no bytes",
        "c": "cannot be decoded",
        "d": "decompression bomb",
        "e": "cannot be decoded",
        "f": "too narrow",
    }
    assert stage.counts["corrupt"] == {
        "no bytes": 1,
        "cannot be decoded": 2,
        "decompression bomb": 1,
        "too narrow": 1,
    }
    assert stage.counts["found"] == 11


def test_nothing_that_can_be_read(clip: Clip, tmp_path: Path) -> None:
    write_tar(tmp_path / "tars" / "0.tar", {"a.png": b"", "b.png": b"x"})
    with pytest.raises(OnwardError, match="one image at least that can be read"):
        made(tmp_path / "store", clip, tmp_path / "tars")


def test_vectors_without_a_direction_are_named(tmp_path: Path) -> None:
    vectors = np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 1], [1e30, 0], [1e-30, 0]])
    parts = iter([Part("one", lambda: Loaded(list("abcdef"), vectors.astype(np.float32)))])
    with making(tmp_path / "store", "embed", {}) as folder:
        folder.finish(embed(parts, folder.folder))
    stage = open_stage(folder.folder, "embed")
    store = Store.open(stage.folder)
    assert store.ids(np.arange(3)) == ["a", "e", "f"]
    np.testing.assert_allclose(store.arrays[0], [[0.6, 0.8], [1, 0], [1, 0]], atol=1e-3)
    assert [row[1:3] for row in corrupt(stage.folder)] == [
        ["b", "a vector of zeros"],
        ["c", "NaN or infinity in its vector"],
        ["d", "NaN or infinity in its vector"],
    ]


def test_float64_beyond_float32_has_a_direction() -> None:
    found, zero, strange = unit(np.array([[1e200, 1e200], [1e-200, 0]]))
    assert not zero.any()
    assert not strange.any()
    np.testing.assert_allclose(found, [[0.7071, 0.7071], [1, 0]], atol=1e-3)


def test_a_kill_costs_one_part(clip: Clip, tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "images", 3)
    whole = made(tmp_path / "whole", clip, images, rows=4)
    assert whole.counts["shards"] == 6
    loaded: list[str] = []

    def dying(after: int) -> Iterator[Part]:
        for part in image_parts(clip, image_shards(images), 4):

            def load(part: Part = part) -> Loaded:
                if len(loaded) == after:
                    raise KeyboardInterrupt
                loaded.append(part.name)
                return part.load()

            yield Part(part.name, load)

    out = tmp_path / "store"
    options = {"found": images_digest(image_shards(images))}
    for after in (2, 5, 99):
        try:
            with making(out, "embed", options) as folder:
                folder.finish(embed(dying(after), out))
        except KeyboardInterrupt:
            with pytest.raises(OnwardError, match="unfinished"):
                open_stage(out, "embed")
    assert loaded == [f"{bucket}-{part:05d}" for bucket in (0, 1) for part in range(3)]
    files = sorted(path.name for path in whole.folder.iterdir() if path.name != ".lock")
    assert sorted(path.name for path in out.iterdir() if path.name != ".lock") == files
    for name in files:
        if name.endswith((".npy", ".parquet", ".csv")):
            assert (out / name).read_bytes() == (whole.folder / name).read_bytes()


_KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from onward.curate.embed import Loaded, Part, embed
from onward.curate.stage import making

out, at = Path(sys.argv[1]), int(sys.argv[2])

def load(number):
    if number == at:
        os.kill(os.getpid(), signal.SIGKILL)
    rows = np.random.default_rng(number).standard_normal((4, 3)).astype(np.float32)
    rows[0] = 0
    return Loaded([f"{number}-{row}" for row in range(4)], rows)

with making(out, "embed", {}) as folder:
    folder.finish(embed(iter([Part(str(n), lambda n=n: load(n)) for n in range(5)]), out))
"""


def test_killed_without_warning_it_goes_on(tmp_path: Path) -> None:
    def run(out: Path, at: int) -> int:
        return subprocess.run([sys.executable, "-c", _KILLED, out, str(at)], check=False).returncode

    assert run(tmp_path / "whole", -1) == 0
    assert [run(tmp_path / "killed", at) for at in (2, 4, -1)] == [-9, -9, 0]
    for path in (tmp_path / "whole").rglob("*.*"):
        other = tmp_path / "killed" / path.relative_to(tmp_path / "whole")
        assert path.read_bytes() == other.read_bytes()
    assert open_stage(tmp_path / "killed", "embed").counts["corrupt"] == {"a vector of zeros": 5}


def test_two_shards_of_one_name_are_refused(tmp_path: Path) -> None:
    part = Part("one", lambda: Loaded(["a"], np.ones((1, 2), np.float32)))
    with pytest.raises(OnwardError, match="two that are called 'one'"):
        embed(iter([part, part]), tmp_path)


def test_other_widths_are_refused(tmp_path: Path) -> None:
    parts = [
        Part(str(width), lambda width=width: Loaded(["a"], np.ones((1, width), np.float32)))
        for width in (2, 3)
    ]
    with pytest.raises(OnwardError, match="vectors of 2 numbers as before, found 3 in 3"):
        embed(iter(parts), tmp_path)


def test_a_changed_folder_is_noticed(clip: Clip, tmp_path: Path) -> None:
    images = write_pictures(tmp_path / "images", 1)
    made(tmp_path / "store", clip, images)
    (images / "0" / "new.png").write_bytes(picture("red"))
    with pytest.raises(OnwardError, match=r"options that .* was begun with, found found"):
        made(tmp_path / "store", clip, images)


def test_any_number_of_workers_gives_the_same_store(
    clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onward.curate.embed_images._BATCH_SIZE", 2)
    images = write_pictures(tmp_path / "images", 5)
    (images / "0" / "broken.jpg").write_bytes(b"")
    (images / "1" / "cut off.png").write_bytes(picture("red")[:40])
    for workers in (0, 2):
        with loading_with(workers):
            made(tmp_path / str(workers), clip, images)
    assert {row[1]: row[2] for row in corrupt(tmp_path / "2")} == {
        "broken": "no bytes",
        "cut off": "cannot be decoded",
    }
    stored = [path for path in sorted((tmp_path / "0").rglob("*.*")) if path.suffix != ".json"]
    assert len(stored) > 6
    for path in stored:
        other = tmp_path / "2" / path.relative_to(tmp_path / "0")
        assert path.read_bytes() == other.read_bytes()


def test_images_are_read_by_workers(
    clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onward.curate.embed_images._BATCH_SIZE", 2)
    readers = tmp_path / "readers"
    readers.mkdir()
    fit = clip.fit

    def noted(image: Image.Image) -> Array:
        (readers / str(os.getpid())).touch()
        return fit(image)

    monkeypatch.setattr(clip, "fit", noted)
    with loading_with(2):
        made(tmp_path / "store", clip, write_pictures(tmp_path / "images", 5))
    pids = {int(path.name) for path in readers.iterdir()}
    assert len(pids) > 1
    assert os.getpid() not in pids
