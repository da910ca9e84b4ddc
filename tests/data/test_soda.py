"""SODA10M's reader on a miniature, and each kind of damage with its own message."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from soda_miniature import box, frame, write_soda

from onward.data.soda import contradictions, read_soda
from onward.data.soda_words import place_in_name, timestamp
from onward.errors import OnwardError

Edit = Callable[[dict[str, Any]], Any]

REPAIRS = [
    ("20181015", "145960", "2018-10-15T15:00:00"),
    ("20181015", "102360", "2018-10-15T10:24:00"),
    ("20181015", "1221831", "2018-10-15T12:21:31"),
    ("20181015", "1420214", "2018-10-15T14:20:21"),
    ("20181015", "10:00", "2018-10-15T10:00:00"),
    ("20181015", "13:00", "2018-10-15T13:00:00"),
    ("20181015", "12:00", "2018-10-15T12:00:00"),
    ("20181015", "1111523", "2018-10-15T11:11:52"),
    ("201810152", "101010", "2018-10-15T10:10:10"),
    ("50181015", "101010", "2018-10-15T10:10:10"),
    (" 20181015 ", " 10 1010", "2018-10-15T10:10:10"),
    ("2018-10-15", "10:10:10", "2018-10-15T10:10:10"),
]


@pytest.mark.parametrize(("date", "time", "mended"), REPAIRS)
def test_known_mistakes_of_dates_and_times_are_mended(date: str, time: str, mended: str) -> None:
    assert timestamp(date, time) == datetime.fromisoformat(mended)


def test_tables_hold_what_the_files_say(tmp_path: Path) -> None:
    first = frame("20191111 101500", "Shanghai Highway Daytime Overcast", box(3), box(6))
    second = frame("20191111 101510", "Shanghai Highway Night Clear", file_name_old="a1/v7-12.jpg")
    soda = read_soda(write_soda(tmp_path, val=[first, second]))
    images, objects = soda.val.images.to_pylist(), soda.val.objects.to_pylist()
    assert images[0]["path"] == "val/HT_VAL_000001_SH_011.jpg"
    assert images[1] | {"path": ""} == {
        "id": 2,
        "path": "",
        "width": 1920,
        "height": 1080,
        "city": "Shanghai",
        "location": "Highway",
        "period": "Night",
        "weather": "Clear",
        "time": datetime(2019, 11, 11, 10, 15, 10),
        "video": "7",
        "sequence": "12",
    }
    assert [(row["image"], row["category"], row["area"]) for row in objects] == [
        (0, 3, 1600.0),
        (0, 6, 1600.0),
    ]
    assert len(soda.train.images) == len(soda.train.objects) == 0


@pytest.mark.parametrize("inner", ["", "SSLAD-2D", "SSLAD-2D/labeled"])
def test_any_of_the_nested_folders_will_do(tmp_path: Path, inner: str) -> None:
    write_soda(tmp_path, val=[frame("20191111 101500")])
    assert len(read_soda(tmp_path / inner).val.images) == 1


def test_the_file_name_says_what_the_annotations_do_not(tmp_path: Path) -> None:
    def strip(split: str, document: dict[str, Any]) -> None:
        for image in document["images"]:
            for name in ("city", "location", "period", "weather", "date", "time"):
                del image[name]

    rainy = frame("20191111 101500", "Guangzhou Countryroad Daytime Rainy")
    row = read_soda(write_soda(tmp_path, strip, val=[rainy])).val.images.to_pylist()[0]
    assert (row["city"], row["location"], row["period"], row["weather"]) == (
        "Guangzhou",
        "Countryroad",
        "Daytime",
        "Rainy",
    )
    assert row["time"] is None


def test_a_name_that_contradicts_the_annotations_is_found(tmp_path: Path) -> None:
    wrong = frame("20191111 101500", file_name="HT_VAL_000001_SH_210.jpg")
    other = frame("20191111 101500", file_name="holiday.jpg")
    split = read_soda(write_soda(tmp_path, val=[wrong, other])).val
    assert contradictions(split) == [
        "image val/HT_VAL_000001_SH_210.jpg: its location is Citystreet, its name says Highway",
        "image val/HT_VAL_000001_SH_210.jpg: its period is Daytime, its name says Night",
    ]
    assert place_in_name("holiday.jpg") == (None, None, None, None)


DAMAGE: list[tuple[Edit, str]] = [
    (lambda a: a[0].update(bbox=[1900, 10, 40, 40]), r"annotation 1: .* inside its image of 1920"),
    (
        lambda a: a[0].update(bbox=[-5, 10, 40, 40]),
        r"annotation 1: expected a box inside its image",
    ),
    (lambda a: a[0].update(bbox=[10, 1060, 40, 40]), r"found \[10, 1060, 40, 40\]"),
    (lambda a: a[1].update(bbox=[10, 10, 0, 40]), r"annotation 2: expected a box with an area"),
    (lambda a: a[1].update(bbox=[10, 10, 5, -4]), r"annotation 2: expected a box with an area"),
    (lambda a: a[1].update(bbox=[10, 10, float("nan"), 4]), r"annotation 2: .* with an area"),
    (lambda a: a[0].update(image_id=99), r"annotation 1: its image 99 is not among the images"),
    (lambda a: a[0].update(category_id=7), r"category id from 1 to 6, found 7"),
    (lambda a: a[0].pop("bbox"), r"found an entry without \(KeyError\('bbox'\)\)"),
]


@pytest.mark.parametrize(("edit", "message"), DAMAGE)
def test_a_damaged_annotation_is_named(tmp_path: Path, edit: Edit, message: str) -> None:
    def spoil(split: str, document: dict[str, Any]) -> None:
        if split == "val":
            edit(document["annotations"])

    root = write_soda(tmp_path, spoil, val=[frame("20191111 101500", *PLACE, box(3), box(4))])
    with pytest.raises(OnwardError, match=message):
        read_soda(root)


PLACE = ("Shanghai Citystreet Daytime Clear",)


def test_two_images_of_one_id_are_named(tmp_path: Path) -> None:
    def spoil(split: str, document: dict[str, Any]) -> None:
        if split == "val":
            document["images"][1]["id"] = document["images"][0]["id"]

    frames = [frame(f"20191111 1015{second}0", *PLACE, box(3)) for second in (0, 1)]
    with pytest.raises(OnwardError, match=r"image \d+: 2 images have this id"):
        read_soda(write_soda(tmp_path, spoil, val=frames))


def test_an_area_that_is_left_open_is_that_of_the_box(tmp_path: Path) -> None:
    def open_area(split: str, document: dict[str, Any]) -> None:
        for annotation in document["annotations"]:
            annotation["area"] = None

    root = write_soda(tmp_path, open_area, val=[frame("20191111 101500", *PLACE, box(3))])
    objects = read_soda(root).val.objects
    width, height, area = (objects.column(name)[0].as_py() for name in ("w", "h", "area"))
    assert area == width * height


def test_a_box_may_end_with_its_image(tmp_path: Path) -> None:
    edges = box(3, (0, 0, 1920, 1080)), box(3, (1900.5, 0, 20, 20))
    assert (
        len(
            read_soda(
                write_soda(tmp_path, val=[frame("20191111 101500", *PLACE, *edges)])
            ).val.objects
        )
        == 2
    )


@pytest.mark.parametrize(
    "more",
    [{"date": "20191311"}, {"time": "256000"}, {"date": "30191111"}, {"file_name_old": "v.jpg"}],
)
def test_a_wrong_time_annotation_is_named(tmp_path: Path, more: dict[str, str]) -> None:
    bad = frame("20191111 101500", *PLACE, **more)
    with pytest.raises(OnwardError, match=r"image HT_VAL_000001_SH_000.jpg: expected .* found"):
        read_soda(write_soda(tmp_path, val=[bad]))


def test_a_missing_image_file_is_named(tmp_path: Path) -> None:
    root = write_soda(tmp_path, val=[frame("20191111 101500")] * 8)
    for path in (root / "SSLAD-2D" / "labeled" / "val").glob("*"):
        path.unlink()
    with pytest.raises(OnwardError, match="no such file") as error:
        read_soda(root)
    assert "HT_VAL_000005" in str(error.value)
    assert "and 3 more" in str(error.value)


def test_annotations_without_any_image_are_all_lost(tmp_path: Path) -> None:
    def spoil(split: str, document: dict[str, Any]) -> None:
        document["images"].clear()

    root = write_soda(tmp_path, spoil, val=[frame("20191111 101500", *PLACE, box(3))])
    with pytest.raises(OnwardError, match="not among the images"):
        read_soda(root)


def test_what_is_no_download_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="onward data make street"):
        read_soda(tmp_path)
    root = write_soda(tmp_path)
    path = root / "SSLAD-2D" / "labeled" / "annotations" / "instance_val.json"
    path.write_text("[1, 2")
    with pytest.raises(OnwardError, match="expected COCO annotations"):
        read_soda(root)
    path.unlink()
    with pytest.raises(OnwardError, match="expected an annotation file"):
        read_soda(root)


def test_the_digest_follows_annotations_and_images(tmp_path: Path) -> None:
    frames = [frame("20191111 101500", *PLACE, box(3))]
    one = read_soda(write_soda(tmp_path / "one", val=frames))
    same = read_soda(write_soda(tmp_path / "same", val=frames))
    other = read_soda(
        write_soda(tmp_path / "other", val=[frame("20191111 101500", *PLACE, box(4))])
    )
    assert one.val.digest == same.val.digest != other.val.digest
    path = same.folder / "val" / "HT_VAL_000001_SH_000.jpg"
    path.write_bytes(b"more")
    assert read_soda(tmp_path / "same").val.digest != one.val.digest
