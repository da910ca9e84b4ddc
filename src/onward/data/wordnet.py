"""WordNet's nouns, read from the files that Princeton releases: words, definitions, what is below.

Debian's package ``wordnet-base`` has them, and so has NLTK's corpus ``wordnet``; both are the files
``index.noun``, ``data.noun`` and ``noun.exc`` in one folder.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from onward.errors import OnwardError

_FILES = ("index.noun", "data.noun")
_USUAL = (
    "/usr/share/wordnet",
    "/usr/local/WordNet-3.0/dict",
    "/usr/share/nltk_data/corpora/wordnet",
)
_BELOW = ("~", "~i")
# Of a plural that is no exception: how it ends, and how its singular does.
_ENDINGS = (
    ("ies", "y"),
    ("men", "man"),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("s", ""),
)


@dataclass(frozen=True)
class Synset:
    """What some words mean: its number, the words, and the definition, without examples.

    ``wnid`` is the number as ImageNet has it, such as ``n02084071``.
    """

    wnid: str
    words: tuple[str, ...]
    definition: str


class Nouns:
    """The nouns of WordNet in a folder; what is asked for is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing:
            raise OnwardError(
                f"expected WordNet's files in {folder}, found no {' and no '.join(missing)}. "
                "Install Debian's wordnet-base, or give the folder corpora/wordnet of NLTK's data"
            )
        self.folder = folder

    @cached_property
    def senses(self) -> dict[str, tuple[str, ...]]:
        """The numbers of what each word means, its most usual meaning first.

        Words are in lower case, and those of several parts are joined by spaces.
        """
        found = {}
        for line in _lines(self.folder / "index.noun"):
            word, _, count, pointers, *rest = line.split()
            numbers = rest[int(pointers) + 2 :][: int(count)]
            found[word.replace("_", " ").lower()] = tuple(f"n{number}" for number in numbers)
        return found

    @cached_property
    def synsets(self) -> dict[str, Synset]:
        """All meanings by their numbers."""
        return {synset.wnid: synset for synset, _ in self._read()}

    @cached_property
    def below(self) -> dict[str, tuple[str, ...]]:
        """The numbers of what is directly below each meaning."""
        return {synset.wnid: below for synset, below in self._read() if below}

    def subtree(self, word: str) -> set[str]:
        """Return the numbers of all meanings of a word, and of all that is below them."""
        waiting, found = list(self.senses.get(word.lower(), ())), set[str]()
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self.below.get(number, ())
        return found

    @cached_property
    def exceptions(self) -> dict[str, str]:
        """The singular of plurals that follow no rule."""
        path = self.folder / "noun.exc"
        pairs = (line.split() for line in (_lines(path) if path.is_file() else ()))
        return {plural.replace("_", " "): single.replace("_", " ") for plural, single, *_ in pairs}

    def singular(self, word: str) -> str | None:
        """Return a word as WordNet has it, or None if it is no noun there."""
        word = word.lower()
        if word in self.senses:
            return word
        if word in self.exceptions:
            return self.exceptions[word]
        for ending, instead in _ENDINGS:
            if word.endswith(ending):
                single = word[: len(word) - len(ending)] + instead
                if single in self.senses:
                    return single
        return None

    def _read(self) -> Iterator[tuple[Synset, tuple[str, ...]]]:
        for line in _lines(self.folder / "data.noun"):
            fields, _, gloss = line.partition(" | ")
            number, _, _, count, *rest = fields.split()
            words = int(count, 16)
            pointers = rest[2 * words + 1 :]
            below = tuple(
                f"n{target}"
                for kind, target in zip(pointers[::4], pointers[1::4], strict=False)
                if kind in _BELOW
            )
            names = tuple(word.replace("_", " ") for word in rest[: 2 * words : 2])
            yield Synset(f"n{number}", names, gloss.split('; "')[0].strip()), below


def find_nouns(folder: Path | None = None) -> Nouns:
    """Return the nouns in a folder, or in one of the places where they usually are."""
    if folder is not None:
        return Nouns(folder.expanduser())
    for place in _places():
        if all((place / name).is_file() for name in _FILES):
            return Nouns(place)
    raise OnwardError(
        "expected WordNet, found it in none of its usual places. Install Debian's wordnet-base, or "
        "say where it is with --wordnet FOLDER (corpora/wordnet of NLTK's data will do)"
    )


def _places() -> Iterator[Path]:
    if "WNHOME" in os.environ:
        yield Path(os.environ["WNHOME"]) / "dict"
    for place in os.environ.get("NLTK_DATA", "").split(os.pathsep):
        if place:
            yield Path(place) / "corpora" / "wordnet"
    yield from (Path(place) for place in _USUAL)
    yield Path("~/nltk_data/corpora/wordnet").expanduser()


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file of WordNet, without its licence, whose lines are indented."""
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from (line.rstrip("\n") for line in file if line[0] != " ")
