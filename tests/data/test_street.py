"""Emoji Street: the same bytes again, read as SODA10M is, and annotated where things are."""

import hashlib
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clad_stream import stream_picture
from onward.data.clad_sets import clad_c, clad_d
from onward.data.soda import Soda, contradictions, read_soda, values
from onward.data.soda_inspected import check_clad
from onward.data.soda_words import CATEGORIES, Place
from onward.data.street.art import Sprite, chest
from onward.data.street.camera import HEIGHT, WIDTH
from onward.data.street.drives import plan
from onward.data.street.frame import Seen, render
from onward.data.street.light import light_at
from onward.data.street.make import make_street
from onward.data.street.road import View
from onward.data.street.traffic import CAR, PEDESTRIAN, TRICYCLE, TRUCK, Traffic, User
from onward.errors import OnwardError
from onward.types import Array

NOON = datetime(2019, 11, 11, 12, 0)
SUNNY = Place("Shanghai", "Citystreet", "Daytime", "Clear")


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Soda:
    folder = tmp_path_factory.mktemp("street") / "made"
    make_street(folder, seed=3, frames=160)
    return read_soda(folder)


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_one_seed_is_the_same_bytes_and_another_is_not(tmp_path: Path) -> None:
    made = [make_street(tmp_path / name, seed=seed, frames=1) for name, seed in NAMES]
    one, again, other = (digest(tmp_path / name) for name, _ in NAMES)
    assert made == [len(plan(1))] * 3
    assert one == again
    assert one.keys() == other.keys()
    terms = {"LICENSE-APACHE-2.0.txt", "LICENSE-CC-BY-4.0.txt", "NOTICE.txt"}
    assert {name for name in one if one[name] == other[name]} == terms


