"""The report in a real browser: sorted, filtered, subtracted, by mouse and by keyboard."""

from pathlib import Path
from typing import Any

import pytest
from made_up import make_record
from tiny_runs import tiny_runs

from onward.report.page import write_page
from onward.report.published import PublishedRow, PublishedValue
from onward.report.rendering import render
from onward.results.collect import Collected, collect

pytestmark = pytest.mark.slow

NAN = float("nan")
WIDE = {"width": 1400, "height": 900}
NARROW = {"width": 390, "height": 844}
HOSTILE = (
    "<script>document.title='caught'</script>",
    '"><img src=x onerror="document.title=\'caught\'">',
    "';document.title='caught'//</script>",
    "\u202eright to left\u202c עברית",
    "x" * 200,
)
SCORES = {"alpha": 0.61, "beta": 0.72, "gamma": 0.55, "finetune": 0.65}


def page_of(tmp_path: Path, scores: dict[str, float], **options: Any) -> Path:
    records = [
        make_record(
            [[score, score - 0.1], [score - 0.05, score + 0.02 * seed]],
            method=method,
            seed=seed,
            cost={"cpu_seconds": 1 + at, "macs": 10**9 * (at + 1), "stored_samples": 10 * at},
        )
        for at, (method, score) in enumerate(scores.items())
        for seed in (0, 1)
    ]
    return write_page(Collected(tuple(records)), tmp_path / "page.html", **options).path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return page_of(tmp_path, SCORES)


