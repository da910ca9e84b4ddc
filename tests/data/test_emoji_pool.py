"""The raw pool of emoji: what a pool has, its crawls, and its dirt."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onward.cli import app
from onward.data.emoji_pool import make_emoji_pool
from onward.data.folder_images import opened_image
from onward.data.tar_index import tar_members
from onward.errors import OnwardError


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("emoji") / "raw"
    make_emoji_pool(out, pairs=12)
    return out


def test_every_pair_has_an_image_of_the_size_that_is_told(raw: Path) -> None:
    pool = {row["uid"]: row for row in pq.read_table(raw / "pool.parquet").to_pylist()}
    assert len(pool) == pq.read_metadata(raw / "pool.parquet").num_rows
    assert all(len(uid) == 32 and int(uid, 16) >= 0 for uid in pool)
    seen = 0
    for path in sorted((raw / "images").glob("*.tar")):
        with path.open("rb") as file:
            order = iter(pool.values())
            for _, kind, offset, size in list(tar_members(file)):
                if kind != "jpg":
                    continue
                file.seek(offset)
                row = next(order)
                with opened_image(file.read(size), lambda: "x") as image:
                    assert image.size == (row["original_width"], row["original_height"])
                seen += 1
    assert seen == len(pool)


def test_pairs_recur_arrive_late_or_never(raw: Path) -> None:
    crawls = {
        path.stem: {tuple(row.values()) for row in pq.read_table(path).to_pylist()}
        for path in sorted((raw / "snapshots").iterdir())
    }
    assert list(crawls) == sorted(crawls)
    assert {"2016-06", "2025-09"} < set(crawls)
    rows = pq.read_table(raw / "pool.parquet").to_pylist()
    pairs = {(row["url"], row["text"]) for row in rows}
    seen = set().union(*crawls.values())
    assert seen < pairs
    assert len(pairs) < len(rows)
    assert crawls["2016-06"] & crawls["2025-09"]
    assert crawls["2025-09"] - crawls["2016-06"]
    texts = [row["text"] for row in rows]
    assert any("<" in text or "&amp;" in text for text in texts)
    assert any(len(text.split()) < 3 for text in texts)
    assert min(row["original_width"] for row in rows) < 200
    assert max(row["original_width"] / row["original_height"] for row in rows) > 3


def test_the_same_seed_gives_the_same_bytes_and_another_another(raw: Path, tmp_path: Path) -> None:
    make_emoji_pool(tmp_path / "same", pairs=12)
    make_emoji_pool(tmp_path / "other", pairs=12, seed=1)

    def held(folder: Path) -> dict[str, bytes]:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    assert held(raw) == held(tmp_path / "same")
    assert held(raw)["pool.parquet"] != held(tmp_path / "other")["pool.parquet"]
    with pytest.raises(OnwardError, match="a new or an empty folder"):
        make_emoji_pool(raw, pairs=12)


def test_the_command_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "raw"
    done = CliRunner().invoke(
        app, ["data", "make", "emoji-pool", "--out", str(out), "--samples", "4"]
    )
    assert done.exit_code == 0, done.output
    assert "onward curate date" in done.output
    assert (out / "known.parquet").is_file()
