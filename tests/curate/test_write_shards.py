"""Shards of dated pairs: as TiC-CLIP's are released, for our reader and for open_clip's."""

import gc
import importlib.util
import json
import tarfile
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from dated_miniature import YEARS, pairs, stopping, write_dated, write_images
from small_words import bag_of_words, write_wordnet

import onward
from onward.curate.make_tests import AskedOptions, make_tests
from onward.curate.write_shards import make_shards
from onward.data.tic_folder import read_tic
from onward.data.uid_lists import UID, open_list, uids_of
from onward.errors import OnwardError
from onward.models.torchvision_loader import torchvision


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("pairs")
    rows = pairs()
    dated, images = write_dated(root / "dated", rows), write_images(root / "images", rows)
    make_tests(dated, images, root / "tests", AskedOptions(retrieval=4))
    return root / "tests", images


@pytest.fixture(scope="module")
def sharded(tested: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sharded") / "shards"
    make_shards(*tested, out, shard_size=6)
    return out


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_layout_is_the_released_one(sharded: Path, tested: tuple[Path, Path]) -> None:
    folder = sharded / "yearly" / "train" / "2015"
    sizes = json.loads((folder / "sizes.json").read_text())
    assert sizes == {"00000000.tar": 6, "00000001.tar": 6, "00000002.tar": 4}
    meta = json.loads((folder / "meta.json").read_text())
    assert meta == {"output_count": 16, "output_shard_count": 3}
    assert json.loads((folder / "00000002_stats.json").read_text()) == {"successes": 4}
    evals = sharded / "yearly" / "eval" / "retrieval" / "2015"
    told = {name: (evals / f"{name}.txt").read_text() for name in ("nshards", "count")}
    assert told == {"nshards": "1", "count": "4"}
    assert (evals / "dataset_type.txt").read_text() == "retrieval"
    with tarfile.open(folder / "00000000.tar") as tar:
        names = tar.getnames()
        held = {name: tar.extractfile(name).read() for name in names}  # type: ignore[union-attr]
    key = names[0].partition(".")[0]
    assert [name.partition(".")[2] for name in names[:3]] == ["json", "png", "txt"]
    assert key.endswith("-0")
    assert json.loads(held[f"{key}.json"])["uid"] == key[:-2]
    rows = pq.read_table(tested[0] / "rows" / "01").to_pylist()
    assert held[f"{key}.txt"].decode() in {row["caption"] for row in rows}


def test_images_are_copied_byte_by_byte(sharded: Path, tested: tuple[Path, Path]) -> None:
    def images(folder: Path) -> set[bytes]:
        found = set()
        for path in folder.rglob("*.tar"):
            with tarfile.open(path) as tar:
                members = [one for one in tar if one.name.endswith(".png")]
                found |= {tar.extractfile(one).read() for one in members}  # type: ignore[union-attr]
        return found

    assert images(sharded / "yearly") == images(tested[1])


def test_years_of_your_own_stay_apart(sharded: Path) -> None:
    data = read_tic(sharded, side=32)
    assert [period.name for period in data.periods] == [str(year) for year in YEARS]
    assert [period.start.year for period in data.periods] == list(YEARS)
    assert data.layout == "dated pairs, yearly"
    assert [len(period.train) for period in data.periods] == [16, 16, 16]
    assert all(count.right for count in data.counts)


def test_the_benchmark_reads_it(sharded: Path) -> None:
    benchmark = onward.load("tic", data=str(sharded), size=32)
    assert len(benchmark.stream(0)) == 3


def test_months(tested: tuple[Path, Path], tmp_path: Path) -> None:
    counts = make_shards(*tested, tmp_path / "out", calendar="monthly")
    names = [one["name"] for one in counts["periods"]]
    assert names == [f"{year}{month:02}" for year in YEARS for month in (1, 5, 9)]
    data = read_tic(tmp_path / "out", side=32)
    assert data.layout == "dated pairs, monthly"


def test_ids_are_those_of_the_shards(sharded: Path, tested: tuple[Path, Path]) -> None:
    lists = sharded / "ids" / "tic-datacomp_training_yearly_noeval"
    listed = open_list(lists / "2016.npy")
    rows = pq.read_table(tested[0] / "rows" / "02").column("id").to_pylist()
    assert listed.dtype == UID
    assert listed.tolist() == np.sort(uids_of(rows)).tolist()
    asked = json.loads(
        (sharded / "ids" / "tic-datacomp_retrieval_evals_year2uids.json").read_text()
    )
    assert [len(asked[str(year)]) for year in YEARS] == [4, 4, 4]


@pytest.mark.parametrize("after", [1, 14, 40])
def test_stopped_and_gone_on_with_the_bytes_are_the_same(
    sharded: Path, tested: tuple[Path, Path], tmp_path: Path, after: int
) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        make_shards(*tested, out, shard_size=6, watch=stopping(after))
    assert not (out / "stage.json").exists()
    make_shards(*tested, out, shard_size=6)
    assert content(out) == content(sharded)


def test_a_missing_image_is_named(tested: tuple[Path, Path], tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    for path in sorted(tested[1].iterdir())[1:]:
        (images / path.name).write_bytes(path.read_bytes())
    with pytest.raises(OnwardError, match=r"images of all pairs .* found none of .*curate tests"):
        make_shards(tested[0], images, tmp_path / "out")


def test_an_unknown_calendar(tested: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match=r"calendar.*weekly"):
        make_shards(*tested, tmp_path / "out", calendar="weekly")


def test_classes_are_read_and_their_parts(tmp_path: Path) -> None:
    rows = pairs()
    said = ("dog, a tame canine", "pug, so small", "box or container")
    for number, row in enumerate(rows):
        row["caption"] = f"{row['caption']} {said[number % 3]}"
    dated, images = write_dated(tmp_path / "dated", rows), write_images(tmp_path / "images", rows)
    (tmp_path / "classes.txt").write_text("dog\npug\nbox\n")
    options = AskedOptions(
        retrieval=2,
        classes=str(tmp_path / "classes.txt"),
        subtrees=("dog",),
        per_class=2,
        similarity=0.1,
        wordnet=write_wordnet(tmp_path / "wordnet"),
    )
    counts = make_tests(dated, images, tmp_path / "tests", options, directions=bag_of_words)
    assert counts["classes"] == {"dog": 6, "pug": 6, "box": 6}
    out = tmp_path / "shards"
    make_shards(tmp_path / "tests", images, out, templates=("a {c}",))
    data = read_tic(out, side=32)
    assert data.classes == ("dog", "pug", "box")
    assert set(data.periods[0].more) == {"zero_shot"}
    assert json.loads((out / "subtrees.json").read_text()) == {"dog": ["dog", "pug"]}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.skipif(importlib.util.find_spec("open_clip") is None, reason="needs open_clip")
def test_open_clips_own_trainer_reads_it(sharded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torchvision()  # open_clip must find it mended
    from open_clip import get_tokenizer, image_transform
    from open_clip_train import data as trainer

    # It is written for webdataset below 1, which marks the end of a shard with nothing.
    expander = partial(trainer.tar_file_expander, eof_value=None)
    monkeypatch.setattr(trainer, "tar_file_expander", expander)

    args = Namespace(
        train_data=str(sharded / "yearly" / "train" / "2015" / "{00000000..00000001}.tar"),
        train_data_upsampling_factors=None,
        train_num_samples=12,
        dataset_resampled=False,
        seed=0,
        batch_size=4,
        workers=0,
        world_size=1,
    )
    transform, words = image_transform(32, is_train=True), get_tokenizer("ViT-B-32")
    found = trainer.get_wds_dataset(args, transform, is_train=True, tokenizer=words)
    images, texts = next(iter(found.dataloader))
    del found
    gc.collect()  # the shard that it has open, here and not in somebody else's test
    assert tuple(images.shape) == (4, 3, 32, 32)
    assert tuple(texts.shape) == (4, 77)