def test_it_opens_from_disk_without_error_or_request(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    opened.page.locator("[data-maps]").scroll_into_view_if_needed()
    opened.page.wait_for_selector("table.map")
    assert opened.said == []
    assert opened.asked == [path.as_uri()]


def test_columns_are_sorted_by_click_and_say_so(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    assert opened.column(0) == ["beta", "finetune", "alpha", "gamma"]
    heads = opened.page.locator("table.rows thead th")
    assert heads.nth(1).get_attribute("aria-sort") == "descending"
    heads.nth(1).get_by_role("button").click()
    assert opened.column(0) == ["gamma", "alpha", "finetune", "beta"]
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    heads.nth(0).get_by_role("button").click()
    assert opened.column(0) == ["alpha", "beta", "finetune", "gamma"]
    assert [head.get_attribute("aria-sort") for head in heads.all()][:2] == ["ascending", "none"]
    status = opened.page.get_by_role("status").first.text_content()
    assert status == "4 methods, sorted by method, from A to Z"


def test_missing_numbers_come_last_either_way(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    head = opened.page.locator("th", has_text="against finetune").get_by_role("button")
    for _ in range(2):
        head.click()
        assert opened.column(0)[-1] == "finetune"


def test_rows_are_found_by_name(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    opened.page.get_by_label("find methods").fill("ET")
    assert opened.column(0) == ["beta", "finetune"]
    assert opened.page.get_by_role("status").first.text_content().startswith("2 of 4 methods")
    opened.page.get_by_label("find methods").fill("")
    assert len(opened.column(0)) == 4


def test_published_rows_are_marked_and_never_ranked_among_runs(
    open_page: Any, tmp_path: Path
) -> None:
    values = {"in_domain": PublishedValue(0.99), "next_domain": PublishedValue(0.99)}
    row = PublishedRow("clear", "iid", "CLEAR-10", "Paper's", "er", values, "A 2021", "t")
    opened = open_page(page_of(tmp_path, SCORES, published=[row]), viewport=WIDE)
    bodies = opened.page.locator("table.rows tbody")
    assert bodies.count() == 2
    assert "published" in bodies.nth(1).text_content()
    assert "Paper's" not in bodies.nth(1).text_content()
    button = bodies.nth(1).get_by_role("button")
    assert button.text_content() == "show 1 row"
    button.focus()
    opened.page.keyboard.press("Enter")
    assert "Paper's" in bodies.nth(1).text_content()
    assert opened.page.evaluate("document.activeElement.textContent") == "hide"
    opened.page.keyboard.press("Enter")
    assert "Paper's" not in bodies.nth(1).text_content()
    opened.page.get_by_label("from").select_option("papers")
    assert "Paper's" in bodies.nth(0).text_content()
    assert bodies.count() == 1


def test_of_many_published_tables_the_first_are_there_and_the_others_on_demand(
    open_page: Any, tmp_path: Path
) -> None:
    values = {"in_domain": PublishedValue(0.99), "next_domain": PublishedValue(0.99)}
    rows = [
        PublishedRow("clear", "iid", "CLEAR-10", "Theirs", "er", values, f"Paper {at}", "t")
        for at in range(6)
    ]
    opened = open_page(page_of(tmp_path, SCORES, published=rows), viewport=WIDE)
    headings = opened.page.locator("table.rows tr.heading")
    assert headings.count() == 3
    assert "4 more published tables" in headings.nth(2).text_content()
    headings.nth(2).get_by_role("button").focus()
    opened.page.keyboard.press("Enter")
    assert headings.count() == 6
    assert "Paper 2" in opened.page.evaluate("document.activeElement.parentElement.textContent")


def test_any_two_methods_are_subtracted(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    opened.page.locator("[data-maps]").scroll_into_view_if_needed()
    box = opened.page.locator(".difference")
    assert box.locator("caption").text_content() == "beta \N{MINUS SIGN} finetune, in points"
    assert box.locator("td").all_text_contents() == ["+7.0"] * 4
    box.get_by_label("difference: this method").select_option("gamma")
    box.get_by_label("minus this one").select_option("alpha")
    assert box.locator("td").all_text_contents() == ["\N{MINUS SIGN}6.0"] * 4
    assert "ahead in 0 of 4 cells" in box.get_by_role("status").text_content()
    colours = box.locator("td").evaluate_all("cells => cells.map(c => c.style.backgroundColor)")
    assert len(set(colours)) == 1


def test_heat_maps_are_tables_whose_numbers_can_be_read(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    opened.page.locator("[data-maps]").scroll_into_view_if_needed()
    opened.page.wait_for_selector("table.map")
    first = opened.page.locator(".panels.maps table").first
    assert first.locator("tbody th[scope=row]").all_text_contents() == ["2017-05", "2018-05"]
    assert first.locator("td").all_text_contents() == ["72.0", "62.0", "67.0", "73.0"]
    worst = opened.page.evaluate(
        """() => {
            const light = (text) => {
                const parts = text.match(/\\d+/g).slice(0, 3).map((part) => {
                    const share = part / 255;
                    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
            };
            return Math.min(...[...document.querySelectorAll(".map td")].map((cell) => {
                const { color, backgroundColor } = getComputedStyle(cell);
                const [a, b] = [light(color), light(backgroundColor)].sort((x, y) => y - x);
                return (a + 0.05) / (b + 0.05);
            }));
        }"""
    )
    assert worst >= 4.5  # what WCAG asks for


def test_everything_is_reached_and_used_by_keyboard(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE)
    keys = opened.page.keyboard
    keys.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip"
    opened.page.locator("table.rows thead button").first.focus()
    keys.press("Enter")
    assert opened.column(0)[0] == "alpha"
    keys.press("Space")
    assert opened.column(0)[0] == "gamma"
    ring = opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid"
    chip = opened.page.locator(".chips button").first
    chip.focus()
    keys.press("Enter")
    assert chip.get_attribute("aria-pressed") == "true"
    assert opened.page.locator(".plot.chosen g.lit").count() > 0
    opened.page.locator(".switch button").nth(1).focus()
    keys.press("Enter")
    assert opened.page.locator("[data-switch] > div:not(.switch)").nth(0).is_hidden()
    assert opened.page.locator("[data-switch] > div:not(.switch)").nth(1).is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_never_scrolls_sideways(
    open_page: Any, tmp_path: Path, scheme: str
) -> None:
    names = {name: 0.5 + 0.02 * at for at, name in enumerate(HOSTILE)}
    path = page_of(tmp_path, {**SCORES, **names}, title="x" * 200)
    opened = open_page(path, viewport=NARROW, color_scheme=scheme)
    opened.page.locator("[data-maps]").scroll_into_view_if_needed()
    opened.page.wait_for_selector("table.map")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_wide_figure_moves_sideways_before_its_letters_are_too_small(
    open_page: Any, tmp_path: Path
) -> None:
    found = collect([tiny_runs(tmp_path / "results", ("finetune", "nap"), 1)])
    page = write_page(found, tmp_path / "page.html").path
    opened = open_page(page, viewport=NARROW)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390
    wide = opened.page.locator("figure", has_text="Class mix").locator(".plot")
    assert wide.get_attribute("tabindex") == "0"
    assert wide.evaluate("plot => plot.scrollWidth > plot.clientWidth")
    assert wide.evaluate("plot => plot.querySelector('text').getBoundingClientRect().height") > 8


def test_dark_paper_by_system_and_by_button(open_page: Any, path: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.plot svg text')).fill"
    light, dark = (open_page(path, viewport=WIDE, color_scheme=s).page for s in ("light", "dark"))
    assert light.evaluate(colour) != dark.evaluate(colour)
    assert light.evaluate(ink) != dark.evaluate(ink)
    night = dark.evaluate(colour)
    light.get_by_role("button", name="show on dark paper").click()
    assert light.evaluate(colour) == night
    light.get_by_role("button", name="show on light paper").click()
    assert light.evaluate(colour) != night


def test_printed_on_white_without_buttons(open_page: Any, path: Path) -> None:
    opened = open_page(path, viewport=WIDE, color_scheme="dark")
    opened.page.emulate_media(media="print", color_scheme="dark")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert opened.page.locator(".theme").is_hidden()
    assert opened.page.locator(".tools").first.is_hidden()


def test_hostile_names_are_text(open_page: Any, tmp_path: Path) -> None:
    names = {name: 0.5 + 0.02 * at for at, name in enumerate(HOSTILE)}
    opened = open_page(page_of(tmp_path, names, title=HOSTILE[0]), viewport=WIDE)
    opened.page.locator("[data-maps]").scroll_into_view_if_needed()
    opened.page.wait_for_selector("table.map")
    shown = {
        "".join(letter if letter.isprintable() else "\ufffd" for letter in name) for name in names
    }
    assert set(opened.column(0)) == {name.rsplit(":", 1)[-1] for name in shown}
    assert opened.page.title() == HOSTILE[0]
    assert opened.page.locator("h1").text_content() == HOSTILE[0]
    assert opened.page.locator("img[src=x]").count() == 0
    assert opened.said == []
    assert len(opened.asked) == 1


def test_ten_thousand_rows_are_sorted_and_found(open_page: Any, tmp_path: Path) -> None:
    rows = [{"cells": [f"m{at}", (at * 7919) % 10_007]} for at in range(10_000)]
    columns = [{"heading": "name", "kind": "text"}, {"heading": "n", "kind": "number"}]
    spec = {"label": "many", "columns": columns, "rows": rows}
    path = tmp_path / "many.html"
    path.write_text(render("table.html.j2", ("table.js",), title="many", spec=spec))
    opened = open_page(path, viewport=WIDE)
    assert len(opened.column(0)) == 100
    opened.page.get_by_role("button", name="n", exact=True).click()
    best = max(rows, key=lambda row: row["cells"][1])
    assert opened.column(0)[0] == best["cells"][0]
    opened.page.get_by_role("button", name="show 200 more").click()
    assert len(opened.column(0)) == 300
    opened.page.get_by_label("find rows").fill("m9999")
    assert opened.column(0) == ["m9999"]


def test_links_lead_nowhere_but_into_the_site(open_page: Any, tmp_path: Path) -> None:
    targets = ["entry/a.html", "javascript:alert(1)", "//evil.example", "https://evil.example"]
    rows = [{"cells": [{"text": target, "href": target}]} for target in targets]
    spec = {"label": "t", "columns": [{"heading": "name", "kind": "text"}], "rows": rows}
    path = tmp_path / "links.html"
    path.write_text(render("table.html.j2", ("table.js",), title="links", spec=spec))
    opened = open_page(path, viewport=WIDE)
    links = opened.page.locator("table.rows a")
    assert [link.get_attribute("href") for link in links.all()] == ["entry/a.html"]
