"""Code blocks of Markdown pages, with what the comment before each says about it.

A comment is ``<!-- slow -->``, ``<!-- given: name, name -->`` (what a test lays out beforehand),
``<!-- file: name -->`` (the block is that file), ``<!-- exit code: 2 -->``, ``<!-- output -->``
(what the command before it prints), ``<!-- needs: name, name -->`` (what the system must have, by
the names of `system.NEEDS`) or ``<!-- not run: reason -->``; commas separate several.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"(?:^<!-- (?P<said>[^\n]*) -->\n)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_WORDS = ("slow", "given", "file", "exit code", "output", "needs", "not run")


@dataclass(frozen=True)
class Block:
    """A block of code, and where it stands."""

    page: str
    line: int
    language: str
    text: str
    said: dict[str, str]

    @property
    def slow(self) -> bool:
        """Whether it takes more than a few seconds."""
        return "slow" in self.said

    @property
    def reason(self) -> str | None:
        """Why it is not run, if it is not."""
        return self.said.get("not run")

    @property
    def needs(self) -> list[str]:
        """The names of what the system must have to run it."""
        return re.findall(r"[^,\s]+", self.said.get("needs", ""))

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, each on one line, without comments."""
        joined = self.text.replace("\\\n", " ")
        lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in joined.split("\n")]
        return [line for line in lines if line]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str, text: str) -> list[Block]:
    """Return the blocks of a page, in order."""
    found = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        language = match["language"].strip()
        found.append(Block(page, line, language, match["text"], _said(match["said"] or "")))
    return found


def _said(comment: str) -> dict[str, str]:
    """Read what a comment says; a comma inside a value stays there."""
    said: dict[str, str] = {}
    for part in re.split(rf",\s*(?=(?:{'|'.join(_WORDS)})\b)", comment) if comment else []:
        word, _, value = part.partition(":")
        if word.strip() not in _WORDS:
            raise ValueError(f"expected one of {', '.join(_WORDS)}, found {part!r}")
        said[word.strip()] = value.strip()
    return said


def written_pages() -> dict[str, str]:
    """Return every page that was written by hand, by its path."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}
