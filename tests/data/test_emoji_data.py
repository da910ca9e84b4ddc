"""The embedded emoji history is what its card says."""

import datetime as dt
import hashlib
import io
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import onward

DATA = Path(onward.__file__).parent / "data" / "emoji"

ROWS = {
    dt.date(2016, 6, 17): 1267,
    dt.date(2017, 5, 8): 1462,
    dt.date(2017, 12, 20): 1545,
    dt.date(2020, 1, 15): 1715,
    dt.date(2020, 10, 9): 1805,
    dt.date(2022, 3, 15): 1849,
    dt.date(2023, 5, 31): 1870,
    dt.date(2025, 9, 24): 1906,
}

# Eight emoji of emojibase-data 17 (388 people, 266 objects, ...) have no art in any snapshot.
GROUPS = {
    "people": 386,
    "flags": 270,
    "objects": 264,
    "symbols": 224,
    "travel": 218,
    "smileys": 169,
    "animals": 159,
    "food": 131,
    "activities": 85,
}

Row = dict[str, Any]


@pytest.fixture(scope="module")
def card() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "card.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def history() -> list[Row]:
    rows: list[Row] = pq.read_table(DATA / "history.parquet").to_pylist()
    return rows


@pytest.fixture(scope="module")
def twemoji() -> list[Row]:
    rows: list[Row] = pq.read_table(DATA / "twemoji.parquet").to_pylist()
    return rows


@pytest.fixture(scope="module")
def images() -> dict[str, dict[str, bytes]]:
    found = {}
    for name in ("images.parquet", "twemoji_images.parquet"):
        table = pq.read_table(DATA / name)
        keys = table["key"].to_pylist()
        assert keys == sorted(set(keys)), name
        found[name] = dict(zip(keys, table["webp"].to_pylist(), strict=True))
    return found


def test_files_have_the_hashes_of_the_card(card: dict[str, Any]) -> None:
    files = sorted(DATA.glob("*.parquet"))
    assert {path.name for path in files} == set(card["files"])
    together = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        together.update(content)
        expected = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        assert card["files"][path.name] == expected, path.name
    assert card["content_sha256"] == together.hexdigest()


def test_folder_is_small_and_carries_its_licences() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 14_000_000
    apache = (DATA / "LICENSE-APACHE-2.0.txt").read_text(encoding="utf-8")
    assert "Apache License" in apache
    assert "END OF TERMS AND CONDITIONS" in apache
    attribution = (DATA / "LICENSE-CC-BY-4.0.txt").read_text(encoding="utf-8")
    assert "Twitter, Inc and other contributors" in attribution
    assert "https://creativecommons.org/licenses/by/4.0/" in attribution
    assert "The Android Open Source Project" in (DATA / "NOTICE.txt").read_text(encoding="utf-8")


def test_every_licence_of_the_card_has_its_file(card: dict[str, Any]) -> None:
    assert {one["licence"] for one in card["licences"]} == {"Apache-2.0", "CC-BY-4.0", "MIT"}
    for one in card["licences"]:
        assert (DATA / one["file"]).is_file(), one["file"]


def test_snapshots_have_their_dates_and_rows(history: list[Row], card: dict[str, Any]) -> None:
    assert Counter(row["date"] for row in history) == ROWS
    assert {(row["snapshot"], row["date"]) for row in history} == set(enumerate(ROWS))
    for number, source in enumerate(card["sources"]):
        date = dt.date.fromisoformat(source["date"])
        assert (source["snapshot"], source["rows"]) == (number, ROWS[date])
        assert source["date_source"]


def test_rows_are_sorted_and_ids_are_unique(history: list[Row], twemoji: list[Row]) -> None:
    order = [(row["snapshot"], row["code"]) for row in history]
    assert order == sorted(set(order))
    assert all(row["id"] == f"{row['code']}@{row['date'].isoformat()}" for row in history)
    assert [row["code"] for row in twemoji] == sorted({row["code"] for row in twemoji})
    assert all(row["id"] == f"{row['code']}@twemoji" for row in twemoji)


def test_counts_are_those_of_the_card(
    history: list[Row],
    twemoji: list[Row],
    images: dict[str, dict[str, bytes]],
    card: dict[str, Any],
) -> None:
    counts = card["counts"]
    assert counts["rows"] == len(history) == 13_419
    assert counts["codes"] == len({row["code"] for row in history}) == 1_906
    assert counts["unique_images"] == len(images["images.parquet"]) == 9_312
    assert counts["twemoji_rows"] == len(twemoji) == 1_906
    assert counts["twemoji_unique_images"] == len(images["twemoji_images.parquet"]) == 1_873
    assert counts["identities"] == len({row["identity"] for row in history}) == 1_611
    changes = Counter((row["snapshot"], row["change"]) for row in history)
    for one in card["change"]["counts"]:
        for kind in ("new", "redrawn", "unchanged"):
            assert one[kind] == changes[one["snapshot"], kind]


