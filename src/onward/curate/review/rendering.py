"""The pages of a campaign: templates, one style and small scripts, all served by ourselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import jinja2

from onward import __version__
from onward.report.rendering import templates

_PAGES = "onward.curate.review", "pages"
_REPORT = "onward.report", "templates"
# The look of all pages of Onward, and the button for dark paper, are the report's.
_FILES = {
    "page.css": (*_REPORT, "text/css"),
    "theme.js": (*_REPORT, "text/javascript"),
    "review.css": (*_PAGES, "text/css"),
    "review.js": (*_PAGES, "text/javascript"),
    "outbox.js": (*_PAGES, "text/javascript"),
    "dashboard.js": (*_PAGES, "text/javascript"),
}


@dataclass(frozen=True)
class Static:
    """A file that pages ask for."""

    content: bytes
    kind: str


@cache
def statics() -> Mapping[str, Static]:
    """Return all files that pages ask for, by name: there are no others."""
    return {
        name: Static(resources.files(package).joinpath(folder, name).read_bytes(), kind)
        for name, (package, folder, kind) in _FILES.items()
    }


def render(template: str, **context: Any) -> str:
    """Return a page. Whatever is put into it is text, and never markup."""
    return _environment().get_template(template).render(version=__version__, **context)


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files(_PAGES[0]).joinpath(_PAGES[1])
    return templates(lambda name: folder.joinpath(name).read_text("utf-8"))
