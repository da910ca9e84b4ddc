"""What a campaign is made of."""

import sqlite3
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_campaign import png, read, retrieved

from onward.curate.records import CANDIDATES
from onward.curate.review import making as module
from onward.curate.review.campaign import connect, open_campaign
from onward.curate.review.making import Rules, make_campaign
from onward.curate.review.people import invite
from onward.errors import OnwardError, StorageError


def test_svgs_are_no_images(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 3)
    (images / "photo-0.png").rename(images / "photo-0.svg")
    made = make_campaign(found, images, tmp_path / "c", Rules())
    assert made.counts["items"] == 2
    assert (tmp_path / "c" / "missing.csv").read_text() == "id\nphoto-0\n"


def test_candidates_that_are_there_twice_are_asked_once(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 2)
    rows = [
        {"bucket": 0, "concept": name, "rank": 0, "id": "photo-0", "score": 0.5}
        for name in ("bus", "camera")
    ]
    table = pa.Table.from_pylist(rows, schema=CANDIDATES)
    pq.write_table(table, found / "candidates.parquet")
    made = make_campaign(found, images, tmp_path / "c", Rules())
    assert (made.counts["items"], made.counts["twice"]) == (1, 1)
    assert read(made.folder, "select concept, wanted from items") == [("bus", 3)]


def test_images_in_shards(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 4)
    shards = tmp_path / "shards"
    shards.mkdir()
    with tarfile.open(shards / "00000.tar", "w") as tar:
        for path in sorted(images.iterdir()):
            tar.add(path, path.name)
    made = make_campaign(found, shards, tmp_path / "c", Rules())
    with open_campaign(made.folder) as campaign:
        places = [campaign.place(item) for item in range(1, 5)]
    contents = {place.id: place.read() for place in places if place is not None}
    assert contents == {f"photo-{at}": png(at) for at in range(4)}


def test_items_have_a_random_order_that_the_seed_decides(tmp_path: Path) -> None:
    found, images = retrieved(tmp_path, 30)
    orders = []
    for at, seed in enumerate((0, 0, 1)):
        made = make_campaign(found, images, tmp_path / f"c{at}", Rules(seed=seed))
        orders.append([row[0] for row in read(made.folder, "select id from items order by item")])
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_a_full_disk_is_said_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, images = retrieved(tmp_path, 3)
    out, no_more = tmp_path / "c", "pragma max_page_count = 1"  # than there are already

    def small(path: Path, *, make: bool = False) -> sqlite3.Connection:
        db = connect(path, make=make)
        db.execute(no_more)
        return db

    with monkeypatch.context() as full:
        full.setattr(module, "connect", small)
        with pytest.raises(StorageError, match=r"disk is full\. Free some space"):
            make_campaign(found, images, out, Rules())
    make_campaign(found, images, out, Rules())

    def invite_many() -> None:
        with open_campaign(out) as campaign:
            campaign.db.execute(no_more)
            with campaign.writing():
                for number in range(2000):
                    invite(campaign, f"annotator {number}")

    with pytest.raises(StorageError, match="disk is full"):
        invite_many()
    assert read(out, "select count(*) from annotators") == [(0,)]


def test_the_same_command_goes_on_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, images = retrieved(tmp_path, 3)
    out = tmp_path / "c"
    fill = module._fill

    def killed(*arguments: object) -> None:
        fill(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, "_fill", killed)
        with pytest.raises(KeyboardInterrupt):
            make_campaign(found, images, out, Rules())
    with pytest.raises(OnwardError, match="unfinished"), open_campaign(out):
        pass
    assert make_campaign(found, images, out, Rules()).counts["items"] == 3
    assert read(out, "select count(*) from items") == [(3,)]
