import io
import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from loopback import Server, loopback, server
from metadata_rows import rows_of, write_lines
from PIL import Image

from onward.curate import client, fetch, picture_filters
from onward.curate.client import FetchError, Manners
from onward.curate.fetch import FetchOptions
from onward.curate.images import image_shards
from onward.curate.picture_filters import Filters, look_at
from onward.curate.pool import PoolOptions, make_pool
from onward.curate.records import FETCHED
from onward.errors import OnwardError

__all__ = ["loopback", "server"]

MANNERS = Manners(connections=4, per_second=10_000, retries=0, timeout=10)


def picture(width: int = 130, height: int = 130, kind: str = "JPEG", seed: int = 0) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, kind)
    return held.getvalue()


@pytest.fixture
def pool(tmp_path: Path, server: Server) -> Path:
    """Sixty images, of which every tenth is of another kind of trouble."""
    troubles = [picture(100, 130), picture(300, 130), b"<html>gone</html>", picture()[:900], b"x"]
    lines = ["id,time,url,caption"]
    for number in range(60):
        path = f"/{number}.jpg"
        if number % 10 == 0 and number < 50:
            server.says(path, troubles[number // 10])
        elif number % 10:
            server.says(path, picture(seed=number, kind="PNG" if number % 2 else "JPEG"))
        caption = f"caption {number}" if number % 3 else ""
        lines.append(f"i{number},{1_200_000_000 + number},{server.url(path)},{caption}")
    lines.append("i60,1200000060,,")
    meta = write_lines(tmp_path / "m.csv", lines)
    make_pool([meta], tmp_path / "pool", PoolOptions(buckets=4))
    return tmp_path / "pool"


def options(**more: Any) -> FetchOptions:
    return FetchOptions(**{"count": 1000, "shard_size": 20, "allow_private": True, **more})


def test_everything_is_fetched_or_has_a_reason(tmp_path: Path, pool: Path) -> None:
    out = tmp_path / "out"
    counts = fetch.fetch(pool, out, options(), MANNERS)
    assert counts == {
        "asked": 61,
        "fetched": 54,
        "wanted": 1000,
        "failed": {
            "HTTP 404": 1,
            "a damaged image": 1,
            "an edge shorter than 120 pixels": 1,
            "longer than 2 times its other edge": 1,
            "no url": 1,
            "not an image": 1,
            "smaller than 10 bytes": 1,
        },
    }
    rows = {row["id"]: row for row in rows_of(pool).to_pylist()}
    told = {}
    for path in sorted(out.glob("*.parquet")):
        table = pq.read_table(path)
        assert table.schema.equals(FETCHED)
        told.update({row["key"]: row for row in table.to_pylist()})
    assert sorted(row["id"] for row in told.values()) == sorted(rows)
    found = []
    for path in sorted(out.glob("*.tar")):
        with tarfile.open(path) as tar:
            members = {
                member.name: tar.extractfile(member).read()  # type: ignore[union-attr]
                for member in tar.getmembers()
            }
        for name, content in members.items():
            key, _, kind = name.partition(".")
            row = rows[told[key]["id"]]
            if kind == "json":
                about = json.loads(content)
                assert (about["id"], about["url"]) == (row["id"], row["url"])
                assert about["time"] == row["time"].isoformat()
                assert (about["width"], about["height"], about["key"]) == (130, 130, key)
                found.append(about["id"])
            elif kind == "txt":
                assert content.decode() == row["caption"]
            else:
                number = int(row["id"][1:])
                assert kind == ("png" if number % 2 else "jpg")
                assert content == picture(seed=number, kind="PNG" if number % 2 else "JPEG")
        captions = [name for name in members if name.endswith(".txt")]
        assert len(captions) == sum(
            rows[row["id"]]["caption"] is not None and row["status"] == "success"
            for row in told.values()
            if row["key"].startswith(path.stem)
        )
    assert Counter(found) == Counter(r["id"] for r in told.values() if r["status"] == "success")
    places = [place for shard in image_shards(out) for place in shard.places()]
    assert sorted(place.id for place in places) == sorted(found)


def test_it_ends_when_enough_have_arrived_and_the_first_are_the_same(
    tmp_path: Path, pool: Path
) -> None:
    order = {}
    for count in (7, 40):
        counts = fetch.fetch(pool, tmp_path / str(count), options(count=count), MANNERS)
        assert counts["fetched"] == count
        files = sorted((tmp_path / str(count)).glob("*.parquet"))
        order[count] = [row for file in files for row in pq.read_table(file).to_pylist()]
        assert counts["asked"] == len(order[count])
        assert order[count][-1]["status"] == "success"
    assert order[40][: len(order[7])] == order[7]
    # By lot: not in the order of time.
    ids = [row["id"] for row in order[40]]
    assert ids != sorted(ids, key=lambda id: int(id[1:]))


def test_finished_shards_are_not_fetched_again(
    tmp_path: Path, pool: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    real, calls = fetch.look_at, []

    def stop(content: bytes, filters: Filters) -> Any:
        calls.append(1)
        if len(calls) == 35:
            raise KeyboardInterrupt
        return real(content, filters)

    with monkeypatch.context() as patch:
        patch.setattr(fetch, "look_at", stop)
        with pytest.raises(KeyboardInterrupt):
            fetch.fetch(pool, out, options(), MANNERS)
    whole = sorted(path.name for path in out.glob("*.parquet"))
    assert 0 < len(whole) < 4
    fetched = {row["url"] for name in whole for row in pq.read_table(out / name).to_pylist()}
    server.asked.clear()
    counts = fetch.fetch(pool, out, options(), MANNERS)
    assert not {server.url(path) for path in server.asked} & fetched
    assert (counts["asked"], counts["fetched"]) == (61, 54)
    assert not list(out.glob(".*tar*"))
    server.asked.clear()
    assert fetch.fetch(pool, out, options(), MANNERS) == counts
    assert server.asked == []


def test_a_pool_that_was_made_anew_is_noticed(tmp_path: Path, pool: Path) -> None:
    fetch.fetch(pool, tmp_path / "out", options(count=1), MANNERS)
    make_pool([tmp_path / "m.csv"], tmp_path / "other", PoolOptions(buckets=2))
    with pytest.raises(OnwardError, match="found pool"):
        fetch.fetch(tmp_path / "other", tmp_path / "out", options(count=1), MANNERS)


def test_a_bomb_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    held = io.BytesIO()
    Image.new("1", (9_000, 9_000)).save(held, "PNG")
    assert len(held.getvalue()) < 100_000
    with pytest.raises(FetchError, match=picture_filters.BOMB):
        look_at(held.getvalue(), Filters())


def test_a_drawing_that_is_no_photo_format_is_no_image() -> None:
    held = io.BytesIO()
    Image.new("RGB", (130, 130)).save(held, "TIFF")
    with pytest.raises(FetchError, match=picture_filters.NO_IMAGE):
        look_at(held.getvalue(), Filters())


def test_private_hosts_are_refused_by_default(tmp_path: Path, pool: Path, server: Server) -> None:
    out = tmp_path / "out"
    counts = fetch.fetch(pool, out, options(count=5, allow_private=False), MANNERS)
    assert counts["failed"] == {client.NO_URL: 1, client.PRIVATE: 60}
    assert server.asked == []
