"""The documentation site: every catalogue has its pages, and nothing in them is fetched."""

import doctest
import re
import sys
import tomllib
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from blocks import written_pages

from draw_house import FLOORS, WAY, drawn
from guide import docstring, examples, writing
from guide.pages import generated
from guide.sources import ROOT, sources
from onward.benchmarks import BENCHMARKS
from onward.methods import METHODS
from onward.metrics import METRICS
from onward.tasks import TASKS
from onward.train.method import Method

CATALOGUES = {"benchmarks": BENCHMARKS, "methods": METHODS, "metrics": METRICS}
_EXTERNAL = re.compile(r"(?:https?:)?//")


class Fetched(HTMLParser):
    """Collects what a browser would fetch by itself: all but links that somebody follows."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        names = ("src", "srcset", "data", "poster") + (("href",) if tag in {"link", "use"} else ())
        self.found += [value for name in names if (value := given.get(name))]
        self.found += re.findall(r"url\(([^)]*)\)", given.get("style") or "")


@pytest.mark.parametrize("part", CATALOGUES)
def test_everything_in_a_catalogue_has_its_page(part: str) -> None:
    pages = generated()
    missing = [name for name in CATALOGUES[part] if f"{part}/{name}.md" not in pages]
    assert missing == []
    listed = pages[f"{part}/index.md"]
    assert all(f"({name}.md)" in listed for name in CATALOGUES[part])


def test_task_kinds_and_the_grid_have_theirs() -> None:
    pages = generated()
    assert all(f"## {name}\n" in pages["reference/tasks.md"] for name in TASKS)
    assert all(f"[`{name}`](methods/{name}.md)" in pages["grid.md"] for name in METHODS)


def test_every_method_is_a_row_of_the_design_or_named_there() -> None:
    design = (ROOT / "docs" / "design.md").read_text()
    rows = design.split("## Every method is one row")[1].split("\n## ")[0].splitlines()
    named = {name for row in rows if row.startswith("| ") for name in row.split("|")[1].split(", ")}
    in_rows = {name.strip() for name in named}
    missing = [name for name in METHODS if name not in in_rows]
    # What is no gradient method answers no questions, and is told of elsewhere on the page.
    assert [name for name in missing if issubclass(METHODS[name].make, Method)] == []
    assert [name for name in missing if f"`{name}`" not in design] == []


@pytest.mark.parametrize("name", METHODS)
def test_a_method_says_why_and_what_is_wrong_with_it(name: str) -> None:
    said = docstring.read(METHODS[name].make)
    assert said.why
    assert said.problems


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_why_and_how_and_shows_it(name: str) -> None:
    said = docstring.read(METRICS[name].function)
    assert said.why
    assert said.formula
    assert said.example


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_says_why_and_what_is_wrong_with_it(name: str) -> None:
    said = docstring.read(sys.modules[BENCHMARKS[name].load.__module__])
    assert said.why
    assert said.problems


def test_the_picture_of_the_house_is_the_house() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    floors = layers["contracts"][0]["layers"]
    height = {name: place for place, line in enumerate(floors) for name in line.split(" | ")}
    places = [[height[module] for module in modules] for _, modules in FLOORS]
    assert all(max(above) < min(below) for above, below in pairwise(places))
    assert {module for module, _ in WAY} <= {m for _, modules in FLOORS for m in modules}
    assert (ROOT / "docs" / "pictures" / "house.svg").read_text() == drawn()


def test_links_to_files_and_names_in_them_lead_there() -> None:
    below = {p[5:]: text for p, text in written_pages().items() if p.startswith("docs/")}
    found = [it for page, text in {**below, **generated()}.items() for it in sources(page, text)]
    assert len(found) > len(METHODS)
    for source in found:
        assert (ROOT / source.file).is_file(), source
        assert source.name is None or source.line, source


@pytest.mark.parametrize("module", [docstring, examples, writing])
def test_the_generator_does_what_its_examples_say(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.slow
def test_the_site_is_built_and_fetches_nothing(tmp_path: Path) -> None:
    """Warnings are errors, sockets are blocked as in every test."""
    pytest.importorskip("mkdocs", reason="the extra onward[docs] is not installed: make docs does")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    site = tmp_path / "site"
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site), strict=True))
    assert (site / "index.html").is_file()
    for part, catalogue in CATALOGUES.items():
        assert all((site / part / f"{name}.html").is_file() for name in catalogue)
    pages = sorted(site.rglob("*.html"))
    fetched = {str(page.relative_to(site)): Fetched(page).found for page in pages}
    assert [
        f"{page}: {it}" for page, its in fetched.items() for it in its if _EXTERNAL.match(it)
    ] == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", sheet.read_text())
