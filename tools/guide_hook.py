"""The documentation site: generated pages, their menu, and links to files of the repository.

MkDocs calls these functions while it builds, see ``mkdocs.yml``.
"""

import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from guide.pages import generated, menu
from guide.sources import LINK, ROOT, source_of, sources


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
        for source in sources(path, text):
            pages.setdefault(source.page, source.text)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to files of the repository into links to their pages."""
    up = "../" * page.file.src_uri.count("/")

    def turned(match: re.Match[str]) -> str:
        source = source_of(page.file.src_uri, match)
        if source is None:
            return match[0]
        line = f'{{ data-line="{source.line}" }}' if source.name else ""
        return f"]({up}{source.page}){line}"

    try:
        return LINK.sub(turned, markdown)
    except LookupError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put drawings into the page itself, where they have its colours; point links at lines.

    MkDocs checks that headings exist which links point at, and knows of no lines of code.
    """

    def drawn(match: re.Match[str]) -> str:
        text = (ROOT / "docs" / "pictures" / match[1]).read_text()
        return f'<figure class="house">{text}</figure>'

    html = re.sub(r'<img [^>]*src="[^"]*pictures/([\w-]+\.svg)"[^>]*/?>', drawn, html)
    return re.sub(r'(<a )data-line="(\d+)" (href="[^"]*)"', r'\1\3#__codelineno-0-\2"', html)


def _written(files: Files) -> dict[str, Any]:
    return {file.src_uri: file.content_string for file in files.documentation_pages()}
