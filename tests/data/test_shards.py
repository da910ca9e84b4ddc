"""Shards: any row by its place, as webdataset reads them; what is broken is named."""

import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import webdataset as wds
from PIL import Image
from tic_miniature import encoded, pairs, tar

from onward.data.gaps import Gaps
from onward.data.pair_column import ONLY_IMAGE, ONLY_TEXT, PAIR, PairColumn, Window
from onward.data.pair_files import OpenFiles, in_order
from onward.data.shards import Shards, open_shards, shard_paths
from onward.data.tar_index import tar_index
from onward.errors import OnwardError
from onward.models.clip_config import open_clip
from onward.pairs import pair_type
from onward.types import Array, Call, Rows, Samples, Table, View


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))


def column_of(shards: Shards, side: int = 8, **options: int) -> PairColumn:
    every = np.arange(len(shards))
    parts, lines = np.full(len(every), PAIR, np.uint8), np.full(len(every), -1, np.int32)
    return PairColumn(shards, every, parts, lines, (), side, **options)


def several(folder: Path, shards: int, samples: int) -> Shards:
    paths = [
        tar(folder / f"{number}.tar", pairs(*(f"s{number}x{i}" for i in range(samples))))
        for number in range(shards)
    ]
    return open_shards(paths, folder)


def test_samples_are_those_that_webdataset_reads(tmp_path: Path) -> None:
    samples = pairs("a/one", "a/two", "b/one")
    samples["a/two"]["JSON"] = b"{}"
    path = tar(tmp_path / "0.tar", samples)
    with tarfile.open(path, "a") as file:
        for name in ("__meta__/x.txt", "__this__", "readme"):
            file.addfile(tarfile.TarInfo(name))
    shards = open_shards([path], tmp_path)
    with path.open("rb") as stream:
        files = wds.tariterators.tar_file_expander([{"url": str(path), "stream": stream}])
        theirs = list(wds.tariterators.group_by_keys(files))
    assert len(theirs) == 3
    assert shards.keys.to_pylist() == [sample["__key__"] for sample in theirs]
    for number, sample in enumerate(theirs):
        assert shards.image(number) == sample["jpg"]
        assert shards.text(number).encode() == sample["txt"]
    assert shards.part(1, "json") == b"{}"
    assert shards.ids(np.array([2, 0])).to_pylist() == ["0/b/one", "0/a/one"]


@pytest.mark.parametrize(("kind", "mode"), [("JPEG", "RGB"), ("PNG", "L"), ("WEBP", "RGB")])
@pytest.mark.parametrize("size", [(20, 12), (9, 31), (8, 8), (5, 4)])
def test_images_are_as_open_clip_evaluates_them(
    tmp_path: Path, kind: str, mode: str, size: tuple[int, int]
) -> None:
    content = encoded(kind, size, mode)
    extension = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}[kind]
    path = tar(tmp_path / "0.tar", {"a": {extension: content, "txt": b"a"}})
    ours = column_of(open_shards([path], tmp_path))[np.array([0])]["image"][0]
    transform = open_clip().image_transform(8, is_train=False, mean=(0, 0, 0), std=(1, 1, 1))
    theirs = transform(Image.open(io.BytesIO(content))).permute(1, 2, 0).mul(255).round().byte()
    assert np.array_equal(ours, theirs.numpy())


def test_any_rows_in_any_order_with_a_small_window(tmp_path: Path) -> None:
    shards = several(tmp_path, 3, 5)
    whole, small, none = (column_of(shards, window=w) for w in (1 << 20, 1500, 0))
    rng = np.random.default_rng(0)
    everything = whole[np.arange(15)]
    assert everything["text"].tolist() == [
        f"caption of s{n}x{i}".encode() for n in range(3) for i in range(5)
    ]
    for _ in range(20):
        rows = rng.integers(0, 15, rng.integers(1, 12))
        for column in (whole, small, none):
            assert np.array_equal(column[rows], everything[rows])


