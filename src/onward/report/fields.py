"""Nested settings as flat names and values, so that two of them can be held side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LONGEST = 60


@dataclass(frozen=True)
class Change:
    """A field that two things have different values of; None where one has no such field."""

    field: str
    a: Any
    b: Any


def flat(nested: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the innermost values of nested dictionaries under their dotted names.

    Examples
    --------
    >>> flat({"seed": 0, "recipe": {"epochs": 30, "milestones": [1, 2]}, "limits": {}})
    {'seed': 0, 'recipe.epochs': 30, 'recipe.milestones': [1, 2]}
    """
    found: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{above}{name}.")
        else:
            found[f"{above}{name}"] = value
    return found


def changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    """Return the fields that differ, nested ones too, in the order of the first.

    Examples
    --------
    >>> changes({"method": "er", "options": {"memory": 9}}, {"method": "er", "options": {}})
    [Change(field='options.memory', a=9, b=None)]
    """
    left, right = flat(a), flat(b)
    return [
        Change(name, left.get(name), right.get(name))
        for name in dict.fromkeys([*left, *right])
        if left.get(name) != right.get(name)
    ]


def telling(several: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say of each of several things in which fields it differs from the others.

    Examples
    --------
    >>> telling([{"side": 32, "lite": True}, {"side": 64, "lite": True}])
    ['side 32', 'side 64']
    """
    all_flat = [flat(one) for one in several]
    names = dict.fromkeys(name for one in all_flat for name in one)
    differing = [name for name in names if len({value_text(one.get(name)) for one in all_flat}) > 1]
    return [
        ", ".join(f"{name} {value_text(one.get(name))}" for name in differing) for one in all_flat
    ]


def value_text(value: Any) -> str:
    """Return a value as people read it, shortened.

    Examples
    --------
    >>> value_text(None), value_text(0.1), value_text("linear"), value_text([1, 2])
    ('none', '0.1', 'linear', '[1, 2]')
    """
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(printable(text), _LONGEST)


def shortened(text: str, most: int) -> str:
    """Cut off what is behind so many letters.

    Examples
    --------
    >>> shortened("cumulative", 10), shortened("cumulative", 4)
    ('cumulative', 'cum…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


_CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF)
    if chr(code) not in "\t\n\r"
}


def without_controls(document: str) -> str:
    r"""Return a whole document without the characters that no document may have; lines stay.

    Examples
    --------
    >>> without_controls("<text>\x1b[31m</text>\n")
    '<text>�[31m</text>\n'
    """
    return document.translate(_CONTROLS)


def printable(text: str) -> str:
    r"""Return a text without control characters: a name may come from anybody's file.

    Examples
    --------
    >>> printable("er\x1b[31m")
    'er�[31m'
    """
    return "".join(it if it.isprintable() else "\N{REPLACEMENT CHARACTER}" for it in text)
