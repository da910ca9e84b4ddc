"""WordNet's nouns, out of a few lines in the form of the released files."""

from pathlib import Path

import pytest

from onward.data.wordnet import Nouns, find_nouns
from onward.errors import OnwardError

INDEX = """  1 This is a licence, whose lines are indented.
dog n 2 2 @ ~ 2 1 00000010 00000040
pug n 1 1 @ 1 0 00000020
hot_dog n 1 1 @ 1 0 00000040
child n 1 0 1 0 00000050
box n 1 0 1 0 00000060
"""
DATA = """  1 This is a licence, whose lines are indented.
00000010 05 n 02 dog 0 domestic_dog 0 001 ~ 00000020 n 0000 | a tame canine; "the dog barked"
00000020 05 n 01 pug 0 001 @ 00000010 n 0000 | a small dog
00000030 05 n 01 Rover 0 001 @i 00000010 n 0000 | a certain dog
00000040 13 n 02 hot_dog 0 dog 1 000 | a sausage in a bun
00000050 18 n 01 child 0 000 | a young person
00000060 06 n 01 box 0 000 | a container
"""


@pytest.fixture
def nouns(tmp_path: Path) -> Nouns:
    (tmp_path / "index.noun").write_text(INDEX)
    (tmp_path / "data.noun").write_text(
        DATA.replace("001 ~ 00000020 n 0000", "002 ~ 00000020 n 0000 ~i 00000030 n 0000")
    )
    (tmp_path / "noun.exc").write_text("children child\n")
    return find_nouns(tmp_path)


def test_a_word_has_its_meanings_in_their_order(nouns: Nouns) -> None:
    assert nouns.senses["dog"] == ("n00000010", "n00000040")
    assert nouns.senses["hot dog"] == ("n00000040",)


def test_a_definition_comes_without_its_example(nouns: Nouns) -> None:
    synset = nouns.synsets["n00000010"]
    assert synset.words == ("dog", "domestic dog")
    assert synset.definition == "a tame canine"


def test_below_a_word_is_what_is_below_any_of_its_meanings(nouns: Nouns) -> None:
    assert nouns.subtree("dog") == {"n00000010", "n00000020", "n00000030", "n00000040"}
    assert nouns.subtree("unheard of") == set()


@pytest.mark.parametrize(
    ("word", "single"),
    [("Dogs", "dog"), ("children", "child"), ("boxes", "box"), ("pug", "pug"), ("runs", None)],
)
def test_plurals_are_found_as_singulars(nouns: Nouns, word: str, single: str | None) -> None:
    assert nouns.singular(word) == single


def test_a_folder_without_its_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match=r"no index\.noun and no data\.noun"):
        find_nouns(tmp_path)


def test_it_is_found_where_the_environment_says(
    nouns: Nouns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora = tmp_path / "data" / "corpora"
    corpora.mkdir(parents=True)
    (corpora / "wordnet").symlink_to(nouns.folder)
    monkeypatch.delenv("WNHOME", raising=False)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "data"))
    assert find_nouns().folder == corpora / "wordnet"