def test_a_column_goes_to_another_process_without_what_it_keeps(tmp_path: Path) -> None:
    column = column_of(several(tmp_path, 1, 5))
    pairs = column[np.arange(5)]
    sent = pickle.dumps(column)
    assert b"caption of" not in sent
    assert np.array_equal(pickle.loads(sent)[np.arange(5)], pairs)


def test_a_view_reads_shards_in_their_order(tmp_path: Path) -> None:
    shards = several(tmp_path, 6, 4)
    column = column_of(shards, mixed=1)
    rows = np.arange(24)
    table = Table(pa.table({"id": rows}), {"input": column}, "")
    view = View(table, Samples(rows, rows), (), Call(None))
    order = view.shuffled(24, np.random.default_rng(0))
    assert np.count_nonzero(np.diff(shards.file_of(order))) == 5
    assert np.array_equal(view.inputs(order), column[order])
    assert np.array_equal(np.concatenate(list(view.parts(7))), column[rows])


def test_a_window_makes_what_it_has_not_and_holds_so_many_bytes() -> None:
    kind = pair_type((2, 2, 3), 10)
    made: list[int] = []

    def make(rows: Rows) -> Array:
        made.extend(rows.tolist())
        found = np.zeros(len(rows), kind)
        found["text"] = [str(row).encode() for row in rows.tolist()]
        return found

    window = Window(kind, 4 * kind.itemsize + 3, 100)
    for rows in ([1, 2, 1], [2, 1], [3, 4], [5], [2, 1], [9, 8, 7, 6, 5]):
        assert window.take(np.array(rows), make)["text"].tolist() == [b"%d" % row for row in rows]
    # 5 took the place of 1; then 1 that of 2; of five that are new, four stay.
    assert made == [1, 2, 3, 4, 5, 1, 6, 7, 8, 9]
    assert len(window._slot) == 4
    assert window._kept.nbytes <= 4 * kind.itemsize + 3


def test_shuffling_reads_each_shard_once_and_is_the_same_by_its_seed(tmp_path: Path) -> None:
    shards = several(tmp_path, 6, 4)
    column = column_of(shards, mixed=2)
    rows = np.arange(24)[::-1].copy()
    order = column.shuffled(rows, np.random.default_rng(5))
    assert sorted(order.tolist()) == list(range(24))
    assert np.array_equal(order, column.shuffled(rows, np.random.default_rng(5)))
    assert not np.array_equal(order, column.shuffled(rows, np.random.default_rng(6)))
    files = shards.file_of(rows[order])
    together = [set(files[start : start + 8].tolist()) for start in (0, 8, 16)]
    assert [len(some) for some in together] == [2, 2, 2]
    assert set.union(*together) == set(range(6))
    # Inside of what is mixed, samples of both shards come in turns.
    assert any(np.any(np.diff(files[start : start + 8], n=2)) for start in (0, 8, 16))


def test_parts_prompts_and_lines(tmp_path: Path) -> None:
    path = tar(tmp_path / "0.tar", {"a": {"jpg": encoded(), "txt": b"one \n\n two  x\n"}})
    shards = open_shards([path], tmp_path)
    column = PairColumn(
        shards,
        np.array([0, 0, 0, 0, -2]),
        np.array([PAIR, ONLY_IMAGE, ONLY_TEXT, ONLY_TEXT, ONLY_TEXT], np.uint8),
        np.array([-1, -1, 0, 1, -1], np.int32),
        ("a dog", "a cat\n" * 200),
        8,
    )
    found = column[np.arange(5)]
    assert found["has_image"].tolist() == [1, 1, 0, 0, 0]
    assert found["has_text"].tolist() == [1, 0, 1, 1, 1]
    assert found["text"].tolist() == [b"one two x", b"", b"one", b"two x", b"a cat\n" * 200]
    assert found["image"].any((1, 2, 3)).tolist() == [True, True, False, False, False]


def test_noise_leaves_no_trace_of_what_it_replaces(tmp_path: Path) -> None:
    column = column_of(several(tmp_path, 1, 4))
    real = column[np.arange(4)]
    noised = column.with_noise(np.array([1, 3]), np.random.default_rng(0))[np.arange(4)]
    assert np.array_equal(real[[0, 2]], noised[[0, 2]])
    for row in (1, 3):
        assert not np.array_equal(real["image"][row], noised["image"][row])
        assert real["text"][row] != noised["text"][row]


