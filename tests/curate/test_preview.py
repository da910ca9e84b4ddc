"""The page of candidates: one file, everything in it shown as text, whatever it is called."""

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curated_miniature import write_tar
from task_folders import picture

from onward.curate.choose import Wanted
from onward.curate.concepts import Concept, Concepts
from onward.curate.preview import PAGE, make_preview, spread
from onward.curate.retrieve import retrieve
from onward.curate.score_histogram import histogram_svg
from onward.curate.stage import Stage, making, open_stage
from onward.curate.store import Store

HOSTILE = "<script>alert(1)<\u2215script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}"


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture
def retrieved(tmp_path: Path) -> Stage:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((60, 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    (tmp_path / "store").mkdir()
    np.save(tmp_path / "store" / "a.npy", vectors.astype(np.float16))
    ids = [f"{HOSTILE}{row}" for row in range(60)]
    buckets = pa.array([row % 2 for row in range(60)], pa.int32())
    pq.write_table(pa.table({"id": ids, "bucket": buckets}), tmp_path / "store" / "a.parquet")
    concepts = Concepts((Concept(HOSTILE, (HOSTILE,), (HOSTILE, "b")), Concept("c", ("c",))))
    wanted = Wanted(concepts, np.eye(6)[:2, None], top=5, background=2)
    with making(tmp_path / "found", "retrieve", {}) as folder:
        folder.finish(retrieve(Store.open(tmp_path / "store"), wanted, folder.folder))
    return open_stage(folder.folder, "retrieve")


def page(stage: Stage, images: Path, out: Path, shown: int = 4) -> tuple[Mapping[str, Any], str]:
    done = make_preview(stage.folder, images, out, shown=shown)
    return done, (out / PAGE).read_text()


def test_hostile_names_are_text(retrieved: Stage, tmp_path: Path) -> None:
    shown = pq.read_table(retrieved.folder / "candidates.parquet").column("id").to_pylist()
    members: dict[str, bytes] = {}
    for at, one in enumerate(shown):
        members[f"{at:03d}.json"] = json.dumps({"id": one}).encode()
        members[f"{at:03d}.png"] = picture("red", at)
    members["000.png"] = b"no picture"
    missing = shown[-1]
    del members[f"{len(shown) - 1:03d}.png"]
    write_tar(tmp_path / "tars" / "0.tar", members)
    counts, text = page(retrieved, tmp_path / "tars", tmp_path / "page")
    found = Elements(text)
    assert counts["not_there"] == 1
    assert counts["unreadable"] == 1
    tags = [tag for tag, _ in found.found]
    assert tags.count("script") == 2
    pictures = [attributes for tag, attributes in found.found if tag == "img"]
    assert pictures
    assert all((one["src"] or "").startswith("data:image/webp;base64,") for one in pictures)
    assert not any("onerror" in attributes for _, attributes in found.found)
    assert HOSTILE in found.words
    assert any(attributes.get("title") == missing for _, attributes in found.found)
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_lines_go_from_the_best_to_the_last(retrieved: Stage, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "other.png").write_bytes(picture("red"))
    counts, text = page(retrieved, tmp_path / "images", tmp_path / "page", shown=3)
    assert counts["not_there"] == counts["images"]
    lines = re.findall(r'data-line="(\d+-\d+)"', text)
    assert lines == ["0-0", "0-1", "1-0", "1-1", "2-0", "2-1"]
    assert text.count("not there") == counts["images"]
    assert text.count('<svg class="scores"') == 4


def test_spread() -> None:
    assert spread(600, 12)[[0, -1]].tolist() == [0, 599]
    assert len(spread(600, 12)) == 12
    assert spread(1, 12).tolist() == [0]


def test_a_histogram_of_one_value_and_of_many() -> None:
    table = pa.table({"low": [0.1], "high": [0.105], "images": [9]})
    assert "M0 52V0.0H240.0V52Z" in histogram_svg(table, np.array([0.102]))
    low = np.arange(-1, 1, 0.005)
    table = pa.table({"low": low, "high": low + 0.005, "images": np.full(len(low), 3)})
    drawn = histogram_svg(table, np.array([0.9, 0.95]))
    assert drawn.count("V") == 2 * 49
    assert "candidates from 0.900 to 0.950" in drawn
