import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from clear_miniature import BUCKETS, CLASSES, GAP, write_new, write_old
from PIL import Image

from onward.data.clear_folder import read_clear
from onward.data.folder_images import FolderImages, opened, rgb_bytes, square
from onward.data.split import shuffled_out
from onward.errors import OnwardError
from onward.models.weights import read_tensors

LAYOUTS = ("old", "new", "image_only")
PER_CLASS = 6
ROWS = (len(BUCKETS) * len(CLASSES) - 1) * PER_CLASS


def write(layout: str, root: Path) -> Path:
    return write_old(root) if layout == "old" else write_new(root, image_only=layout != "new")


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("clear")
    return {layout: write(layout, root / layout) for layout in LAYOUTS}


def read(root: Path, **options: Any) -> Any:
    return read_clear(root, read_tensors, **options)


def kind(layout: str) -> str | None:
    return None if layout == "image_only" else "moco_b0"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_buckets_are_numbers_and_bucket_0_is_skipped(
    downloads: dict[str, Path], layout: str
) -> None:
    found = read(downloads[layout], features=kind(layout))
    bucket = found.table.values("bucket")
    assert len(found.table) == ROWS
    assert list(dict.fromkeys(bucket.tolist())) == list(BUCKETS)
    assert found.classes == tuple(CLASSES)
    label = found.table.values("label")
    present = {(b, name) for b, name in zip(bucket.tolist(), label, strict=True)}
    assert present == {(b, name) for b in BUCKETS for name in CLASSES} - {GAP}
    ids = found.table.values("id")
    assert len(set(ids)) == ROWS
    assert {"9", "10"} <= set(ids)


def test_metadata_become_columns(downloads: dict[str, Path]) -> None:
    for layout in ("old", "new"):
        columns = read(downloads[layout]).table.columns
        rows = columns.to_pylist()
        assert all(row["group"] == f"{int(row['id']) % 5}@N00" for row in rows)
        assert all(str(row["time"]).endswith("+00:00") for row in rows)
        first = min(rows, key=lambda row: row["time"])
        assert (first["bucket"], first["time"].isoformat()[:10]) == (1, "2007-04-09")
        assert columns.schema.field("lon").type == "double"
        assert "user_tags" not in columns.column_names


def test_without_metadata_there_is_no_time_and_everybody_is_a_group(
    downloads: dict[str, Path],
) -> None:
    table = read(downloads["image_only"]).table
    assert table.columns.column("time").null_count == ROWS
    assert (table.values("group") == table.values("id")).all()


def test_the_parts_of_the_new_layout_are_its_split(downloads: dict[str, Path]) -> None:
    for layout in ("new", "image_only"):
        found = read(downloads[layout])
        part = found.table.values("part")
        assert found.splits == 1
        assert (found.table.values("test_0") == (part == "test")).all()
        assert {"train": (part == "train").sum(), "test": (part == "test").sum()} == {
            "train": ROWS * 2 // 3,
            "test": ROWS // 3,
        }


def test_released_splits_are_used_as_they_are(downloads: dict[str, Path]) -> None:
    root = downloads["old"]
    found = read(root)
    assert found.splits == 5
    bucket, path = found.table.values("bucket"), found.table.values("path")
    for split in range(5):
        test = found.table.values(f"test_{split}").astype(bool)
        for number in BUCKETS:
            folder = root / f"training_folder/testset_ratio_0.3/split_{split}/{number}"
            lines = (folder / "test.txt").read_text().splitlines()
            assert set(path[test & (bucket == number)]) == {
                line.rpartition(" ")[0] for line in lines
            }


def test_a_split_that_forgets_a_sample_is_refused(tmp_path: Path) -> None:
    root = write_old(tmp_path)
    path = root / "training_folder/testset_ratio_0.3/split_2/10/train.txt"
    path.write_text("\n".join(path.read_text().splitlines()[1:]))
    with pytest.raises(OnwardError, match=r"split_2 to put each of 258 samples on one side"):
        read(root)


@pytest.mark.parametrize("seed", range(5))
def test_the_rule_is_the_released_code(seed: int) -> None:
    # Written out as the released code has it, on the paper's bucket of 3,300 photos.
    order = list(range(3300))
    random.seed(seed)
    random.shuffle(order)
    train = order[: 3300 - int(0.3 * 3300)]
    test = shuffled_out(3300, 0.3, seed)
    assert ((~test).sum(), test.sum()) == (2310, 990)
    assert set(np.flatnonzero(~test).tolist()) == set(train)


def test_the_rule_tests_nothing_of_a_tiny_bucket() -> None:
    assert not shuffled_out(3, 0.3, 0).any()


