"""Texts and JSON in files that somebody else wrote, or a message that says what is wrong."""

import json
from pathlib import Path
from typing import Any

from onward.binary_files import unreadable
from onward.errors import OnwardError


def read_text(path: Path, expected: str, mend: str = "Fetch it again") -> str:
    """Return a text in UTF-8, or say what was expected, such as "a list in", and how to mend it."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, expected, error, mend) from error


def read_json(path: Path, expected: str = "a JSON file", mend: str = "Fetch it again") -> Any:
    """Return what a JSON file holds, or say what was expected and how to mend it."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(path, expected, error, mend) from error


def read_object(path: Path, what: str, mend: str = "Fetch it again") -> dict[str, Any]:
    """Return the object in a JSON file, or say that there is none."""
    found = read_json(path, mend=mend)
    if not isinstance(found, dict):
        raise OnwardError(f"expected {what} in {path}, found another kind of JSON. {mend}")
    return found
