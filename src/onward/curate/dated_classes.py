"""Classes of a dated test: meanings of WordNet's nouns, and which one of them a caption names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onward.curate.caption_words import words_of
from onward.data.iirc_official import class_words, official_classes
from onward.data.imagenet_subtrees import imagenet_subtrees
from onward.data.read_files import read_json, read_text
from onward.data.wordnet import Nouns
from onward.errors import OnwardError, first_few

IMAGENET = "imagenet"
NO_CLASS, SEVERAL, AMBIGUOUS = "no class", "several classes", "a word of several classes"
_WNID = re.compile(r"n\d{8}")
_LONGEST = 5


@dataclass(frozen=True)
class DatedClass:
    """A class: what it is called, its number in WordNet, its definition, and all its words."""

    name: str
    wnid: str
    definition: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class DatedClasses:
    """Classes in their order, and named parts of them."""

    classes: tuple[DatedClass, ...]
    parts: Mapping[str, tuple[str, ...]]

    def as_json(self) -> dict[str, Any]:
        """Return what ``classes.json`` says."""
        return {
            "classes": [
                {"name": one.name, "wnid": one.wnid, "definition": one.definition}
                for one in self.classes
            ],
            "parts": {name: list(some) for name, some in self.parts.items()},
        }


def read_classes(spec: str, nouns: Nouns, subtrees: Sequence[str] = ()) -> DatedClasses:
    """Return ImageNet's classes, or those that a file names.

    A text file has a word, or a number of WordNet such as ``n02084071``, on each line; a JSON file
    a list of them, or ``{"name": "word or number"}``. A word stands for its most usual meaning.

    Parts are the classes below each of some words; of ImageNet, TiC-CLIP's eleven by default.
    """
    if spec == IMAGENET:
        spoken = class_words()
        numbers = sorted(official_classes(IMAGENET, incremental=True).classes)
        wanted = [(spoken.get(wnid), wnid) for wnid in numbers]
        subtrees = subtrees or [name.replace("_", " ") for name in imagenet_subtrees()]
    else:
        wanted = _listed(Path(spec).expanduser())
    found: list[DatedClass] = []
    for name, meant in wanted:
        one = _class(name, meant, nouns, spec)
        twin = next((other for other in found if other.wnid == one.wnid), None)
        if twin is not None:
            raise OnwardError(
                f"expected different classes in {spec}, found {twin.name} and {one.name}, which "
                f"are one in WordNet ({one.wnid}). Leave one of them out, or give its number"
            )
        found.append(_renamed(one, {other.name for other in found}, nouns))
    if len(found) < 2:
        raise OnwardError(f"expected two classes or more in {spec}, found {len(found)}")
    return DatedClasses(tuple(found), _parts(found, subtrees, nouns))


def _listed(path: Path) -> list[tuple[str | None, str]]:
    expected = "words or WordNet's numbers of classes in"
    if path.suffix.lower() == ".json":
        found = read_json(path, expected, "Write it again")
        if isinstance(found, dict) and isinstance(found.get("classes"), list):
            try:
                found = {one["name"]: one["wnid"] for one in found["classes"]}
            except (KeyError, TypeError) as error:
                raise OnwardError(
                    f"expected a name and a wnid for each of the classes in {path}, found one "
                    f"without ({error!r}). Write it again"
                ) from error
        if isinstance(found, dict) and all(isinstance(one, str) for one in found.values()):
            return [(str(name), one) for name, one in found.items()]
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return [(None, one) for one in found]
        raise OnwardError(f"expected {expected} {path}, a list, found something else")
    lines = read_text(path, f"{expected}, one on each line,", "Write it again").split("\n")
    return [(None, line.strip()) for line in lines if line.strip() and line[0] != "#"]


def _class(name: str | None, meant: str, nouns: Nouns, spec: str) -> DatedClass:
    wnid = meant
    if not _WNID.fullmatch(meant):
        single = nouns.singular(meant.replace("_", " ")) or ""
        senses = nouns.senses.get(single)
        if senses is None:
            raise OnwardError(
                f"expected nouns that WordNet has in {spec}, found {meant!r}. Write it as WordNet "
                "does, or give the number of what you mean"
            )
        wnid = senses[0]
    if wnid not in nouns.synsets:
        raise OnwardError(
            f"expected numbers of WordNet 3.0 in {spec}, found {wnid}, which it has not. "
            "ImageNet's are of WordNet 3.0, which Debian's wordnet-base has"
        )
    synset = nouns.synsets[wnid]
    called = name or (synset.words[0] if meant == wnid else meant.replace("_", " "))
    words = dict.fromkeys(" ".join(words_of(word)) for word in (called, *synset.words))
    return DatedClass(called, wnid, synset.definition, tuple(words))


def _renamed(one: DatedClass, taken: set[str], nouns: Nouns) -> DatedClass:
    """Give a class another name if an earlier one has it: ImageNet has two cranes."""
    if one.name not in taken:
        return one
    for word in nouns.synsets[one.wnid].words:
        if word not in taken:
            return replace(one, name=word)
    above = next((wnid for wnid, below in nouns.below.items() if one.wnid in below), one.wnid)
    return replace(one, name=f"{one.name} ({nouns.synsets[above].words[0]})")


def _parts(
    classes: Sequence[DatedClass], subtrees: Sequence[str], nouns: Nouns
) -> dict[str, tuple[str, ...]]:
    found = {}
    for word in subtrees:
        below = nouns.subtree(word)
        if not below:
            raise OnwardError(f"expected nouns of WordNet as subtrees, found {word!r}")
        names = tuple(one.name for one in classes if one.wnid in below)
        if not names:
            said = first_few([one.name for one in classes])
            raise OnwardError(f"expected classes below {word!r}, found none among {said}")
        found[word] = names
    return found


class Naming:
    """Which class a caption names.

    The longest noun of WordNet at each place counts, so that a hot dog is no dog; a plural is its
    singular. A word of several classes says nothing of which is meant, and such a caption is not
    taken; whether a word is meant as something that is no class at all is left to the definition.
    """

    def __init__(self, classes: Sequence[DatedClass], nouns: Nouns) -> None:
        self._nouns = nouns
        self._known: dict[str, set[int]] = {}
        for number, one in enumerate(classes):
            for word in one.words:
                self._known.setdefault(word, set()).add(number)
        self._longer = {
            words for word in nouns.senses if " " in (words := " ".join(words_of(word)))
        }
        self._single: dict[str, str] = {}

    def __call__(self, caption: str) -> tuple[int | None, str | None]:
        """Return the one class that a caption names, or why there is none."""
        words = words_of(caption)
        found: set[int] = set()
        place = 0
        while place < len(words):
            length, meant = self._at(words[place : place + _LONGEST])
            if len(meant) > 1:
                return None, AMBIGUOUS
            found |= meant
            place += length
        if len(found) == 1:
            return found.pop(), None
        return None, SEVERAL if found else NO_CLASS

    def _at(self, words: tuple[str, ...]) -> tuple[int, set[int]]:
        for length in range(len(words), 0, -1):
            phrase = " ".join(words[:length])
            for form in dict.fromkeys((phrase, self._singular(words[:length]))):
                if form in self._known:
                    return length, self._known[form]
                if length > 1 and form in self._longer:
                    return length, set()
        return 1, set()

    def _singular(self, words: tuple[str, ...]) -> str:
        last = words[-1]
        if last not in self._single:
            bare = last.removesuffix("'s")
            self._single[last] = self._nouns.singular(bare) or bare
        return " ".join((*words[:-1], self._single[last]))
