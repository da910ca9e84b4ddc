"""A few nouns in the form of WordNet's files, and a sentence model that knows words alone."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.curate.caption_words import words_of
from onward.data.hashing import hash_texts

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


def write_wordnet(folder: Path) -> Path:
    """Write a folder of WordNet."""
    folder.mkdir(exist_ok=True)
    (folder / "index.noun").write_text(INDEX)
    (folder / "data.noun").write_text(
        DATA.replace("001 ~ 00000020 n 0000", "002 ~ 00000020 n 0000 ~i 00000030 n 0000")
    )
    (folder / "noun.exc").write_text("children child\n")
    return folder


def bag_of_words(sentences: Sequence[str]) -> NDArray[np.float32]:
    """Return directions of length one: sentences are similar if they share words."""
    found = np.zeros((len(sentences), 512), np.float32)
    for row, sentence in enumerate(sentences):
        for number in hash_texts(pa.array(words_of(sentence), pa.string())).tolist():
            found[row, number % 512] += 1
    return found / np.linalg.norm(found, axis=1, keepdims=True)
