"""The concepts that a stream is to be labelled with, as their owner wrote them down."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onward.curate.written import json_of
from onward.data.read_files import read_object
from onward.errors import OnwardError

CONCEPTS = "concepts.json"
"""The file of concepts in the folders of curation."""
_FIELDS = {"name", "prompts", "sub_queries", "option", "super"}
_FILE = {"concepts", "background"}


@dataclass(frozen=True)
class Concept:
    """Something to look for.

    Parameters
    ----------
    name
        The class in the finished dataset.
    prompts
        Texts that are averaged to one query.
    sub_queries
        Narrower texts, each a query of its own where they are asked for.
    option
        What an annotator reads.
    super
        What kind of concept it is, such as Fashion; may be empty.
    """

    name: str
    prompts: tuple[str, ...]
    sub_queries: tuple[str, ...] = ()
    option: str = ""
    super: str = ""


@dataclass(frozen=True)
class Concepts:
    """All concepts, and the name of the class of images that show none of them."""

    found: tuple[Concept, ...]
    background: str = "BACKGROUND"
    none_of_these: str = "None of the above"

    @property
    def names(self) -> tuple[str, ...]:
        """Classes in their order: the background comes first, as in CLEAR."""
        return (self.background, *(concept.name for concept in self.found))

    @property
    def numbers(self) -> dict[str, int]:
        """The place of each class in this order, by its name."""
        return {name: number for number, name in enumerate(self.names)}


def read_concepts(path: Path) -> Concepts:
    """Read a file of concepts.

    ``{"concepts": [{"name": "computer", "prompts": ["laptop"], "sub_queries": ["mouse", …],
    "option": "computer (laptop/tablet/…)"}, …], "background": "BACKGROUND"}``; only names have to
    be there: the prompt of a concept without any is its name, and so is its option.
    """
    held = read_object(path, "concepts")
    listed = held.get("concepts")
    strangers = sorted(set(held) - _FILE)
    if not isinstance(listed, list) or not listed or strangers:
        found = f"{strangers[0]!r}" if strangers else f"{type(listed).__name__} as concepts"
        raise OnwardError(
            f'expected {{"concepts": [{{"name": …}}, …]}} with "background" at most beside it in '
            f"{path}, found {found}"
        )
    concepts = Concepts(
        tuple(_concept(one, number, path) for number, one in enumerate(listed, 1)),
        str(held.get("background", "BACKGROUND")),
    )
    names = [name.casefold() for name in concepts.names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OnwardError(f"expected each name once in {path}, found {twice!r} twice")
    return concepts


def write_concepts(concepts: Concepts) -> bytes:
    """Return a file that `read_concepts` understands."""
    held = [
        {
            "name": one.name,
            "prompts": list(one.prompts),
            "sub_queries": list(one.sub_queries),
            "option": one.option,
            "super": one.super,
        }
        for one in concepts.found
    ]
    return json_of({"concepts": held, "background": concepts.background})


def _concept(held: Any, number: int, path: Path) -> Concept:
    where = f"concept {number} of {path}"
    if not isinstance(held, dict) or not isinstance(held.get("name"), str):
        raise OnwardError(f"expected an object with a name as {where}, found {held!r:.80}")
    strangers = sorted(set(held) - _FIELDS)
    if strangers:
        raise OnwardError(
            f"expected {', '.join(sorted(_FIELDS))} at most in {where}, found {strangers[0]!r}"
        )
    name = held["name"].strip()
    # Names become folders.
    if not name or name in (".", "..") or any(c in name for c in "/\\\0\n"):
        raise OnwardError(
            f"expected a name that can be a folder in {where}, found {held['name']!r}"
        )
    return Concept(
        name,
        _texts(held.get("prompts", [name]), "prompts", where) or (name,),
        _texts(held.get("sub_queries", []), "sub_queries", where),
        str(held.get("option") or name),
        str(held.get("super", "")),
    )


def _texts(held: Any, what: str, where: str) -> tuple[str, ...]:
    if not isinstance(held, list) or not all(isinstance(one, str) and one.strip() for one in held):
        raise OnwardError(f"expected a list of texts as {what} of {where}, found {held!r:.80}")
    return tuple(held)
