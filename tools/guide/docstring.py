"""Docstrings of this repository, read: numpy's sections, and paragraphs that begin with a word.

A paragraph that begins with ``Why:``, ``Known problems:`` or ``Our choices`` is one of its own
kind; all others say what a thing does. Nothing about a method, metric or benchmark is written
anywhere else.
"""

import inspect
import re
from dataclasses import dataclass, field
from typing import Any

WHY, PROBLEMS, CHOICES = "Why", "Known problems", "Our choices"
_MARKED = re.compile(rf"({WHY}|{PROBLEMS}|{CHOICES})([^:.]*):\s+", re.DOTALL)
_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_FORMULA = re.compile(r"``([^`]*(?:[=+/·Σ√←(\[]| - )[^`]*)``")
_EMPHASIS = re.compile(r"((?<![\w*])\*{1,2}(?=\w)[^*\n]+?(?<=[\w.])\*{1,2}(?!\w)|`[^`]*`)")


@dataclass(frozen=True)
class Docstring:
    """What a docstring says, part by part, in Markdown."""

    summary: str
    body: tuple[str, ...] = ()
    why: str = ""
    problems: str = ""
    choices: str = ""
    formula: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def example(self) -> str:
        """Its doctest, as it stands."""
        return self.sections.get("Examples", "")

    @property
    def references(self) -> str:
        """Where it comes from."""
        return markdown(self.sections.get("References", ""))


def read(thing: Any) -> Docstring:
    """Return the parts of a thing's own docstring."""
    return parse(inspect.cleandoc(thing if isinstance(thing, str) else thing.__doc__ or ""))


def parse(text: str) -> Docstring:
    r"""Return the parts of a docstring.

    >>> section = "Parameters\n----------\na\n    One."
    >>> found = parse(f"Add up.\n\n``a + b``\n\nWhy: to know.\n\n{section}")
    >>> found.summary, found.formula, found.why, found.parameters
    ('Add up.', 'a + b', 'to know.', (('a', 'One.'),))
    """
    head, *rest = _SECTION.split(text)
    sections = dict(zip(rest[::2], (part.strip("\n") for part in rest[1::2]), strict=True))
    summary, *paragraphs = [part for part in re.split(r"\n\s*\n", head.strip()) if part.strip()]
    body, marked, formula = [], {}, ""
    for paragraph in paragraphs:
        if match := _MARKED.match(paragraph):
            said = paragraph[match.end() :]
            marked[match[1]] = markdown(said[0].upper() + said[1:] if match[1] == CHOICES else said)
            continue
        if not formula and (match := _FORMULA.match(paragraph)):
            formula = " ".join(match[1].split())
            paragraph = paragraph[match.end() :].lstrip("., :\n")
            paragraph = paragraph[:1].upper() + paragraph[1:]
        if paragraph:
            body.append(markdown(paragraph))
    return Docstring(
        summary=markdown(summary),
        body=tuple(body),
        why=marked.get(WHY, ""),
        problems=marked.get(PROBLEMS, ""),
        choices=marked.get(CHOICES, ""),
        formula=formula,
        parameters=_parameters(sections.get("Parameters") or sections.get("Attributes") or ""),
        sections=sections,
    )


def _parameters(section: str) -> tuple[tuple[str, str], ...]:
    found = re.findall(r"^(\S[^\n]*)\n((?:    [^\n]*\n?|\n)+)", section + "\n", re.MULTILINE)
    return tuple((name.strip(), markdown(inspect.cleandoc(text))) for name, text in found)


def markdown(text: str) -> str:
    r"""Return reStructuredText as these docstrings use it as Markdown.

    >>> markdown("see ``a`` and `onward.fit`::\n\n    b")
    'see `a` and `onward.fit`:\n\n    b'
    >>> print(markdown("(w - w*)^2 and *all* of CWR*"))
    (w - w\*)^2 and *all* of CWR\*
    """
    text = _tables(text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r"^\.\. \[(\w+)\] ", r"- ", text, flags=re.MULTILINE)
    text = re.sub(r"::(\n|$)", r":\1", text)
    # A star that belongs to a name (CWR*) or to a weight (w*) begins no emphasis.
    parts = _EMPHASIS.split(text)
    parts[::2] = [part.replace("*", r"\*") for part in parts[::2]]
    return "".join(parts)


def _tables(text: str) -> str:
    """Turn tables between lines of equals signs into Markdown's."""

    def turned(match: re.Match[str]) -> str:
        rule = match[1]
        starts = [m.start() for m in re.finditer(r"=+", rule)]
        rows = [match[2], *match[3].strip("\n").split("\n")]
        ends = [*starts[1:], None]
        cells = [[row[a:b].strip() for a, b in zip(starts, ends, strict=True)] for row in rows]
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        lines.insert(1, "|" + "---|" * len(starts))
        return "\n".join(lines)

    return re.sub(r"^(=+(?: +=+)+)\n(.+)\n\1\n((?:.+\n)+?)\1$", turned, text, flags=re.MULTILINE)
