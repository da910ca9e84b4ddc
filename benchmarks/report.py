"""A thousand runs: how long a report takes, how large it is, how soon and how fast it answers.

Forty real runs of the emoji history are made once; each is copied to 25 folders whose specs differ
in an option, with manifests that fit. The browser is Debian's Chromium through Playwright
(``pip install onward[browser]``); without it the page is written and weighed, and not opened.

    python benchmarks/report.py
"""

import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from onward.report.rendering import render
from onward.results.schema import RunSpec

METHODS = ("finetune", "nap", "scratch", "er")
PROTOCOLS = ("streaming", "iid")
SEEDS = "0-4"
VARIANTS = 25
ROWS, COLUMNS = 10_000, 10


def main() -> None:
    """Make the runs, and print the figures beside what they should be."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        made = make_runs(here)
        page = here / "report.html"
        command = [sys.executable, "-m", "onward", "report", str(made), "--out", str(page)]
        seconds = []
        for _ in range(3):
            begun = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds.append(time.perf_counter() - begun)
        runs = len(list(made.glob("*/*/*/spec.json")))
        print(f"{runs} runs: report in {min(seconds):.1f} s (at most 10 s)")
        print(f"the page has {page.stat().st_size / 1e6:.2f} MB (less than 1 MB)")
        many = here / "many.html"
        many.write_text(render("table.html.j2", ("table.js",), title="many", spec=many_rows()))
        in_a_browser(page, many)


def make_runs(here: Path) -> Path:
    """Return a results folder with a thousand runs."""
    real, made = here / "real", here / "made"
    for protocol in PROTOCOLS:
        methods = [part for name in METHODS for part in ("--method", name)]
        command = [sys.executable, "-m", "onward", "run", "clear", "--protocol", protocol, *methods]
        command += ["--training", "epochs=1", "--seeds", SEEDS, "--out", str(real)]
        subprocess.run(command, check=True, capture_output=True)
    shutil.copytree(real / "clear" / "stream", made / "clear" / "stream")
    for folder in sorted(real.glob("clear/*/*")):
        if (folder / "spec.json").exists():
            for variant in range(VARIANTS):
                copy(folder, made, variant)
    return made


def copy(folder: Path, out: Path, variant: int) -> None:
    """Write a run as if it had been made with another option."""
    spec = RunSpec.model_validate_json((folder / "spec.json").read_bytes())
    if variant:
        spec = spec.model_copy(update={"method_options": {"variant": variant}})
    target = out / spec.benchmark / spec.method / spec.hash
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("checkpoint", ".lock"))
    (target / "spec.json").write_text(spec.model_dump_json(indent=1))
    manifest = json.loads((target / "manifest.json").read_text())
    manifest["files"] = {
        name: mark(target / name)
        for name in manifest["files"]
        if not name.startswith("checkpoint/")
    }
    (target / "manifest.json").write_text(json.dumps(manifest))


def mark(path: Path) -> dict[str, object]:
    """Return what a manifest says of a file."""
    content = path.read_bytes()
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def many_rows() -> dict[str, object]:
    """Return a table of ten thousand rows, as leaderboards have them."""
    values = np.random.default_rng(0).random((ROWS, COLUMNS)).round(4).tolist()
    columns = [{"heading": "method", "kind": "text"}]
    columns += [{"heading": f"measure {at}", "kind": "measure"} for at in range(COLUMNS)]
    rows = [
        {"cells": [f"method {at * 7919 % ROWS}", *([value, 0.01] for value in row)]}
        for at, row in enumerate(values)
    ]
    return {"label": "many", "columns": columns, "rows": rows}


def in_a_browser(page: Path, many: Path) -> None:
    """Open both pages in a real browser, and measure how fast they answer."""
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print("no browser, or no playwright: the page was not opened")
        return
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser)
        tab = chromium.new_page(viewport={"width": 1400, "height": 900})
        ready = []
        for _ in range(5):
            tab.goto(page.as_uri())
            # Scripts of a page run before this event ends: from then on everything answers.
            entry = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
            ready.append(tab.evaluate(entry))
        print(f"the page answers after {statistics.median(ready) / 1000:.2f} s (at most 1 s)")
        tab.goto(many.as_uri())
        taken = tab.evaluate(
            """() => [...document.querySelectorAll("thead button")].slice(0, 6).flatMap((button) =>
                [0, 1].map(() => {
                    const begun = performance.now();
                    button.click();
                    document.body.offsetHeight;  // what was drawn is laid out, too
                    return performance.now() - begun;
                }))"""
        )
        worst, usual = max(taken), statistics.median(taken)
        print(f"{ROWS:,} rows are sorted in {usual:.0f} ms, {worst:.0f} at worst (at most 100 ms)")
        chromium.close()


if __name__ == "__main__":
    main()
