"""A real browser: Debian's Chromium, driven by Playwright. Skipped where either is missing.

Playwright talks to its browser through pipes, and to nothing else: only the sockets that an event
loop makes for itself are allowed here, and the tests count every request that a page makes.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import system


@pytest.fixture(autouse=True)
def _no_network() -> None:
    """Take the place of the general fixture: see above."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install onward[browser]"
    )
    system.require("chromium")
    # A container's root has no sandbox for Chromium to enter; everybody else has.
    sandbox = os.geteuid() != 0
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=system.browser(), chromium_sandbox=sandbox)
        yield made
        made.close()


class Opened:
    """A page in a browser, with all that it said and asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def column(self, number: int, table: int = 0) -> list[str]:
        """Return the texts of a column as they stand, without what is small."""
        return self.page.evaluate(
            """([table, number]) => {
                const rows = document.querySelectorAll("table.rows")[table].tBodies[0].rows;
                return [...rows].map((row) => {
                    const cell = row.cells[number].cloneNode(true);
                    cell.querySelectorAll("small, .spread").forEach((part) => part.remove());
                    return cell.textContent.trim();
                });
            }""",
            [table, number],
        )


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    contexts = []

    def opened(path: Path, **options: Any) -> Opened:
        context = browser.new_context(viewport=options.pop("viewport", None), **options)
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.goto(path.as_uri())
        return found

    yield opened
    for context in contexts:
        context.close()