def test_the_index_is_kept_in_our_cache_and_nothing_is_written_beside_the_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tar(tmp_path / "mine" / "0.tar", pairs("a", "b"))
    first = tar_index(path)
    assert [file.name for file in path.parent.iterdir()] == ["0.tar"]
    assert len(list((tmp_path / "cache").glob("shard-*.npy"))) == 1
    monkeypatch.setattr(tarfile, "open", None)
    assert np.array_equal(tar_index(path), first)
    monkeypatch.undo()
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    tar(path, pairs("a", "b", "c"))
    assert len(tar_index(path)) == 3


@pytest.mark.parametrize("left", [100, 512, 1000, 1536, 3000])
def test_a_shard_that_is_cut_in_the_middle(tmp_path: Path, left: int) -> None:
    path = tar(tmp_path / "0.tar", pairs("a", "b"))
    path.write_bytes(path.read_bytes()[:left])
    before = path.read_bytes()
    with pytest.raises(OnwardError, match=r"expected whole tars, found .*0\.tar \(.*\): cut or"):
        open_shards([path], tmp_path)
    assert path.read_bytes() == before


def test_every_cut_of_a_shard_is_noticed(tmp_path: Path) -> None:
    path = tar(tmp_path / "0.tar", pairs("a", "b"))
    content = path.read_bytes()
    end = max(place + 512 for place in range(0, len(content), 512) if any(content[place:][:512]))
    for left in range(0, end, 256):
        path.write_bytes(content[:left])
        with pytest.raises(OnwardError, match="cut or damaged"):
            open_shards([path], tmp_path)
    path.write_bytes(content[: end + 512])
    assert len(open_shards([path], tmp_path)) == 2


def test_all_damaged_shards_are_told_at_once_and_can_be_left_out_whole(tmp_path: Path) -> None:
    paths = [tar(tmp_path / f"{number}.tar", pairs("a", "b")) for number in range(8)]
    whole = open_shards(paths, tmp_path)
    for path in paths[:7]:
        path.write_bytes(path.read_bytes()[:1536])
    with pytest.raises(OnwardError) as caught:
        open_shards(paths, tmp_path)
    assert [str(path) in str(caught.value) for path in paths] == [True] * 7 + [False]
    gaps = Gaps("skip")
    shards = open_shards(paths, tmp_path, gaps)
    assert shards.ids(np.arange(2)).to_pylist() == ["7/a", "7/b"]
    assert shards.image(1) == whole.image(15)
    assert (len(shards), shards.found.tolist()) == (2, [-1] * 7 + [2])
    assert shards.digest != whole.digest
    (told,) = gaps.told
    assert told.startswith(f"7 shards left out, cut or damaged: {paths[0]} (it ends without")
    assert str(paths[6]) in told


def test_samples_without_a_caption_or_with_two_images_are_listed_or_left_out(
    tmp_path: Path,
) -> None:
    samples = pairs("fine", "mute", "empty", "both", "blind", "told", "blank", "untold", "untidy")
    del samples["mute"]["txt"]
    samples["empty"]["txt"] = b""
    samples["both"]["png"] = encoded("PNG")
    del samples["blind"]["jpg"]
    samples["told"] = {"jpg": encoded(), "json": b'{"caption": "a fox"}'}
    samples["blank"]["txt"] = b" \xc2\xa0\n\t"
    samples["untold"] = {"jpg": encoded(), "json": b'{"caption": null}'}
    samples["untidy"] = {"jpg": encoded(), "json": b'{"caption": " \\n "}'}
    path = tar(tmp_path / "0.tar", samples)
    with tarfile.open(path, "a") as file:
        for _ in range(2):
            member = tarfile.TarInfo("twice.txt")
            member.size = 1
            file.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(OnwardError) as caught:
        open_shards([path], tmp_path)
    told = str(caught.value)
    for key, problem in {
        "mute": "no caption",
        "empty": "no caption",
        "both": "two images",
        "blind": "no image",
        "blank": "no caption",
    }.items():
        assert f"{key} of {path}: {problem}" in told
    assert "and 3 more" in told
    assert "missing=skip" in told
    gaps = Gaps("skip")
    shards = open_shards([path], tmp_path, gaps)
    assert shards.keys.to_pylist() == ["fine", "told"]
    assert gaps.told == (
        "5 samples left out, no caption: "
        + "; ".join(f"{key} of {path}" for key in ("mute", "empty", "blank", "untold", "untidy")),
        f"1 sample left out, two images: both of {path}",
        f"1 sample left out, no image: blind of {path}",
        f"1 sample left out, a member twice: twice of {path}",
    )
    assert gaps.without == " without 8 samples"
    assert (shards.text(1), shards.found.tolist()) == ("a fox", [10])
    assert column_of(shards)[np.arange(2)]["text"].tolist() == [b"caption of fine", b"a fox"]


