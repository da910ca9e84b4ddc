"""What captions are about: the five nouns of WordNet that a sentence model finds nearest to each.

TiC-CLIP's appendix G.6 compares the distributions of these nouns between periods.
"""

import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onward.data.cache import cached
from onward.data.wordnet import Nouns, find_nouns
from onward.drift.slices import Slice
from onward.drift.tags import Tags
from onward.drift.texts import words_in
from onward.errors import OnwardError
from onward.models.sentences import Sentences
from onward.types import Array, Rows

NEAREST = 5
MOST_NOUNS = 3000
MOST_CAPTIONS = 4000
_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Named:
    """The nouns of captions, and in words how they were found."""

    tags: Tags
    words: str


def nearest_nouns(
    texts: Sequence[str],
    parts: Sequence[Slice],
    *,
    wordnet: Path | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Named:
    """Return the five nouns nearest to each caption.

    Nouns are those of WordNet that some caption has a word of, the most frequent 3,000, each with
    its first meaning; captions are at most 4,000 in all, as many of every period. What is computed
    is kept.

    Parameters
    ----------
    texts
        By row of the table.
    parts
        The periods.
    wordnet
        The folder of WordNet; by default where it usually is.
    progress
        Called with how many more sentences are read.

    Raises
    ------
    OnwardError
        If WordNet or the sentence model is missing.
    """
    nouns, sentences = find_nouns(wordnet), Sentences()
    each = max(MOST_CAPTIONS // len(parts), NEAREST)
    chosen = [_some(part, each) for part in parts]
    vocabulary = _vocabulary([texts[row] for rows in chosen for row in rows], nouns)
    if len(vocabulary) < NEAREST:
        raise OnwardError(
            f"expected captions with at least {NEAREST} different nouns of WordNet, found "
            f"{len(vocabulary)}"
        )
    meanings = [nouns.synsets[nouns.senses[word][0]].definition for word in vocabulary]
    said = [f"{word}: {meaning}" for word, meaning in zip(vocabulary, meanings, strict=True)]
    directions = _embedded(sentences, said, progress)
    different = list(dict.fromkeys(texts[row] for rows in chosen for row in rows))
    place = {text: at for at, text in enumerate(different)}
    found = _embedded(sentences, different, progress)
    near = np.concatenate(
        [
            np.argsort(-(found[start : start + _AT_ONCE] @ directions.T), axis=1, kind="stable")[
                :, :NEAREST
            ]
            for start in range(0, len(found), _AT_ONCE)
        ]
    )
    by_period = []
    for part, rows in zip(parts, chosen, strict=True):
        tags = np.full((len(part.rows), NEAREST), -1, np.int64)
        tags[np.searchsorted(part.rows, rows)] = near[[place[texts[row]] for row in rows]]
        by_period.append(tags)
    words = (
        f"the {NEAREST} nouns of WordNet nearest to each caption, by {sentences.name}; "
        f"{len(vocabulary):,} nouns, those that some caption has a word of, each with its first "
        f"meaning; {sum(map(len, chosen)):,} captions"
    )
    return Named(Tags("nouns", tuple(vocabulary), by_period), words)


def _some(part: Slice, most: int) -> Rows:
    """Return some rows of a period: those of the same groups as in others, where they come back."""
    places = [zlib.crc32(name.encode()) for name in part.groups[part.drawn].tolist()]
    return np.sort(part.embedded[np.argsort(places, kind="stable")[:most]])


def _vocabulary(texts: Sequence[str], nouns: Nouns) -> list[str]:
    """Return the nouns that texts have words of, the most frequent first."""
    counted: Counter[str] = Counter()
    for word, times in Counter(word for text in texts for word in words_in(text)).items():
        single = nouns.singular(word)
        if single is not None and single in nouns.senses:
            counted[single] += times
    return [word for word, _ in counted.most_common(MOST_NOUNS)]


def _embedded(sentences: Sentences, texts: Sequence[str], progress: Callable[[int], None]) -> Array:
    named = "\0".join([sentences.name, *texts]).encode()
    key = f"sentences-{hashlib.sha256(named).hexdigest()[:32]}"
    return cached(key, lambda: sentences(texts, progress))
