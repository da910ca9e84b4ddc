"""Named parts of a set of classes: those of ImageNet below some words of WordNet, or your own."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from onward.errors import OnwardError, unknown

TABLE = Path(__file__).parent / "tic" / "imagenet_subtrees.json"
IMAGENET = 1000
"""How many classes ImageNet has, in the order of their WordNet numbers."""

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


def read_subtrees(path: Path, classes: Sequence[str]) -> Subtrees:
    """Read a JSON file ``{"name of a part": ["class", …], …}``.

    Parameters
    ----------
    path
        The file.
    classes
        The names of all classes, in order. A number in the file stands for the class there.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise OnwardError(
            f'expected JSON such as {{"dog": ["pug", "beagle"]}} in {path}, found a file that '
            f"cannot be read so: {error}"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(part, list) for part in found.values()):
        raise OnwardError(
            f'expected lists of classes by name, such as {{"dog": ["pug", "beagle"]}}, in {path}, '
            "found something else"
        )
    places = {name: number for number, name in enumerate(classes)}
    return {name: tuple(_place(one, places, path) for one in part) for name, part in found.items()}


def _place(one: object, places: Mapping[str, int], path: Path) -> int:
    if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(places):
        return one
    if isinstance(one, str) and one in places:
        return places[one]
    raise unknown(f"class in {path}", str(one), places, "classnames.txt")
