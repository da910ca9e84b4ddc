"""Which class of WordNet a caption names."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from dated_miniature import pairs, write_dated, write_images
from small_words import bag_of_words, write_wordnet

from onward.curate.dated_classes import (
    AMBIGUOUS,
    NO_CLASS,
    SEVERAL,
    DatedClass,
    Naming,
    read_classes,
)
from onward.curate.draw_classes import UNLIKE
from onward.curate.make_tests import AskedOptions, make_tests
from onward.data.wordnet import Nouns, find_nouns
from onward.errors import OnwardError

REAL = Path("/usr/share/wordnet")


@pytest.fixture
def nouns(tmp_path: Path) -> Nouns:
    return find_nouns(write_wordnet(tmp_path / "wordnet"))


def listed(path: Path, *words: str) -> str:
    path.write_text("\n".join(words))
    return str(path)


@pytest.mark.parametrize(
    ("caption", "name"),
    [
        ("A <b>Dog</b> in the park", "dog"),
        ("the DOGS, barking", "dog"),
        ("my dog\u2019s bone", "dog"),
        ("a domestic-dog", "dog"),
        ("two boxes", "box"),
        ("a hot dog", None),
        ("hot dogs in a box", "box"),
        ("a dog in a box", None),
        ("dogged boxing", None),
    ],
)
def test_the_longest_noun_of_whole_words_counts(
    nouns: Nouns, tmp_path: Path, caption: str, name: str | None
) -> None:
    found = read_classes(listed(tmp_path / "c.txt", "dog", "box"), nouns)
    number, reason = Naming(found.classes, nouns)(caption)
    assert (None if number is None else found.classes[number].name) == name
    assert (reason is None) == (name is not None)


def test_why_a_caption_names_no_class(nouns: Nouns) -> None:
    classes = (
        DatedClass("dog", "n00000010", "a tame canine", ("dog",)),
        DatedClass("sausage", "n00000040", "a sausage in a bun", ("hot dog", "dog")),
        DatedClass("box", "n00000060", "a container", ("box",)),
    )
    naming = Naming(classes, nouns)
    assert naming("a dog")[1] == AMBIGUOUS
    assert naming("a hot dog in a box")[1] == SEVERAL
    assert naming("a cat")[1] == NO_CLASS
    assert naming("")[1] == NO_CLASS


def test_classes_are_words_or_numbers_in_any_file(nouns: Nouns, tmp_path: Path) -> None:
    plain = read_classes(listed(tmp_path / "c.txt", "# mine", "dogs", "n00000060"), nouns, ["dog"])
    assert [(one.name, one.wnid) for one in plain.classes] == [
        ("dogs", "n00000010"),
        ("box", "n00000060"),
    ]
    assert plain.parts == {"dog": ("dogs",)}
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"hound": "n00000010", "crate": "box"}))
    assert [one.name for one in read_classes(str(path), nouns).classes] == ["hound", "crate"]
    path.write_text(json.dumps(plain.as_json()))
    assert read_classes(str(path), nouns).classes[0].wnid == "n00000010"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dog", "unheard"), r"nouns that WordNet has .*unheard"),
        (("dog", "n00000010"), r"found dog and dog, which are one"),
        (("dog",), "two classes or more"),
        (("dog", "n99999999"), "n99999999, which it has not"),
    ],
)
def test_mistakes(nouns: Nouns, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        read_classes(listed(tmp_path / "c.txt", *words), nouns)


@pytest.mark.parametrize(("word", "message"), [("unheard", "nouns of"), ("child", "none among")])
def test_parts_that_are_none(nouns: Nouns, tmp_path: Path, word: str, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        read_classes(listed(tmp_path / "c.txt", "dog", "box"), nouns, [word])


def test_what_is_not_about_its_class_is_not_drawn(tmp_path: Path) -> None:
    rows = pairs()
    for number, row in enumerate(rows):
        like = "a tame canine" if number % 2 else "no sense of it"
        row["caption"] = f"dog {number}, {like}"
    dated, images = write_dated(tmp_path / "dated", rows), write_images(tmp_path / "images", rows)
    options = AskedOptions(
        retrieval=2,
        classes=listed(tmp_path / "c.txt", "dog", "box"),
        per_class=3,
        wordnet=write_wordnet(tmp_path / "wordnet"),
    )
    out = tmp_path / "tests"
    counts = make_tests(dated, images, out, options, directions=bag_of_words)
    table = pq.read_table(out / "classes.parquet")
    assert np.bincount(table.column("bucket").to_numpy()).tolist() == [3, 3, 3]
    assert set(table.column("class").to_pylist()) == {0}
    assert all("tame" in caption for caption in table.column("caption").to_pylist())
    assert counts["captions"][UNLIKE] > 0
    assert counts["classes"] == {"dog": 9, "box": 0}
    left = {
        one
        for path in out.glob("rows/*/*.parquet")
        for one in pq.read_table(path).column("id").to_pylist()
    }
    assert not left & set(table.column("id").to_pylist())


@pytest.mark.skipif(not REAL.is_dir(), reason="needs Debian's wordnet-base")
def test_imagenet_has_a_thousand_classes_with_names_of_their_own() -> None:
    found = read_classes("imagenet", Nouns(REAL))
    names = [one.name for one in found.classes]
    assert len(set(names)) == 1000
    assert {"crane", "crane (lifting device)"} <= set(names)
    assert len(found.parts["dog"]) == 118
    assert len(found.parts["motor vehicle"]) == 22
