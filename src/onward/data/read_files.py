"""Texts and JSON in files that somebody else wrote, or a message that says what is wrong."""

import json
from pathlib import Path
from typing import Any

from onward.errors import OnwardError


def read_text(path: Path, expected: str, mend: str = "Fetch it again") -> str:
    """Return a text in UTF-8, or say what was expected, such as "a list in", and how to mend it."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, expected, mend, error) from error


def read_json(path: Path, expected: str = "a JSON file", mend: str = "Fetch it again") -> Any:
    """Return what a JSON file holds, or say what was expected and how to mend it."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, expected, mend, error) from error


def read_object(path: Path, what: str) -> dict[str, Any]:
    """Return the object in a JSON file, or say that there is none."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise OnwardError(f"expected {what} in {path}, found another kind of JSON. Fetch it again")
    return found


def _unreadable(path: Path, expected: str, mend: str, error: Exception) -> OnwardError:
    missing = isinstance(error, FileNotFoundError)
    found = "no such file" if missing else f"what cannot be read as that ({error})"
    return OnwardError(f"expected {expected} {path}, found {found}. {mend}")