def test_groups_and_subgroups(history: list[Row], card: dict[str, Any]) -> None:
    by_code = {row["code"]: row for row in history}
    assert Counter(row["group"] for row in by_code.values()) == GROUPS == card["counts"]["groups"]
    subgroups = Counter(row["subgroup"] for row in by_code.values())
    assert subgroups == card["counts"]["subgroups"]
    assert len(subgroups) == 98
    group_of = defaultdict(set)
    for row in history:
        group_of[row["subgroup"]].add(row["group"])
    assert all(len(groups) == 1 for groups in group_of.values())


@pytest.mark.parametrize("name", ["images.parquet", "twemoji_images.parquet"])
def test_every_image_decodes_to_the_pixels_of_its_key(
    name: str, images: dict[str, dict[str, bytes]]
) -> None:
    for key, encoded in images[name].items():
        with Image.open(io.BytesIO(encoded)) as image:
            pixels = np.asarray(image.convert("RGBA"))
        assert pixels.shape == (32, 32, 4), key
        assert hashlib.sha256(pixels.tobytes()).hexdigest()[:16] == key
        visible = np.argwhere(pixels[..., 3])
        # Three drawings end in a shadow so faint that it was dropped after the crop.
        assert (np.ptp(visible, axis=0) + 1).max() >= 30, f"{key} does not fill its canvas"


def test_every_image_is_used(
    history: list[Row], twemoji: list[Row], images: dict[str, dict[str, bytes]]
) -> None:
    assert {row["image"] for row in history} == set(images["images.parquet"])
    assert {row["image"] for row in twemoji} == set(images["twemoji_images.parquet"])


def test_labels_of_a_code_never_change(history: list[Row], twemoji: list[Row]) -> None:
    seen: dict[str, tuple[object, ...]] = {}
    for row in [*history, *twemoji]:
        labels = (
            row["name"],
            tuple(row["keywords"]),
            row["group"],
            row["subgroup"],
            row["identity"],
        )
        assert seen.setdefault(row["code"], labels) == labels
        assert all(labels)


def test_equal_pictures_have_one_identity(history: list[Row], twemoji: list[Row]) -> None:
    identity: dict[str, str] = {}
    for row in [*history, *twemoji]:
        assert identity.setdefault(row["image"], row["identity"]) == row["identity"], row["id"]


def test_an_identity_lies_in_one_group(history: list[Row]) -> None:
    group: dict[str, str] = {}
    for row in history:
        assert group.setdefault(row["identity"], row["group"]) == row["group"], row["id"]


@pytest.mark.parametrize(
    "names",
    [
        ("cook", "man cook", "woman cook"),
        ("police officer", "man police officer", "woman police officer"),
        ("person", "man: red hair", "woman: bald"),
        ("person walking", "woman walking: facing right"),
        ("family", "family: man, woman, boy", "family: adult, child"),
        ("mermaid", "merman", "merperson"),
        ("red heart", "blue heart"),
        ("left-facing fist", "right-facing fist"),
        ("flag: France", "flag: Clipperton Island"),
        ("flag: Indonesia", "flag: Monaco"),
    ],
)
def test_variants_share_an_identity(names: tuple[str, ...], history: list[Row]) -> None:
    identity = {row["name"]: row["identity"] for row in history}
    assert len({identity[name] for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("twelve o\u2019clock", "twelve-thirty"),
        ("dog", "dog face"),
        ("woman\u2019s hat", "man\u2019s shoe"),
        ("red envelope", "envelope"),
        ("person standing", "person kneeling"),
        ("flag: France", "flag: Italy"),
    ],
)
def test_different_concepts_keep_their_identities(
    names: tuple[str, ...], history: list[Row]
) -> None:
    identity = {row["name"]: row["identity"] for row in history}
    assert len({identity[name] for name in names}) == len(names)


def test_new_means_first_appearance(history: list[Row]) -> None:
    seen: set[str] = set()
    for row in history:
        assert (row["change"] == "new") == (row["code"] not in seen), row["id"]
        assert row["change"] in ("new", "redrawn", "unchanged")
        seen.add(row["code"])


def test_an_equal_picture_is_unchanged(history: list[Row]) -> None:
    last: dict[str, str] = {}
    for row in history:
        if last.get(row["code"]) == row["image"]:
            assert row["change"] == "unchanged", row["id"]
        last[row["code"]] = row["image"]


def test_the_revolver_becomes_a_water_pistol(history: list[Row]) -> None:
    change = {row["date"].isoformat(): row["change"] for row in history if row["code"] == "1F52B"}
    assert change["2020-01-15"] == "redrawn"
    assert change["2020-10-09"] == "unchanged"


def test_a_rescale_is_unchanged(history: list[Row]) -> None:
    # From 2022 to 2023 nearly every picture was rescaled and only about fifty were redrawn.
    kinds = Counter(row["change"] for row in history if row["snapshot"] == 6)
    assert kinds["redrawn"] < 60
    pictures = {row["snapshot"]: row["image"] for row in history if row["name"] == "grinning face"}
    assert pictures[5] != pictures[6]


def test_the_great_redesign_is_redrawn(history: list[Row]) -> None:
    rows = [row for row in history if row["snapshot"] == 2 and row["change"] != "new"]
    faces = [row for row in rows if row["subgroup"].startswith("face-")]
    assert all(row["change"] == "redrawn" for row in faces)
