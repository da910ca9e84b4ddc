"""Markdown, written: the few forms that generated pages consist of."""

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from guide.docstring import Docstring


def page(*parts: str) -> str:
    """Join the parts of a page that say anything."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def section(title: str, *parts: str, level: int = 2) -> str:
    """Return a section, or nothing if it has no text."""
    said = [part for part in parts if part.strip()]
    return page(f"{'#' * level} {title}", *said) if said else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a table, or nothing if it has no row.

    >>> print(table(["a", "b"], [["1", "x | y"]]))
    | a | b |
    |---|---|
    | 1 | x \| y |
    """
    lines = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])


def cell(text: str) -> str:
    """Return text as it may stand in a table: on one line, its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def block(language: str, *lines: str) -> str:
    """Return a block of code."""
    return "\n".join([f"```{language}", *lines, "```"])


def doctest_block(module: ModuleType, example: str) -> str:
    """Return an example as a block, with imports of what it uses of its module."""
    if not example:
        return ""
    used = sorted(set(re.findall(r"\b[A-Za-z]\w+\b", example)) & {*dir(module)})
    own = [name for name in used if not isinstance(getattr(module, name), ModuleType)]
    lines = [f">>> from {module.__name__} import {', '.join(own)}"] if own else []
    if "np." in example and "import numpy" not in example:
        lines.insert(0, ">>> import numpy as np")
    return block("python", *lines, *example.split("\n"))


def options(doc: Docstring, usual: dict[str, str], skip: Sequence[str] = ()) -> str:
    """Return the parameters of a docstring with their defaults, as a table."""
    rows = []
    for names, text in doc.parameters:
        several = [name.strip() for name in names.split(",")]
        if several[0] in skip:
            continue
        values = ", ".join(dict.fromkeys(usual[name] for name in several if name in usual))
        rows.append([", ".join(f"`{name}`" for name in several), values, text])
    return table(["option", "default", "what it is"], rows)


def defaults(function: Callable[..., Any]) -> dict[str, str]:
    """Return the defaults of a function's parameters, where they say anything."""
    return {
        name: "" if it.default in (None, "", ()) else f"`{it.default}`"
        for name, it in inspect.signature(function).parameters.items()
        if it.default is not inspect.Parameter.empty
    }
