"""The page is one file that asks nobody, shows names as text and marks only what is decided."""

import base64
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from onward.errors import OnwardError
from onward.report.page import write_page

EVIL = '"><script>alert("x")</script><img src=//evil.example/x>'
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Reader(HTMLParser):
    """Collects elements, checks that they nest, and keeps the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def images(self) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == "img"]


def written(records: list, tmp_path: Path, **options: object) -> tuple[str, Reader]:
    options = {"title": "A title", "commands": ["onward run"], **options}
    path = write_page(records, tmp_path / "page.html", **options)
    text = path.read_text()
    return text, Reader(text)


def test_the_whole_demonstration_in_one_small_file(demo: Callable, tmp_path: Path) -> None:
    png = b"\x89PNG" + bytes(200_000)
    text, page = written(demo(), tmp_path, contact_sheet_png=png)
    assert len(text) < 1_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    headings = [tag for tag, _ in page.elements if tag in ("h1", "h2")]
    assert headings == ["h1"] + ["h2"] * 7
    # The sheet, the colour scale, 2 x 5 matrices, 2 curves, classes, cost.
    assert len(page.images) == 16
    assert all(image["alt"] for image in page.images)
    assert base64.b64decode(str(page.images[0]["src"]).partition(",")[2]) == png
    words = "".join(page.text)
    assert words.index("the streaming protocol") < words.index("the iid protocol")


def test_nothing_is_asked_from_anywhere(demo: Callable, tmp_path: Path) -> None:
    text, page = written(demo(1, methods=("scratch",)), tmp_path)
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.elements}
    assert "url(" not in text
    assert "@import" not in text
    for _, attributes in page.elements:
        for name in ("src", "href", "srcset", "action"):
            assert attributes.get(name, "data:").startswith("data:")
    for image in page.images:
        svg = ET.fromstring(base64.b64decode(str(image["src"]).partition(",")[2]))
        for node in svg.iter():
            for name, value in node.attrib.items():
                if name.endswith("href"):
                    assert value.startswith(("#", "data:")), value


def test_hostile_names_are_shown_as_text(make: Callable, tmp_path: Path) -> None:
    R = [[0.7, 0.6], [0.6, 0.7]]
    records = [make(R, method=name, seed=seed) for name in (EVIL, "finetune") for seed in (0, 1)]
    text, page = written(records, tmp_path, title=EVIL, commands=[f"run {EVIL}"])
    assert "<script" not in text
    assert "script" not in {tag for tag, _ in page.elements}
    assert all(str(image["src"]).startswith("data:") for image in page.images)
    assert page.text.count(EVIL) >= 4  # the title twice, and a row in each table
    assert any(EVIL in str(image["alt"]) for image in page.images)


@pytest.mark.parametrize(("seeds", "marked"), [(5, 0), (6, 5)])
def test_best_is_marked_only_if_decided(
    demo: Callable, tmp_path: Path, seeds: int, marked: int
) -> None:
    records = demo(seeds, protocols=("iid",), methods=("finetune", "nap"), periods=3)
    text, page = written(records, tmp_path)
    best = [tag for tag, attributes in page.elements if attributes.get("class") == "best"]
    assert len(best) == marked
    assert (": here, nothing." in text) is (marked == 0)
    assert ("cannot tell: 6 seeds needed" in text) is (marked == 0)


def test_one_seed_shows_no_deviation(demo: Callable, tmp_path: Path) -> None:
    records = demo(1, protocols=("streaming",), methods=("finetune", "er"), periods=3)
    text, page = written(records, tmp_path)
    assert 'class="spread"' not in text
    assert "nan" not in "".join(page.text).lower()
    assert "One seed cannot tell." in page.text


def test_a_stream_of_one_period_has_a_page_too(make: Callable, tmp_path: Path) -> None:
    text, _ = written([make([[0.5]])], tmp_path)
    assert "in‑domain" in text  # noqa: RUF001


def test_unfinished_runs_are_counted(make: Callable, tmp_path: Path) -> None:
    R = [[0.7, 0.6], [0.6, 0.7]]
    killed = [make(R, seed=seed, complete=False) for seed in (1, 2)]
    assert "2 unfinished runs are left out" in written([make(R), *killed], tmp_path)[0]
    assert "1 unfinished run is left out" in written([make(R), killed[0]], tmp_path)[0]
    with pytest.raises(OnwardError, match="found 1 unfinished"):
        written([make(R, complete=False)], tmp_path)


def test_a_page_is_about_one_data(make: Callable, tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="found clear/made-up, tic/made-up"):
        written([make([[0.5]]), make([[0.5]], benchmark="tic")], tmp_path)


def test_the_same_runs_make_the_same_bytes(demo: Callable, tmp_path: Path) -> None:
    first, _ = written(demo(2, methods=("scratch", "er"), periods=3), tmp_path)
    second, _ = written(demo(2, methods=("scratch", "er"), periods=3)[::-1], tmp_path)
    assert first == second


def test_reports_load_no_learning_framework() -> None:
    check = (
        "import sys, onward.report.page, onward.report.terminal\n"
        "sys.exit(bool({'torch', 'matplotlib.pyplot'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_everything_at_once_has_a_page_too(make: Callable, tmp_path: Path) -> None:
    nothing = float("nan")
    rows = ([nothing, nothing], [0.62, 0.83])
    records = [
        make(rows, protocol="offline", seed=seed, method=method)
        for seed in (0, 1)
        for method in ("finetune", "er")
    ]
    _, page = written(records, tmp_path)
    text = " ".join(page.text)
    assert "all periods, once all are learned" in text
    assert "72.5" in text
