"""WordNet's nouns, out of a few lines in the form of the released files."""

from pathlib import Path

import pytest
from small_words import write_wordnet

from onward.data.wordnet import Nouns, find_nouns
from onward.errors import OnwardError


@pytest.fixture
def nouns(tmp_path: Path) -> Nouns:
    return find_nouns(write_wordnet(tmp_path))


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
