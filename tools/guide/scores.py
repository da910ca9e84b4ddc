"""Pages of metrics and task kinds: from the catalogue, the modules and the docstrings."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from guide import docstring
from guide.docstring import Docstring
from guide.writing import block, defaults, doctest_block, options, page, section, table
from onward import metrics
from onward.metrics import METRICS, Metric
from onward.tasks import TASKS
from onward.types import Task

_BEST = {True: "higher is better", False: "lower is better"}


def metric_pages() -> dict[str, str]:
    """Return a page for every metric and every module of metrics, and one that lists them."""
    found = {f"metrics/{name}.md": _metric(it) for name, it in METRICS.items()}
    modules = {name: importlib.import_module(f"onward.metrics.{name}") for name in _modules()}
    for name, module in modules.items():
        found[f"metrics/{name}.md"] = _module(name, module)
    rows = [
        [f"[`{name}`]({name}.md)", it.summary, _BEST[it.higher_is_better], it.source]
        for name, it in METRICS.items()
    ]
    whole = docstring.read(metrics)
    parts = [[f"[`{name}`]({name}.md)", docstring.read(it).summary] for name, it in modules.items()]
    found["metrics/index.md"] = page(
        "# Metrics",
        whole.body[0],
        section("Of a score matrix", table(["metric", "what it measures", "", "source"], rows)),
        section("By module", table(["module", "what is in it"], parts)),
    )
    return found


def task_page() -> dict[str, str]:
    """Return the page of the task kinds."""
    parts = [
        "# Task kinds",
        "What is predicted. A task kind owns the loss that is learned by, the decoding of "
        "outputs, the distance between two models, and the score; methods ask it and know nothing "
        "else about labels.",
        *(_task(task) for task in TASKS.values()),
    ]
    return {"reference/tasks.md": page(*parts)}


def _modules() -> list[str]:
    return [it.name for it in pkgutil.iter_modules(metrics.__path__) if it.name[0] != "_"]


def _metric(metric: Metric) -> str:
    doc, module = docstring.read(metric.function), metric.name.split(".")[0]
    return page(
        f"# {metric.name}",
        f"*{metric.summary[0].upper()}{metric.summary[1:]}; {_BEST[metric.higher_is_better]}.*",
        _parts(metric.function, doc, level=2),
        section("Source", f"{metric.source}.", doc.references),
        f"Its relatives: [`onward.metrics.{module}`]({module}.md).",
    )


def _module(name: str, module: ModuleType) -> str:
    doc = docstring.read(module)
    listed = {it.function: it for it in METRICS.values()}
    rows, others = [], []
    for function in _functions(module):
        if function in listed:
            own = listed[function]
            rows.append([f"[`{own.name}`]({own.name}.md)", own.summary])
        else:
            its = docstring.read(function)
            others.append(
                section(
                    f"`{function.__name__}`",
                    _parts(function, its, level=3),
                    section("Source", its.references, level=3),
                )
            )
    return page(
        f"# onward.metrics.{name}",
        doc.summary,
        *doc.body,
        doctest_block(module, doc.example),
        table(["of a score matrix", "what it measures"], rows),
        section("Source", doc.references),
        *others,
    )


def _functions(module: ModuleType) -> list[Callable[..., Any]]:
    return [
        it
        for name, it in vars(module).items()
        if inspect.isfunction(it) and it.__module__ == module.__name__ and name[0] != "_"
    ]


def _parts(function: Callable[..., Any], doc: Docstring, level: int) -> str:
    example = doctest_block(sys.modules[function.__module__], doc.example)
    return page(
        section("What it measures", doc.summary, *([] if doc.formula else doc.body), level=level),
        section("Formula", block("text", doc.formula), *doc.body, level=level)
        if doc.formula
        else "",
        section("Why", doc.why, level=level),
        section("Arguments", options(doc, defaults(function)), level=level),
        section("Example", example, level=level),
        section("Known problems", doc.problems, level=level),
    )


def _task(task: Task) -> str:
    doc = docstring.read(type(task))
    verbs = [
        [f"`{name}`", docstring.read(getattr(type(task), name)).summary]
        for name in ("loss", "distillation_loss", "decode", "score", "by_class")
    ]
    lacks = [f"- {what}: {why}" for what, why in task.lacks.items()]
    return section(
        task.name,
        doc.summary,
        *doc.body,
        f"Headline: `{task.headline}`.",
        table(["", "what it does"], verbs),
        "What methods may need and do not find here:\n\n" + "\n".join(lacks) if lacks else "",
    )
