"""Templates into pages: one file each, whose scripts are its own and which asks nobody."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from onward import __version__
from onward.files import storage, write_atomic
from onward.report.fields import without_controls

_TEMPLATES = resources.files("onward.report").joinpath("templates")


def render(template: str, scripts: tuple[str, ...], **context: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template
        A file of ``report/templates`` that extends ``base.html.j2``.
    scripts
        Files of ``report/templates`` that the page runs, beside the button for dark paper. The
        page's own policy allows these by their hashes, and nothing else.
    context
        What the template asks for; ``title`` always.
    """
    sources = [_text(name) for name in ("theme.js", *scripts)]
    text = (
        _environment()
        .get_template(template)
        .render(
            policy=_policy(sources),
            style=Markup(_text("page.css")),
            scripts=[Markup(source) for source in sources],
            version=__version__,
            **context,
        )
    )
    return without_controls(text)


def write(out: Path, template: str, scripts: tuple[str, ...], **context: Any) -> None:
    """Write a page into a file; see `render`."""
    text = render(template, scripts, **context)
    with storage(out):
        write_atomic(out, text.encode())


def as_json(value: Any) -> Markup:
    """Return a value as JSON that may stand inside a script element, whatever names are in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # `<` begins every way out of a script element; the separators end lines of a script.
    for letter in "<\N{LINE SEPARATOR}\N{PARAGRAPH SEPARATOR}":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def unbroken(text: str) -> str:
    """Keep a number, its deviation, its unit and the parts of a date on one line."""
    for mark in ("±", "=", "≤"):
        text = text.replace(f" {mark} ", f"\N{NO-BREAK SPACE}{mark}\N{NO-BREAK SPACE}")
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return re.sub(r"(?<=\d)-(?=\d)", "\N{NON-BREAKING HYPHEN}", text)


def data_uri(content: bytes, kind: str) -> str:
    """Return the address of an image that carries its own content."""
    return f"data:image/{kind};base64," + base64.b64encode(content).decode()


def _policy(sources: list[str]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
        for source in sources
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _text(name: str) -> str:
    return _TEMPLATES.joinpath(name).read_text(encoding="utf-8")


def templates(read: Callable[[str], str]) -> jinja2.Environment:
    """Return templates that are read by name; whatever is put into them is text, never markup."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _environment() -> jinja2.Environment:
    environment = templates(_text)
    environment.filters["as_json"] = as_json
    environment.filters["unbroken"] = unbroken
    return environment