@pytest.mark.parametrize("layout", ["old", "new"])
def test_features_are_in_the_order_of_the_samples(downloads: dict[str, Path], layout: str) -> None:
    table = read(downloads[layout], features="moco_b0").table
    features = table.wide["features"]
    assert features.shape == (ROWS, 48)
    assert features.dtype == np.float32
    # The features are mean colours, so they can be told from the image that they belong to.
    rows = np.arange(0, ROWS, 7)
    image = read(downloads[layout], size=32).table.wide["image"][rows].astype(float) / 255
    colours = image.reshape(len(rows), 4, 8, 4, 8, 3).mean((2, 4)).reshape(len(rows), 48)
    distance = np.linalg.norm(colours[:, None] - features[rows][None], axis=2)
    assert (np.diagonal(distance) <= distance.min(1) + 1e-6).all()


@pytest.mark.parametrize("layout", ["old", "new"])
def test_the_images_may_be_left_packed(tmp_path: Path, layout: str) -> None:
    root = write(layout, tmp_path)
    for folder in root.rglob("labeled_images"):
        folder.rename(folder.with_name("packed"))
    found = read(root, features="moco_b0")
    assert (list(found.table.wide), found.missing) == (["features"], ())
    with pytest.raises(OnwardError, match="found 0; missing are 258"):
        read(root, missing="skip")


def test_missing_images_stop_the_reading_with_a_list(tmp_path: Path) -> None:
    root = write_old(tmp_path)
    gone = sorted((root / "labeled_images/10/animals").iterdir())
    gone += sorted((root / "labeled_images/11").rglob("*.*"))
    for path in gone:
        path.unlink()
    with pytest.raises(OnwardError) as failure:
        read(root, features="moco_b0")
    text = str(failure.value)
    assert "expected 258 images" in text
    assert "found 228; missing are 30:" in text
    assert text.count("\n  labeled_images/1") == 10
    assert "and 20 more" in text
    assert 'missing="skip"' in text


@pytest.mark.parametrize("layout", ["old", "new"])
def test_going_on_without_them_is_recorded(tmp_path: Path, layout: str) -> None:
    root = write(layout, tmp_path)
    whole = read(root, features="moco_b0")
    gone = sorted(root.rglob("labeled_images/10/animals/*"))[0]
    place = whole.table.values("path").tolist().index(gone.relative_to(root).as_posix())
    gone.unlink()
    less = read(root, features="moco_b0", missing="skip")
    assert less.missing == (gone.relative_to(root).as_posix(),)
    assert len(less.manifest) == 16
    assert less.manifest != whole.manifest
    assert less.table.digest != whole.table.digest
    kept = np.delete(np.arange(ROWS), place)
    assert (less.table.values("id") == whole.table.values("id")[kept]).all()
    everything = whole.table.wide["features"][kept]
    assert (less.table.wide["features"][np.arange(ROWS - 1)] == everything).all()


def test_the_digest_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    first = read(write_old(tmp_path / "a"), features="moco_b0").table.digest
    root = write_old(tmp_path / "b")
    assert read(root, features="moco_b0").table.digest == first
    assert read(root, features="imagenet").table.digest != first
    assert read(root, size=32).table.digest != read(root, size=64).table.digest
    path = root / "training_folder/features/moco_b0/4/all.pth"
    matrix, labels = torch.load(path, weights_only=True)
    torch.save((matrix + 1, labels), path)
    assert read(root, features="moco_b0").table.digest != first


def test_images_are_resized_by_their_shorter_edge_and_cut_in_the_centre(tmp_path: Path) -> None:
    wide = np.zeros((20, 60, 3), np.uint8)
    wide[:, 20:40] = 255
    Image.fromarray(wide).save(tmp_path / "wide.png")
    assert rgb_bytes(square(opened(tmp_path / "wide.png"), 20)).min() == 255
    assert square(opened(tmp_path / "wide.png"), 10).size == (10, 10)
    Image.fromarray(wide.transpose(1, 0, 2)).save(tmp_path / "high.png")
    assert rgb_bytes(square(opened(tmp_path / "high.png"), 20)).min() == 255


def test_a_truncated_image_is_named(downloads: dict[str, Path], tmp_path: Path) -> None:
    root = write_new(tmp_path, image_only=True)
    image = read(root, size=16).table.wide["image"]
    assert isinstance(image, FolderImages)
    broken = root / image.paths[40]
    broken.write_bytes(broken.read_bytes()[:60])
    (root / image.paths[50]).write_text("no image")
    with pytest.raises(OnwardError, match=f"{broken.name}, found a file that cannot be decoded"):
        image[np.array([39, 40])]


