"""The leaderboard in a real browser: sorted in divisions, filtered, narrow, asking nobody."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from resubmitted import resubmitted

import onward
from onward.checks.tiny import tiny_benchmark
from onward.exam import keys_of
from onward.report.leaderboard import leaderboard
from onward.report.leaderboard_site import write_site
from onward.report.published import PublishedRow, PublishedValue
from onward.results.collect import collect
from onward.results.keys import Keys

pytestmark = pytest.mark.slow
EVIL = '"><script>alert("x")</script><img src=//evil.example/x>'
PAPER = PublishedRow(
    benchmark="tiny",
    protocol="iid",
    data="Tiny, official",
    label="of a paper",
    method="er",
    values={"next_domain": PublishedValue(0.999, 0.01, certain=False)},
    paper="Somebody et al., 2020, Table 1",
    table="tiny/table1",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    for name in ("finetune", "nap"):
        run = onward.run(tiny_benchmark(), name, out=out / "in").path
        assert run is not None
        resubmitted(run, out / "in", data="other", data_digest="f" * 64)
    resubmitted(run, out / "in", method=EVIL)
    made = tiny_benchmark()
    keys = keys_of(made, [0]).by_name
    others = {name.replace(made.raw.digest[:16], "f" * 16): key for name, key in keys.items()}
    found = leaderboard(collect([out]), [PAPER], Keys(keys | others))
    return write_site(found, out / "site", out).parent


@pytest.fixture
def board(site: Path) -> Path:
    (page,) = (site / "boards").iterdir()
    return page


def _order(opened: Any) -> list[tuple[str, str]]:
    """Return the rows as they stand: what is above their group, and their method."""
    return [
        tuple(pair)
        for pair in opened.page.evaluate(
            """() => [...document.querySelectorAll("table.rows tbody")].flatMap((body) => {
                const heading = body.querySelector("th.group").textContent;
                const rows = [...body.querySelectorAll("tr:not(.heading)")];
                return rows.map((row) => [heading, row.querySelector(".name").textContent]);
            })"""
        )
    ]


def test_sorting_keeps_editions_apart(open_page: Callable[..., Any], board: Path) -> None:
    opened = open_page(board)
    before = _order(opened)
    headings = list(dict.fromkeys(heading for heading, _ in before))
    assert len(headings) == 3
    for column in ("next-domain", "method", "seeds"):
        for _ in range(2):  # descending and ascending
            opened.page.get_by_role("button", name=column, exact=True).click()
            after = _order(opened)
            assert sorted(after) == sorted(before)
            assert list(dict.fromkeys(heading for heading, _ in after)) == headings
    # The paper's number is the highest of all, and never first.
    assert before[-1][1] == after[-1][1] == "of a paper"
    assert opened.said == []
    assert opened.asked == [board.as_uri()]


def _filter(opened: Any, heading: str) -> Any:
    return opened.page.locator(".tools label", has_text=re.compile(f"^{heading}")).locator("select")


def test_filters(open_page: Callable[..., Any], board: Path) -> None:
    opened = open_page(board)
    _filter(opened, "from").select_option("published")
    assert [method for _, method in _order(opened)] == ["of a paper"]
    assert "in doubt" in opened.page.locator("table.rows").inner_text()
    _filter(opened, "from").select_option("submitted")
    _filter(opened, "data").select_option(label="other (ffffffff)")
    assert sorted(method for _, method in _order(opened)) == ["finetune", "nap"]


def test_every_page_by_its_links_on_a_narrow_screen(
    open_page: Callable[..., Any], site: Path
) -> None:
    opened = open_page(site / "index.html", viewport={"width": 390, "height": 800})
    seen, left = set(), [(site / "index.html").as_uri()]
    while left:
        address = left.pop()
        seen.add(address)
        opened.page.goto(address)
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not opened.page.evaluate(wide), address
        links = opened.page.evaluate("[...document.links].map((link) => link.href.split('#')[0])")
        left += [link for link in dict.fromkeys(links) if link not in seen and link not in left]
    assert seen == {path.as_uri() for path in site.rglob("*.html")}
    assert set(opened.asked) == seen
    assert opened.said == []


def test_hostile_names_are_text(open_page: Callable[..., Any], board: Path) -> None:
    opened = open_page(board)
    opened.page.on("dialog", lambda dialog: pytest.fail("a name was run"))
    opened.page.get_by_role("link", name=EVIL).click()
    assert opened.page.locator("h1").inner_text() == EVIL
    assert opened.page.locator("img").count() == 0
    assert opened.said == []
