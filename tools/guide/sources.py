"""Files of the repository as pages, where a page links to them."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from guide.writing import page

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""
LINK = re.compile(r"\]\(((?:\.\./)+[\w./-]+)(?:#([\w-]+))?\)")
"""A link that leaves its folder: perhaps to a file of the repository, and a name in it."""
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".md": "markdown"}


@dataclass(frozen=True)
class Source:
    """A file of the repository that a page links to, and the name in it that is meant."""

    file: str
    name: str | None

    @property
    def page(self) -> str:
        """Where its page is."""
        return f"source/{self.file}.md"

    @property
    def text(self) -> str:
        """What its page says."""
        fence = f'````{{.{_LANGUAGES.get(Path(self.file).suffix, "text")} linenums="1"}}'
        front = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---"
        return page(front, f"# {self.file}", f"{fence}\n{(ROOT / self.file).read_text()}````")

    @property
    def line(self) -> int | None:
        """On which line the name is defined."""
        if self.name is None:
            return None
        name = re.escape(self.name)
        for number, line in enumerate((ROOT / self.file).read_text().splitlines(), 1):
            if re.match(rf"\s*(def|class) {name}\b|{name}\s*[:=]", line):
                return number
        raise LookupError(f"{self.file} has no {self.name}")


def source_of(path: str, link: re.Match[str]) -> Source | None:
    """Return what a link of a page leads to, if that lies outside of ``docs``."""
    target = os.path.normpath(f"docs/{PurePosixPath(path).parent}/{link[1]}")
    return None if target.startswith("docs/") else Source(target, link[2])


def sources(path: str, text: str) -> Iterator[Source]:
    """Yield all that a page links to outside of ``docs``."""
    for link in LINK.finditer(text):
        if (found := source_of(path, link)) is not None:
            yield found