class Hostile:
    """Would write a file if anybody opened it."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.target, "it was run")


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("layout", ["old", "new"])
def test_a_features_file_that_is_a_program_is_refused_and_not_run(
    tmp_path: Path, layout: str, plain: bool
) -> None:
    root = write(layout, tmp_path)
    path = next(iter(sorted(root.rglob("moco_b0/10/*.pth"))))
    target = tmp_path / "run"
    if plain:
        path.write_bytes(pickle.dumps(Hostile(target)))
    else:
        torch.save(Hostile(target), path)
    with pytest.raises(OnwardError, match="expected a file of tensors") as failure:
        read(root, features="moco_b0")
    assert str(path) in str(failure.value)
    assert not target.exists()


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x02.", b"\0" * 600])
def test_a_damaged_features_file_is_refused(tmp_path: Path, content: bytes) -> None:
    root = write_old(tmp_path)
    path = root / "training_folder/features/moco_b0/2/all.pth"
    path.write_bytes(content)
    with pytest.raises(OnwardError, match=str(path)):
        read(root, features="moco_b0")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2, 3], "expected a matrix of features and a list of labels .* a list of 3"),
        (torch.zeros(24, 48), "one tensor of shape"),
        ((torch.zeros(23, 48), [0] * 23), "expected a row for each of 24 samples of bucket 2"),
        ((torch.zeros(24, 48), [0] * 24), "with other labels"),
    ],
)
def test_features_of_another_shape_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    root = write_old(tmp_path)
    torch.save(content, root / "training_folder/features/moco_b0/2/all.pth")
    with pytest.raises(OnwardError, match=message):
        read(root, features="moco_b0")


def test_unequal_widths_are_refused(tmp_path: Path) -> None:
    root = write_old(tmp_path / "old")
    path = root / "training_folder/features/moco_b0/11/all.pth"
    matrix, labels = torch.load(path, weights_only=True)
    torch.save((matrix[:, :40], labels), path)
    with pytest.raises(OnwardError, match="one width, found 48 in bucket 1 and 40 in bucket 11"):
        read(root, features="moco_b0")
    root = write_new(tmp_path / "new")
    path = root / "test/features/moco_b0/5/flags.pth"
    vectors = torch.load(path, weights_only=True)
    torch.save({name: vector[:40] for name, vector in vectors.items()}, path)
    with pytest.raises(OnwardError, match="one width, found 40 and 48 in bucket 5"):
        read(root, features="moco_b0")


def test_a_sample_without_features_is_named(tmp_path: Path) -> None:
    root = write_new(tmp_path)
    path = root / "train/features/moco_b0/5/flags.pth"
    vectors = torch.load(path, weights_only=True)
    name = min(vectors)
    del vectors[name]
    torch.save(vectors, path)
    with pytest.raises(OnwardError, match=f"found none of train/labeled_images/5/flags/{name}"):
        read(root, features="moco_b0")


def test_features_that_are_not_there(downloads: dict[str, Path]) -> None:
    with pytest.raises(OnwardError, match=r"unknown features 'moco_b1'. Did you mean 'moco_b0'"):
        read(downloads["old"], features="moco_b1")
    with pytest.raises(OnwardError, match="found images only"):
        read(downloads["image_only"], features="moco_b0")


def test_another_folder_says_what_was_expected_and_found(
    downloads: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(OnwardError, match=r"expected class_names.txt .* found holiday.jpg"):
        read(tmp_path)
    with pytest.raises(OnwardError, match="found no folder"):
        read(tmp_path / "nowhere")
    with pytest.raises(OnwardError, match=f"Did you mean {downloads['old'].parent}"):
        read(downloads["old"].parent)


def test_a_bucket_without_its_list_is_noticed(tmp_path: Path) -> None:
    root = write_old(tmp_path)
    (root / "training_folder/filelists/10").rename(root / "gone")
    with pytest.raises(OnwardError, match="found none of 10"):
        read(root)


def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    root = write_new(tmp_path)
    path = root / "train/labeled_metadata/4/flags.json"
    fields = json.loads(path.read_text())
    next(iter(fields.values()))["IMG_PATH"] = "../../../private.jpg"
    path.write_text(json.dumps(fields))
    with pytest.raises(OnwardError, match="expected a path inside"):
        read(root)


def test_classes_of_another_release_are_refused(tmp_path: Path) -> None:
    root = write_new(tmp_path, image_only=True)
    (root / "test/labeled_images/4/unicorns").mkdir()
    with pytest.raises(OnwardError, match="found folder 'unicorns' in labeled_images/4"):
        read(root)
    (root / "test/class_names.txt").write_text("flags\ntravel")
    with pytest.raises(OnwardError, match="found two that differ"):
        read(root)
