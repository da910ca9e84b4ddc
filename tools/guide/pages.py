"""All pages that are generated, and how they stand in the menu."""

from functools import cache
from typing import Any

from guide.benchmarks import benchmark_pages
from guide.grid import grid_page
from guide.methods import method_pages
from guide.reference import command_page, python_page
from guide.scores import metric_pages, task_page
from guide.sources import ROOT
from onward.benchmarks import BENCHMARKS
from onward.methods import METHODS
from onward.metrics import METRICS


@cache
def generated() -> dict[str, str]:
    """Return every generated page by its path below ``docs``."""
    return {
        **benchmark_pages(),
        **method_pages(),
        **metric_pages(),
        **grid_page(),
        **task_page(),
        **command_page(),
        **python_page(),
        "contributing.md": _contributing(),
    }


def menu() -> dict[str, list[Any]]:
    """Return the entries of the menu that stand for generated pages, by the name of their part."""
    return {
        "Benchmarks": ["benchmarks/index.md", *_benchmarks()],
        "Methods": [
            "methods/index.md",
            *({name: f"methods/{name}.md"} for name in METHODS),
        ],
        "Metrics": ["metrics/index.md", *_metrics()],
    }


def _metrics() -> list[Any]:
    """Return the modules of metrics, each followed by those that have pages of their own."""
    found: list[Any] = []
    for path in generated():
        folder, _, module = path.removesuffix(".md").partition("/")
        if folder != "metrics" or module in {*METRICS, "index"}:
            continue
        own = [name for name in METRICS if name.startswith(f"{module}.")]
        pages = [{name.split(".")[1]: f"metrics/{name}.md"} for name in own]
        found.append({module: [path, *pages] if pages else path})
    return found


def _benchmarks() -> list[Any]:
    """Return benchmarks, each family followed by what was written about it by hand."""
    found: list[Any] = []
    families = dict.fromkeys(name.split("-")[0] for name in BENCHMARKS)
    for family in families:
        own = [name for name in BENCHMARKS if name.split("-")[0] == family]
        found += [{name: f"benchmarks/{name}.md"} for name in own]
        files = sorted((ROOT / "docs" / "benchmarks").glob(f"{family}_*.md"), reverse=True)
        found += [f"benchmarks/{file.name}" for file in files]
    return found


def _contributing() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return text.replace("](docs/", "](").replace("](src/", "](../src/")
