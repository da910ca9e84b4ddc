"""Export: what is written is what CLEAR's readers, Croissant's and ours expect."""

import csv
import io
import json
import random
import shutil
import tarfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curated import encoded, images, pictures, pool, read, retrieved, said, votes

import onward
from onward.curate.accept import accept
from onward.curate.demo.annotators import Picture
from onward.curate.export import export
from onward.curate.records import EMBEDDED
from onward.curate.stage import making
from onward.data.clear_listing import list_clear
from onward.errors import OnwardError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Return what exports are made from: accepted, pool and images."""
    root, shown = tmp_path_factory.mktemp("curated"), pictures()
    pq.write_table(votes(shown), root / "votes.parquet")
    accept(retrieved(root / "retrieved", shown), root / "votes.parquet", root / "accepted")
    return root / "accepted", pool(root / "pool", shown), images(root / "images", shown)


@pytest.fixture(scope="module", params=["old", "new"])
def whole(
    request: pytest.FixtureRequest,
    made: tuple[Path, Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp("exported") / request.param
    export(*made, out, layout=request.param, name="Vehicles & more", price=0.02)
    return request.param, out


def test_our_own_reader_of_clear_finds_every_image(
    whole: tuple[str, Path], made: tuple[Path, Path, Path]
) -> None:
    layout, out = whole
    listing = list_clear(out)
    labelled = pq.read_table(made[0] / "labelled.parquet").to_pylist()
    assert listing.layout == layout
    assert listing.classes == ("BACKGROUND", "bus", "camera")
    assert {(one.id, one.bucket, one.label) for one in listing.samples} == {
        (row["id"], row["bucket"], row["concept"]) for row in labelled
    }
    for one in listing.samples:
        original = next(made[2].glob(f"{one.id}.*"))
        assert (out / one.path).read_bytes() == original.read_bytes()
        assert one.metadata["ID"] == one.id
        assert one.metadata["USER_ID"].startswith("author ")
        assert isinstance(one.metadata["DATE_UPLOADED"], int)


@pytest.mark.parametrize("protocol", ["iid", "streaming"])
def test_clear_runs_on_it_at_once(whole: tuple[str, Path], protocol: str) -> None:
    benchmark = onward.load("clear", data=str(whole[1]), protocol=protocol)
    assert benchmark.table.wide["input"].shape[1] == 497
    record = onward.run(benchmark, "nap", seed=0)
    assert record.scores[0].scores["accuracy"] > 0.9


def test_old_splits_are_the_released_rule(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    export(*made, tmp_path / "old")
    folder = tmp_path / "old" / "training_folder"
    assert read(folder / "bucket_indices.json") == ["1", "2", "3"]
    for bucket in ("1", "2", "3"):
        lines = (folder / "filelists" / bucket / "all.txt").read_text().split("\n")
        numbers = [int(line.rpartition(" ")[2]) for line in lines]
        assert numbers == sorted(numbers)
        for seed in range(5):
            random.seed(seed)
            order = list(range(len(lines)))
            random.shuffle(order)
            cut = len(lines) - int(0.3 * len(lines))
            home = folder / "testset_ratio_0.3" / f"split_{seed}" / bucket
            assert read(home / "train_indices.json") == order[:cut]
            assert read(home / "test_indices.json") == order[cut:]
            tested = (home / "test.txt").read_text().split("\n")
            assert tested == [lines[place] for place in order[cut:]]
    assert not (tmp_path / "old" / "class_names.txt").read_text().endswith("\n")
    index = read(tmp_path / "old" / "all_metadata.json")
    assert set(index) == {"1", "2", "3"}
    everything = read(tmp_path / "old" / index["2"])
    assert len(everything) == 24
    assert everything["29000"]["LICENSE_NAME"] == "Attribution License"


def test_a_third_of_each_class_is_tested_in_the_new_layout(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    export(*made, tmp_path / "new", layout="new")
    table = pq.read_table(tmp_path / "new" / "stream.parquet").to_pylist()
    cells: dict[tuple[int, str], list[str]] = {}
    for row in table:
        cells.setdefault((row["bucket"], row["label"]), []).append(row["part"])
        assert (tmp_path / "new" / row["path"]).is_file()
    assert len(cells) == 9
    for parts in cells.values():
        assert parts.count("test") == len(parts) // 3


def test_it_is_a_table_of_yours(whole: tuple[str, Path]) -> None:
    benchmark = onward.load(
        "yours",
        data=str(whole[1] / "stream.parquet"),
        image_column="path",
        id_column="id",
        group_column="author",
        periods="yearly",
    )
    assert len(benchmark.raw) == len(list_clear(whole[1]).samples)
    assert [period.name for period in benchmark.stream()] == ["2011", "2012", "2013"]


def test_croissant_is_valid_and_its_records_load(whole: tuple[str, Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what mlcroissant imports
        import mlcroissant

        dataset = mlcroissant.Dataset(str(whole[1] / "croissant.json"))
        assert not dataset.metadata.ctx.issues.errors
        assert not dataset.metadata.ctx.issues.warnings
        records = list(dataset.records("images"))
    table = pq.read_table(whole[1] / "stream.parquet").to_pylist()
    assert [r["images/id"].decode() for r in records] == [row["id"] for row in table]
    assert {r["images/label"].decode() for r in records} == {"BACKGROUND", "bus", "camera"}
    described = read(whole[1] / "croissant.json")
    assert described["conformsTo"] == [
        "http://mlcommons.org/croissant/1.1",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    assert "Krippendorff's alpha" in described["rai:dataAnnotationAnalysis"][0]
    assert "one annotator" in described["rai:personalSensitiveInformation"][0]


def test_whose_each_image_is(whole: tuple[str, Path]) -> None:
    with (whole[1] / "attribution.csv").open(encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {one.id for one in list_clear(whole[1]).samples}
    for name, row in rows.items():
        assert row["author"].startswith("author ")
        assert row["title"] == f'Title, "{name}"'
        assert row["page"] == f"http://pages.example/{name}"
        assert (whole[1] / row["path"]).is_file()
    card = read(whole[1] / "card.json")
    assert set(card["mind"]) == {
        "no licence",
        "no derivatives: to be handed on unchanged only",
        "all rights reserved: not to be handed on",
    }
    for why, found in card["mind"].items():
        assert sorted(found["ids"]) == sorted(n for n, row in rows.items() if row["mind"] == why)
    assert sum(card["licences"].values()) == card["images"] == len(rows)


def test_the_card_says_how_it_was_made(whole: tuple[str, Path]) -> None:
    card = read(whole[1] / "card.json")
    assert [one["kind"] for one in card["stages"]] == ["pool", "retrieve", "accept"]
    assert card["cost"]["price"] == round(216 * 0.02, 2)
    assert card["cost"]["share_looked_at"] == 72 / 648
    assert 0 <= card["label_error"]["low"] <= card["label_error"]["high"] < 0.2
    page = (whole[1] / "README.md").read_text()
    assert page.startswith("# Vehicles & more")
    assert "of 648 (11.11%)" in page


def test_only_what_may_be_handed_on(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    counts = export(*made, tmp_path / "out", licences="shareable", all_metadata=False)
    assert set(counts["licences"]) == {"CC BY 2.0", "CC BY-NC-ND"}
    assert set(counts["left_out"]) == {
        "licence: no licence",
        "licence: all rights reserved: not to be handed on",
    }
    listed = (tmp_path / "out" / "left_out.csv").read_text().splitlines()
    assert len(listed) == 1 + sum(counts["left_out"].values())
    assert not (tmp_path / "out" / "all_metadata.json").exists()


def test_missing_and_broken_images_are_named(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    accepted, source, folder = made
    here = Path(shutil.copytree(folder, tmp_path / "images"))
    ids = pq.read_table(accepted / "labelled.parquet").column("id").to_pylist()
    next(here.glob(f"{ids[0]}.*")).unlink()
    broken = next(here.glob(f"{ids[1]}.*"))
    broken.write_bytes(broken.read_bytes()[:200])
    next(here.glob(f"{ids[2]}.*")).write_bytes(b"<html>")
    with pytest.raises(OnwardError, match=rf"3 missing or broken: {ids[0]} \(image is missing\)"):
        export(accepted, source, here, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    counts = export(accepted, source, here, tmp_path / "out", missing="skip")
    assert counts["left_out"] == {"image is missing": 1, "image cannot be decoded": 2}
    assert counts["images"] == len(ids) - 3
    listed = dict(csv.reader((tmp_path / "out" / "left_out.csv").read_text().splitlines()))
    assert listed[ids[0]] == "image is missing"
    assert listed[ids[1]] == listed[ids[2]] == "image cannot be decoded"


def test_the_directions_of_embed_go_along(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    ids = pq.read_table(made[0] / "labelled.parquet").column("id").to_pylist()[::-1]
    rng = np.random.default_rng(0)
    with making(tmp_path / "embedded", "embed", {"model": "small"}) as stage:
        for number in range(2):
            some = ids[number::2]
            np.save(stage.folder / f"{number}.npy", rng.normal(size=(len(some), 6)).astype("f2"))
            rows = pa.table({"id": some, "bucket": [1] * len(some)}).cast(EMBEDDED)
            pq.write_table(rows, stage.folder / f"{number}.parquet")
        stage.finish({"images": len(ids)})
    for layout in ("old", "new"):
        out = tmp_path / layout
        export(*made, out, layout=layout, features=tmp_path / "embedded")
        benchmark = onward.load("clear", data=str(out), protocol="iid")
        assert benchmark.data == f"{layout}:clip"
        row = benchmark.table.values("id").tolist().index(ids[3])
        expected = np.load(tmp_path / "embedded" / "1.npy")[1].astype(np.float32)
        assert np.array_equal(benchmark.table.wide["input"][np.array([row])][0], expected)
        hog = onward.load("clear", data=str(out), protocol="iid", features="hog")
        assert hog.table.wide["input"].shape[1] == 497
    assert [one["kind"] for one in read(tmp_path / "old" / "card.json")["stages"]] == [
        "pool",
        "embed",
        "retrieve",
        "accept",
    ]


def test_hostile_ids_and_labels_in_bucket_0(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "a b", "..", "ü", "plain-1", "x" * 300]
    shown = [(n % 2, Picture(name, "bus", frozenset({"bus"}))) for n, name in enumerate(names)]
    folder = tmp_path / "images"
    folder.mkdir()
    with tarfile.open(folder / "0.tar", "w") as tar:
        for number, name in enumerate(names):
            for kind, content in (
                ("png", encoded()),
                ("json", json.dumps({"id": name}).encode()),
            ):
                info = tarfile.TarInfo(f"{number:05}.{kind}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    rows = [(name, f"worker {n}", ["bus"], False) for name in names for n in range(3)]
    pq.write_table(said(*rows), tmp_path / "votes.parquet")
    accept(retrieved(tmp_path / "r", shown), tmp_path / "votes.parquet", tmp_path / "a")
    export(tmp_path / "a", pool(tmp_path / "pool", shown), folder, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "stream.parquet").to_pylist()
    assert {row["id"] for row in table} == set(names)
    for row in table:
        path = (tmp_path / "out" / row["path"]).resolve()
        assert path.is_file()
        assert path.is_relative_to(tmp_path / "out" / "labeled_images")
    # The earliest bucket of the pool is 0, so that names are one more.
    assert {row["bucket"] for row in table} == {1, 2}
    assert len(list_clear(tmp_path / "out").samples) == 6
    card = read(tmp_path / "out" / "card.json")
    assert [(b["bucket"], b["bucket_of_pool"]) for b in card["buckets"]] == [(1, 0), (2, 1)]
    assert card["without_images"] == ["BACKGROUND", "camera"]


def test_interrupted_and_again(
    made: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onward.curate import clear_layout

    copied = clear_layout._copy
    calls = []

    def stops(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 20:
            raise KeyboardInterrupt
        copied(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(clear_layout, "_copy", stops)
    with pytest.raises(KeyboardInterrupt):
        export(*made, tmp_path / "out")
    first = sorted((tmp_path / "out").rglob("labeled_images/*/*/*"))
    assert len(first) == 19
    times = [path.stat().st_mtime_ns for path in first]
    counts = export(*made, tmp_path / "out")
    assert [path.stat().st_mtime_ns for path in first] == times
    assert len(list((tmp_path / "out").rglob("labeled_images/*/*/*"))) == counts["images"]
    assert dict(export(*made, tmp_path / "out")) == json.loads(json.dumps(counts))


def test_another_pool_and_nothing_accepted(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    other = pool(tmp_path / "pool", pictures(buckets=(1, 2)))
    with pytest.raises(OnwardError, match="Was the stream made from this pool"):
        export(made[0], other, made[2], tmp_path / "out")
    shown = pictures()
    pq.write_table(said(), tmp_path / "none.parquet")
    accept(retrieved(tmp_path / "r", shown), tmp_path / "none.parquet", tmp_path / "a")
    with pytest.raises(OnwardError, match="expected accepted images"):
        export(tmp_path / "a", made[1], made[2], tmp_path / "empty")
