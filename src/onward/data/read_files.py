"""Texts and JSON in files that somebody else wrote, or a message that says what is wrong."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from onward.binary_files import unreadable
from onward.errors import OnwardError

MAX_JSON_DEPTH = 64
"""How many levels of lists and objects a table in JSON may have; Arrow's own files have as many."""
_ESCAPE = re.compile(rb'\\[\\"]')
_STRING = re.compile(rb'"[^"]*"?')
_OPENING = np.frombuffer(b"[{", np.uint8)
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))


def read_text(path: Path, expected: str, fix: str = "Fetch it again") -> str:
    """Return a text in UTF-8, or say what was expected, such as "a list in", and how to fix it."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, expected, error, fix) from error


def read_json(path: Path, expected: str = "a JSON file", fix: str = "Fetch it again") -> Any:
    """Return what a JSON file holds, or say what was expected and how to fix it."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(path, expected, error, fix) from error


def read_object(path: Path, what: str, fix: str = "Fetch it again") -> dict[str, Any]:
    """Return the object in a JSON file, or say that there is none."""
    found = read_json(path, fix=fix)
    if not isinstance(found, dict):
        raise OnwardError(f"expected {what} in {path}, found another kind of JSON. {fix}")
    return found


def require_shallow(path: Path, blocks: Iterable[bytes]) -> None:
    """Raise if the JSON in the blocks of a file has more levels than `MAX_JSON_DEPTH`.

    Parsers that recurse overflow the stack: Python's raises, Arrow's ends the process.
    """
    if nesting_depth(blocks) > MAX_JSON_DEPTH:
        raise OnwardError(
            f"expected JSON with at most {MAX_JSON_DEPTH} levels of lists and objects in {path}, "
            "found more. Write values that are nested less deeply"
        )


def nesting_depth(blocks: Iterable[bytes]) -> int:
    """Return how many levels of lists and objects JSON has; it stops above `MAX_JSON_DEPTH`.

    Examples
    --------
    >>> nesting_depth([b'{"a": [1, "]', b'"], "b": {}}'])
    2
    """
    depth = deepest = 0
    # An escape or a string may begin in one block and end in the next.
    escape = quote = b""
    for block in blocks:
        text = _ESCAPE.sub(b"", escape + block)
        escape = b"\\" if text.endswith(b"\\") else b""
        marks = quote + text.translate(None, _NO_MARKS)
        quote = b'"' if marks.count(b'"') % 2 else b""
        brackets = np.frombuffer(_STRING.sub(b"", marks), np.uint8)
        levels = depth + np.cumsum(np.where(np.isin(brackets, _OPENING), 1, -1))
        depth = int(levels[-1]) if len(levels) else depth
        deepest = max(deepest, int(levels.max(initial=0)))
        if deepest > MAX_JSON_DEPTH:
            break
    return deepest
