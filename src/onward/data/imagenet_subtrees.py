"""Named parts of a set of classes: those of ImageNet below some words of WordNet, or your own."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from onward.data.read_files import read_json
from onward.errors import OnwardError

TABLE = Path(__file__).parent / "tic" / "imagenet_subtrees.json"
IMAGENET = 1000
"""How many classes ImageNet has, in the order of their WordNet numbers."""

_EXAMPLE = 'classes by part as JSON, such as {"dog": ["pug", "beagle"]},'

Subtrees = Mapping[str, tuple[int, ...]]


@cache
def imagenet_subtrees() -> Subtrees:
    """Return the classes of ImageNet below each of TiC-CLIP's eleven words.

    Examples
    --------
    >>> {name: len(classes) for name, classes in imagenet_subtrees().items()}["dog"]
    118
    """
    found = json.loads(TABLE.read_text("utf-8"))["subtrees"]
    return {name: tuple(classes) for name, classes in found.items()}


def read_subtrees(path: Path) -> dict[str, list[str]]:
    """Read a JSON file ``{"name of a part": ["class", …], …}``."""
    found = read_json(path, f"{_EXAMPLE} in", "Write it again")
    parts = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(part, list) and part for part in parts):
        raise OnwardError(f"expected {_EXAMPLE} in {path}, found something else")
    return {name: [str(one) for one in part] for name, part in found.items()}


def parts_of(classes: Sequence[str], named: Mapping[str, Sequence[str]] | None) -> Subtrees:
    """Return the named parts of these classes.

    Where one that is `named` is none of these classes, it is a file for others, and there are no
    parts. ``None`` stands for TiC-CLIP's, of ImageNet's classes.

    Examples
    --------
    >>> parts_of(["pug", "lynx"], {"dog": ["pug"]}), parts_of(["car"], {"dog": ["pug"]})
    ({'dog': (0,)}, {})
    """
    if named is None:
        return imagenet_subtrees() if len(classes) == IMAGENET else {}
    places = {name: number for number, name in enumerate(classes)}
    if not all(one in places for part in named.values() for one in part):
        return {}
    return {name: tuple(places[one] for one in part) for name, part in named.items()}
