"""CLAD's rules on a miniature of SODA10M: who is in which set, and in which order."""

from pathlib import Path
from typing import Any

import pytest
from soda_miniature import Frame, box, frame, write_soda

from onward.data.clad_counts import counts
from onward.data.clad_sets import clad_c, clad_d
from onward.data.soda import Soda, read_soda
from onward.errors import OnwardError

DAY, NIGHT = "Shanghai Citystreet Daytime Clear", "Shanghai Citystreet Night Clear"
HIGHWAY = "Shenzhen Highway Daytime Overcast"


def soda(root: Path, size: tuple[int, int] = (1920, 1080), **splits: list[Frame]) -> Soda:
    return read_soda(write_soda(root, size=size, **splits))


def sets(table: Any) -> dict[tuple[str, int], list[str]]:
    found: dict[tuple[str, int], list[str]] = {}
    for row in table.to_pylist():
        found.setdefault((row["set"], row["number"]), []).append(row["id"])
    return found


def test_six_sets_by_day_and_period(tmp_path: Path) -> None:
    moments = [
        ("20191121 200000", NIGHT, ("train", 5)),
        ("20191111 100000", DAY, ("train", 0)),
        ("20191111 200000", NIGHT, ("train", 1)),
        ("20191117 100000", DAY, ("train", 2)),
        ("20191117 200000", NIGHT, ("train", 3)),
        ("20191120 100000", DAY, ("train", 4)),
        ("20191121 100000", DAY, ("validation", -1)),
        ("20191022 200000", NIGHT, ("validation", -1)),
        ("20191120 200000", NIGHT, None),  # the rule forgets this night, and so do we
    ]
    val = [frame(when, place, box(3)) for when, place, _ in moments]
    found = sets(clad_c(soda(tmp_path, val=val, test=[frame("20191111 100000", DAY, box(1))])))
    expected: dict[Any, list[str]] = {("test", -1): ["test/1"]}
    for number, (_, _, key) in enumerate(moments, start=1):
        if key:
            expected.setdefault(key, []).append(f"val/{number}")
    assert found == expected
    assert [key for key in found if key[0] == "train"] == [("train", n) for n in range(6)]


def test_validation_takes_tricycles_and_cyclists_of_two_moments_from_train(tmp_path: Path) -> None:
    train = [
        frame("20181015 152030", DAY, box(2), box(3), box(6)),
        frame("20181015 160000", DAY, box(2)),
        frame("20181015 160010", DAY, box(2), box(6)),
        frame("20181016 160000", DAY, box(2)),
    ]
    found = sets(clad_c(soda(tmp_path, train=train)))
    assert found == {("validation", -1): ["train/1", "train/3", "train/4", "train/6"]}


def test_the_stream_follows_time_then_video_then_frame_as_texts(tmp_path: Path) -> None:
    val = [
        frame("20191111 100010", DAY, box(1)),
        frame("20191111 100000", DAY, box(2), file_name_old="v9_1.jpg"),
        frame("20191111 100000", DAY, box(3), file_name_old="v10_9.jpg"),
        frame("20191111 100000", DAY, box(4), box(5), file_name_old="v10_10.jpg"),
    ]
    table = clad_c(soda(tmp_path, val=val))
    # Video "10" stands before "9", and frame "10" before "9"; one frame keeps its own order.
    labels = ["truck", "tram/bus", "car", "cyclist", "pedestrian"]
    assert table.column("label").to_pylist() == labels


def test_small_objects_are_dropped_by_their_share_of_the_frame(tmp_path: Path) -> None:
    sizes = [(0, 0, 32, 32), (0, 0, 32, 31), (0, 0, 3.3, 3.2), (0, 0, 3.2, 3.1)]
    boxes = [box(3, size) for size in sizes]
    large = soda(tmp_path / "large", val=[frame("20191111 100000", DAY, *boxes)])
    assert sets(clad_c(large)) == {("train", 0): ["val/1"]}
    small = soda(tmp_path / "small", (192, 108), val=[frame("20191111 100000", DAY, *boxes)])
    assert sets(clad_c(small)) == {("train", 0): ["val/1", "val/2", "val/3"]}
    assert sets(clad_c(small, min_area=0)) == {("train", 0): [f"val/{n}" for n in range(1, 5)]}


@pytest.mark.parametrize(
    ("drop", "kept"), [(0, ["val/2"]), (1, ["val/1"]), (None, ["val/1", "val/2"])]
)
def test_which_value_of_occluded_is_dropped_is_a_choice(
    tmp_path: Path, drop: int | None, kept: list[str]
) -> None:
    boxes = box(3, occluded=0), box(3, occluded=1)
    data = soda(tmp_path, val=[frame("20191111 100000", DAY, *boxes)])
    assert sets(clad_c(data, drop_occluded=drop)) == {("train", 0): kept}


