"""The documentation site: generated pages, their menu, and links to files of the repository.

MkDocs calls these functions while it builds, see ``mkdocs.yml``.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from guide.pages import generated, menu
from guide.sources import LINK, source_page, sources

_ROOT = Path(__file__).resolve().parents[1]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put generated pages into the menu, where ``mkdocs.yml`` has an empty part for them."""
    parts = menu()
    config.nav = [
        {name: parts[name]} if (name := next(iter(entry))) in parts else entry
        for entry in config.nav or []
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and a page for each file of the repository that one links to."""
    pages = dict(generated())
    for path, text in {**_written(files), **pages}.items():
        for file in sources(path, text, _ROOT):
            pages.setdefault(*source_page(file, _ROOT))
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files of the repository into links to their pages."""
    here = PurePosixPath(page.file.src_uri)

    def turned(match: re.Match[str]) -> str:
        target = os.path.normpath(f"docs/{here.parent}/{match[1]}")
        if target.startswith("docs/") or match[1].startswith(("http", "#")):
            return match[0]
        try:
            path, line = source_page(target, _ROOT)[0], _line(target, match[2])
        except FileNotFoundError as error:
            raise PluginError(f"{here} links to {target}, which is not there") from error
        up = "../" * (len(here.parts) - 1)
        return f"]({up}{path}){line}"

    return LINK.sub(turned, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put drawings into the page itself, where they have its colours; point links at lines.

    MkDocs checks that headings exist which links point at, and knows of no lines of code.
    """

    def drawn(match: re.Match[str]) -> str:
        text = (_ROOT / "docs" / "pictures" / match[1]).read_text()
        return f'<figure class="house">{text}</figure>'

    html = re.sub(r'<img [^>]*src="[^"]*pictures/([\w-]+\.svg)"[^>]*/?>', drawn, html)
    return re.sub(r'(<a )data-line="(\d+)" (href="[^"]*)"', r'\1\3#__codelineno-0-\2"', html)


def _line(target: str, name: str | None) -> str:
    """Return on which line of a file a name is defined, as an attribute of a link."""
    if not name:
        return ""
    for number, line in enumerate((_ROOT / target).read_text().splitlines(), 1):
        if re.match(rf"\s*(def|class) {re.escape(name)}\b|{re.escape(name)}\s*[:=]", line):
            return f'{{ data-line="{number}" }}'
    raise PluginError(f"{target} has no {name}")


def _written(files: Files) -> dict[str, Any]:
    return {file.src_uri: file.content_string for file in files.documentation_pages()}
