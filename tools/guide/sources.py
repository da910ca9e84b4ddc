"""Files of the repository as pages, where a page links to them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from guide.writing import page

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""
LINK = re.compile(r"\]\(((?:\.\./)+[\w./-]+)(?:#([\w-]+))?\)")
"""A link that leaves its folder: perhaps to a file of the repository, and a name in it."""
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".md": "markdown"}


def sources(path: str, text: str, root: Path) -> Iterator[str]:
    """Yield the files outside of ``docs`` that a page links to, seen from the repository."""
    for match in LINK.finditer(text):
        target = os.path.normpath(f"docs/{PurePosixPath(path).parent}/{match[1]}")
        if not target.startswith("docs/") and (root / target).is_file():
            yield target


def source_page(file: str, root: Path) -> tuple[str, str]:
    """Return where the page of a file is, and what it says."""
    text = (root / file).read_text()
    fence = f'````{{.{_LANGUAGES.get(Path(file).suffix, "text")} linenums="1"}}'
    front = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---"
    return f"source/{file}.md", page(front, f"# {file}", f"{fence}\n{text}````")