def test_without_times_or_occlusion_the_stream_says_what_to_do(tmp_path: Path) -> None:
    def strip(split: str, document: dict[str, Any]) -> None:
        for entry in (*document["images"], *document["annotations"]):
            for name in ("date", "time", "occluded"):
                entry.pop(name, None)

    data = read_soda(write_soda(tmp_path, strip, val=[frame("20191111 100000", HIGHWAY, box(3))]))
    with pytest.raises(OnwardError, match=r"1 of 1 without.*time annotations of CLAD's authors"):
        clad_c(data)
    assert clad_d(data).column("domain").to_pylist() == [1]
    dated = soda(
        tmp_path / "dated", val=[frame("20191111 100000", DAY, {**box(3), "occluded": None})]
    )
    with pytest.raises(OnwardError, match="drop_occluded=None"):
        clad_c(dated)


PLACES = {
    "Shanghai Citystreet Daytime Clear": (0, None, 0),
    "Shanghai Citystreet Daytime Overcast": (None, None, 0),
    "Shenzhen Citystreet Daytime Clear": (None, None, 0),
    "Guangzhou Countryroad Daytime Overcast": (None, None, 0),
    "Shanghai Highway Daytime Clear": (None, 1, 1),
    "Shenzhen Highway Daytime Overcast": (None, 1, 1),
    "Shenzhen Highway Night Overcast": (None, 2, 2),
    "Guangzhou Citystreet Night Rainy": (None, 2, 2),
    "Guangzhou Countryroad Daytime Rainy": (None, 3, 3),
    "Shanghai Highway Daytime Rainy": (None, 3, 3),
}


@pytest.mark.parametrize(("place", "domains"), PLACES.items())
def test_domains_of_a_place_by_annotation_file(
    tmp_path: Path, place: str, domains: tuple[int | None, ...]
) -> None:
    frames = [frame("20191111 100000", place, box(3))] * 10
    table = clad_d(soda(tmp_path, train=frames, val=frames, test=frames)).to_pylist()
    for split, domain in zip(("train", "val", "test"), domains, strict=True):
        found = {row["domain"] for row in table if row["id"].startswith(f"{split}/")}
        assert found == ({domain} if domain is not None else set())


def test_nine_tenths_train_after_frames_without_boxes_are_dropped(tmp_path: Path) -> None:
    val = [frame("20191111 100000", HIGHWAY, *([box(3)] * (n % 4 != 0))) for n in range(25)]
    table = clad_d(soda(tmp_path, val=val, test=[frame("20191111 100000", HIGHWAY)]))
    ids = {
        name: [row["id"] for row in table.to_pylist() if row["set"] == name]
        for name in ("train", "validation", "test")
    }
    with_boxes = [f"val/{n + 1}" for n in range(25) if n % 4 != 0]
    assert len(with_boxes) == 18
    assert (ids["train"], ids["validation"], ids["test"]) == (with_boxes[:16], with_boxes[16:], [])


def test_boxes_are_corners_and_none_is_dropped(tmp_path: Path) -> None:
    tiny, crowd = box(1, (10, 20, 3, 4), occluded=0), box(5, (0, 0, 50, 60), iscrowd=1)
    table = clad_d(soda(tmp_path, test=[frame("20191111 200000", NIGHT, tiny, crowd)]))
    row = table.to_pylist()[0]
    assert row["boxes"] == [[10, 20, 13, 24], [0, 0, 50, 60]]
    assert (row["labels"], row["iscrowd"]) == ([1, 5], [False, True])


def test_published_counts_add_up_to_the_published_totals(tmp_path: Path) -> None:
    rows = counts(soda(tmp_path))
    assert not any(row.found for row in rows)

    def total(source: str, *words: str) -> int:
        wanted = (row for row in rows if row.source == source)
        return sum(row.expected for row in wanted if set(words) <= set(row.what.split(", ")))

    assert total("Table B.3", "Day") + total("Table B.3", "Night") == 22_249
    for table, whole in (("Table B.3", 22_249), ("Table B.4", 6_305), ("Table B.5", 46_915)):
        cities = [total(table, city) for city in ("Shanghai", "Shenzhen", "Guangzhou")]
        assert sum(cities) == whole
    assert total("Table B.6", "train") == 22_249
    assert [total("Table B.7", name) for name in ("train", "validation", "test")] == [
        60_078,
        6_680,
        69_881,
    ]
    assert total("released code", "test") == 9_969
    assert len(rows) == 3 * 66 + 26 + 2 + 12 * 6 + 12


def test_counts_beside_what_was_found(tmp_path: Path) -> None:
    val = [
        frame("20191111 100000", DAY, box(6), box(6)),
        frame("20191111 100010", HIGHWAY, box(3)),
        frame("20200101 100000", DAY, box(1)),
    ]
    rows = {(row.source, row.what): row for row in counts(soda(tmp_path, val=val))}
    day = rows["Table B.3", "train, tricycle, Day"]
    assert (day.expected, day.found, day.right) == (221, 2, False)
    assert rows["Table B.3", "train, car, Overcast"].found == 1
    assert rows["Table B.6", "train, 2019-11-11, Daytime"].found == 3
    assert rows["Table B.6", "validation, 2020-01-01, Daytime"].expected == 0
    assert rows["Table B.6", "validation, 2020-01-01, Daytime"].found == 1
    assert rows["section 3.3", "train, images"].found == 2
    assert rows["Table B.7", "validation, domain 2, car"].found == 1
    nobody = rows["Table B.3", "train, tricycle, Night"]
    assert (nobody.expected, nobody.right) == (0, True)