NAMES = (("one", 0), ("again", 0), ("other", 1))


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OnwardError, match="a new or an empty folder"):
        make_street(tmp_path, frames=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(OnwardError, match="at least one frame"):
        make_street(tmp_path / "none", frames=0)


def test_the_official_reader_finds_all_sets_and_domains(street: Soda) -> None:
    objects, images = clad_c(street), clad_d(street)
    pairs = zip(
        objects.column("set").to_pylist(), objects.column("number").to_pylist(), strict=True
    )
    assert set(pairs) == {*(("train", n) for n in range(6)), ("validation", -1), ("test", -1)}
    pairs = zip(images.column("set").to_pylist(), images.column("domain").to_pylist(), strict=True)
    assert {(name, n) for name in ("train", "test") for n in range(4)} <= set(pairs)
    for split in ("train", "test"):
        here = objects.filter(np.array(objects.column("set").to_pylist()) == split)
        assert set(here.column("label").to_pylist()) == set(CATEGORIES.values())
    for split in (street.train, street.val, street.test):
        assert contradictions(split) == []
    assert check_clad(street) == []


def test_frames_are_ten_seconds_apart_and_named_after_their_place(street: Soda) -> None:
    table = street.val.images
    times, videos = table.column("time").to_pylist(), table.column("video").to_pylist()
    steps = {
        after - before
        for before, after, one, other in zip(times, times[1:], videos, videos[1:], strict=False)
        if one == other
    }
    assert steps == {timedelta(seconds=10)}
    assert len(set(videos)) > 20
    moments = {time.strftime("%H%M%S") for time in street.train.images.column("time").to_pylist()}
    assert len(moments) == len(street.train.images)


def test_the_validation_rule_meets_cyclists_at_its_two_moments() -> None:
    times = {time for drive in plan(1600) if drive.split == "train" for time in drive.times()}
    assert datetime(2018, 10, 15, 15, 20, 30) in times
    assert datetime(2018, 10, 15, 16, 0, 0) in times


def test_some_objects_are_covered_and_some_too_small(street: Soda) -> None:
    objects = street.val.objects
    covered = 1 - values(objects, "occluded").mean()
    small = np.concatenate(
        [values(s.objects, "area") for s in (street.train, street.val, street.test)]
    )
    assert 0.05 < covered < 0.35
    assert 0 < (small * 2025 < WIDTH * HEIGHT).mean() < 0.1


def brightness(street: Soda, **wanted: str) -> float:
    right = np.ones(len(street.val.images), bool)
    for name, value in wanted.items():
        right &= values(street.val.images, name) == value
    paths = street.val.images.column("path").take(np.flatnonzero(right)).to_pylist()
    assert paths
    return float(np.mean([np.asarray(Image.open(street.folder / path)).mean() for path in paths]))


def test_nights_are_dark_and_rain_is_grey(street: Soda) -> None:
    clear = brightness(street, period="Daytime", weather="Clear")
    rain = brightness(street, period="Daytime", weather="Rainy")
    night = brightness(street, period="Night")
    assert clear > 1.15 * rain > 1.5 * night


def traffic_of(location: str, period: str = "Daytime", frames: int = 25) -> Counter[int]:
    found: Counter[int] = Counter()
    for drive in plan(1600):
        if (drive.place.location, drive.place.period, drive.split) != (location, period, "val"):
            continue
        traffic = Traffic(drive, chest(test=False), np.random.default_rng(0))
        for _ in range(frames):
            found.update(user.category for user in traffic.step(moving=True))
    return found


def test_places_have_their_own_mix_of_classes() -> None:
    city, highway, night = (
        traffic_of("Citystreet"),
        traffic_of("Highway"),
        traffic_of("Citystreet", "Night"),
    )
    share = {
        name: {kind: count / mix.total() for kind, count in mix.items()}
        for name, mix in (("city", city), ("highway", highway), ("night", night))
    }
    assert share["highway"][TRUCK] > 2 * share["city"][TRUCK]
    assert share["city"][PEDESTRIAN] > 10 * share["highway"].get(PEDESTRIAN, 0)
    assert share["city"][PEDESTRIAN] > share["night"][PEDESTRIAN]
    assert 0 < share["city"][TRICYCLE] < 0.12


def test_road_users_stay_for_some_frames_and_move() -> None:
    drive = next(drive for drive in plan(1600) if drive.place.location == "Highway")
    traffic = Traffic(drive, chest(test=False), np.random.default_rng(1))
    stayed = moved = total = 0
    before: dict[int, float] = {}
    for _ in range(100):
        users = traffic.step(moving=True)
        assert [user.distance for user in users] == sorted(
            (user.distance for user in users), reverse=True
        )
        for user in users:
            total += 1
            stayed += id(user) in before
            moved += id(user) in before and before[id(user)] != user.distance
        before = {id(user): user.distance for user in users}
    assert 0.3 < stayed / total < 0.9
    assert moved == stayed


def test_no_drawing_is_on_both_sides_of_the_split() -> None:
    def drawings(*, test: bool) -> set[bytes]:
        box = chest(test=test)
        every = [*box.by_style.values(), *box.second_artist.values(), box.tricycles]
        return {drawing.pixels.tobytes() for group in every for drawing in group}

    train, test = drawings(test=False), drawings(test=True)
    assert min(len(train), len(test)) > 30
    assert not train & test
    assert not chest(test=False).second_artist


def test_later_days_have_later_art() -> None:
    days = [drive for drive in plan(1600) if drive.split == "val" and drive.start.month == 11]
    newest = [np.dot(drive.art, (0, 1, 2)) for drive in sorted(days, key=lambda d: d.start)]
    assert newest == sorted(newest)
    assert newest[0] < newest[-1]
    assert all(drive.art[2] == 0 for drive in plan(1) if drive.split == "train")


def drawn(users: list[User], place: Place = SUNNY) -> tuple[Array, list[Seen]]:
    rng = np.random.default_rng(0)
    pixels, seen = render(View(place, 137.0, 0.0, 5), light_at(NOON, place), users, rng)
    return pixels.astype(int), seen


def car(lane: float, distance: float, category: int = CAR, side: int = 20) -> User:
    sprite: Sprite = np.full((side, side, 4), (255, 0, 255, 255), np.uint8)
    return User(category, sprite, lane, distance, closing=1.0, walking=0.0)


@pytest.mark.parametrize(("lane", "distance"), [(0.0, 12.0), (3.2, 30.0), (-3.6, 16.0)])
def test_the_box_is_where_the_object_was_drawn(lane: float, distance: float) -> None:
    empty, _ = drawn([])
    whole, (found,) = drawn([car(lane, distance)])
    magenta = (whole[..., 0] > 200) & (whole[..., 1] < 60) & (whole[..., 2] > 200)
    rows, columns = np.flatnonzero(magenta.any(1)), np.flatnonzero(magenta.any(0))
    left, top, width, height = found.box
    assert (left, top) == (columns[0], rows[0])
    assert (left + width, top + height) == (columns[-1] + 1, rows[-1] + 1)
    assert not found.occluded
    # Away from the object and its shadow nothing has changed.
    changed = np.abs(whole - empty).max(2) > 0
    changed[max(0, top - 1) : top + 2 * height, max(0, left - width) : left + 2 * width] = False
    assert not changed.any()


def test_who_stands_behind_is_occluded_or_hidden() -> None:
    far, near = car(0.0, 30.0, TRUCK), car(0.6, 14.0)
    _, seen = drawn([far, near])
    assert [(found.category, found.occluded) for found in seen] == [(TRUCK, True), (CAR, False)]
    _, seen = drawn([car(0.0, 40.0), near])
    assert [found.box[2] for found in seen] == [max(found.box[2] for found in seen)]


def test_who_is_cut_off_by_the_frame_ends_there_or_is_left_out() -> None:
    _, (cut,) = drawn([car(4.1, 9.5)])
    assert cut.box[0] + cut.box[2] == WIDTH
    assert drawn([car(4.6, 9.5)])[1] == []


def test_the_picture_of_the_stream_has_a_lane_for_every_domain_and_class(street: Soda) -> None:
    figure = stream_picture(clad_c(street), bins=20)
    names = [axis.get_ylabel() for axis in figure.axes]
    assert len(names) == 2 + 3 + 3 + 3 + 6
    night = figure.axes[names.index("Night")]
    day = figure.axes[names.index("Daytime")]
    heights = [
        [bar.get_height() for bar in axis.patches if hasattr(bar, "get_height")]
        for axis in (day, night)
    ]
    np.testing.assert_allclose(np.sum(heights, axis=0), 1.0)
