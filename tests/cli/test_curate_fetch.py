import io
import json
from pathlib import Path

import pytest
from loopback import Server, loopback, server
from metadata_rows import write_lines, yfcc_line
from PIL import Image
from terminal import Terminal

__all__ = ["loopback", "server"]


@pytest.fixture
def pool(onward: Terminal, tmp_path: Path, server: Server) -> Path:
    held = io.BytesIO()
    Image.new("RGB", (150, 150), "red").save(held, "JPEG")
    urls = [server.says(f"/{n}.jpg", held.getvalue()) for n in range(5)]
    urls.append(server.url("/gone.jpg"))
    lines = [yfcc_line(str(n), str(1_200_000_000 + n), url=url) for n, url in enumerate(urls)]
    meta = write_lines(tmp_path / "meta", lines)
    assert onward("curate", "pool", meta, "--buckets", "2", "--out", tmp_path / "pool")[0] == 0
    return tmp_path / "pool"


def test_images_and_counts(onward: Terminal, pool: Path, tmp_path: Path) -> None:
    words = ["curate", "fetch", pool, "--count", "6", "--out", tmp_path / "out", "--allow-private"]
    code, out, _ = onward(*words, "--per-second", "1000")
    assert code == 0
    assert "5 of 6 images, 6 asked" in out
    assert "failed: 1 HTTP 404" in out
    assert "no more rows" in out
    code, out, err = onward(*words, "--json")
    assert "already there" in err
    said = json.loads(out)
    assert said == {"asked": 6, "fetched": 5, "wanted": 6, "failed": {"HTTP 404": 1}}


def test_what_is_no_pool_is_refused(onward: Terminal, tmp_path: Path) -> None:
    code, _, err = onward("curate", "fetch", tmp_path, "--count", "6", "--out", tmp_path / "out")
    assert code == 2
    assert "onward curate pool" in err
