"""The page of candidates in a real browser: marked by mouse and by keyboard, and remembered."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from task_folders import COLOURS, picture

from onward.curate.choose import Wanted
from onward.curate.concepts import Concept, Concepts
from onward.curate.preview import PAGE, make_preview
from onward.curate.retrieve import retrieve
from onward.curate.stage import making
from onward.curate.store import as_store

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=\"document.title='caught'\">"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((60, 6)).astype(np.float32)
    concepts = Concepts((Concept(HOSTILE, ("red",)), Concept("blue", ("blue",))))
    with making(tmp_path / "found", "retrieve", {}) as folder:
        wanted = Wanted(concepts, np.eye(6)[:2, None], top=12, background=3)
        folder.finish(retrieve(as_store(vectors), wanted, folder.folder))
    images = tmp_path / "images"
    images.mkdir()
    for row in range(60):
        colour = list(COLOURS)[row % 3]
        (images / f"{row}.png").write_bytes(picture(colour, row))
    make_preview(tmp_path / "found", images, tmp_path / "page")
    return tmp_path / "page" / PAGE


def estimates(opened: Any) -> list[list[str]]:
    rows = opened.page.locator(".estimates tbody tr").all()
    return [row.locator("td").all_text_contents() for row in rows]


@pytest.mark.parametrize("width", [1200, 390])
def test_marks_are_counted_and_remembered(open_page: Any, path: Path, width: int) -> None:
    opened = open_page(path, viewport={"width": width, "height": 900})
    page = opened.page
    nothing = ["0", "0", "—", "—"]
    assert estimates(opened) == [nothing] * 4
    shots = page.locator("button.shot")
    shots.nth(2).click()
    assert estimates(opened)[0] == ["12", "11", "92 %", "65 % to 99 %"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert estimates(opened)[0][:3] == ["12", "10", "83 %"]
    shots.nth(2).click()
    assert estimates(opened)[0][1] == "11"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("l")
    assert estimates(opened)[1] == ["12", "12", "100 %", "76 % to 100 %"]
    assert estimates(opened)[3][:2] == ["24", "23"]
    page.reload()
    assert estimates(opened)[3][:2] == ["24", "23"]
    page.keyboard.press("l")
    page.locator(".seen").nth(1).click()
    assert estimates(opened)[1] == nothing
    page.locator(".forget").click()
    assert estimates(opened) == [nothing] * 4
    assert page.title() == "Candidates at a glance"
    assert opened.said == []
    assert set(opened.asked) == {path.as_uri()}
    assert page.evaluate("document.documentElement.scrollWidth") <= width