def test_a_caption_of_ten_thousand_letters_is_cut(tmp_path: Path) -> None:
    samples = pairs("a")
    samples["a"]["txt"] = "é".encode() * 10_000
    shards = open_shards([tar(tmp_path / "0.tar", samples)], tmp_path)
    assert column_of(shards)[np.array([0])]["text"][0].decode() == "é" * 256
    assert shards.text_sizes.tolist() == [20_000]


def test_a_corrupt_image_and_a_bomb_have_their_own_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = pairs("fine", "corrupt", "bomb", "text")
    samples["corrupt"]["jpg"] = encoded()[:200]
    samples["bomb"] = {"png": encoded("PNG", (150, 100)), "txt": b"boom"}
    samples["text"]["jpg"] = b"<html>not found</html>"
    shards = open_shards([tar(tmp_path / "0.tar", samples)], tmp_path)
    column = column_of(shards)
    for row, key in ((1, "corrupt"), (3, "text")):
        with pytest.raises(
            OnwardError, match=rf"sample {key} of .*cannot be decoded .*leave_out=FILE"
        ) as caught:
            column[np.array([row])]
        assert "BytesIO" not in str(caught.value)
    # Pillow warns from this many pixels on, and refuses twice as many: both are too many here.
    for most in (10_000, 1_000):
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)
        with pytest.raises(
            OnwardError, match=f"at most {most:,} pixels in sample bomb .*a decompr"
        ):
            column[np.array([2])]
    # Nothing of the good ones is lost with the bad ones.
    assert column[np.array([0])]["text"][0] == b"caption of fine"


def test_a_shard_that_shrinks_after_it_was_opened(tmp_path: Path) -> None:
    path = tar(tmp_path / "0.tar", pairs("a", "b"))
    shards = open_shards([path], tmp_path)
    path.write_bytes(b"")
    with pytest.raises(OnwardError, match="has changed since it was opened"):
        shards.image(1)
    shards = open_shards([tar(path, pairs("a"))], tmp_path)
    path.unlink()
    with pytest.raises(OnwardError, match="it is gone"):
        shards.image(0)


def test_lists_of_shards(tmp_path: Path) -> None:
    for year, count in (("2016", 11), ("2017", 2)):
        for number in range(count):
            tar(tmp_path / year / f"{number}.tar", {})
    text = f"{tmp_path}/2016::{tmp_path}/2017/{{0..1}}.tar"
    names = [f"{path.parent.name}/{path.stem}" for path in shard_paths(text)]
    assert names == [*(f"2016/{number}" for number in range(11)), "2017/0", "2017/1"]
    assert len(shard_paths(f"{tmp_path}/2016/1*.tar")) == 2
    with pytest.raises(OnwardError, match="2018, found none"):
        shard_paths(f"{tmp_path}/2016::{tmp_path}/2018")
    assert [p.name for p in in_order([Path("a10"), Path("a9"), Path("b1")])] == ["a9", "a10", "b1"]


def test_few_files_are_open_at_a_time(tmp_path: Path) -> None:
    opened = OpenFiles(2)
    for number in range(5):
        path = tmp_path / str(number)
        path.touch()
        opened(path)
    assert list(opened._handles) == [tmp_path / "3", tmp_path / "4"]
