"""What was asked in a test, question by question: who was right, and what each was about."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onward.data.imagenet_subtrees import parts_of
from onward.errors import OnwardError
from onward.evaluation.sitting import Named
from onward.pairs import PairLayout, as_bytes
from onward.types import Array, Samples, Table
from onward.view import input_shape

EVERYTHING = "all"
_AT_ONCE = 4096
_IMAGES, _TEXTS = 0, 1

Queries = Mapping[str, Sequence[str]]
"""Words by the name of a query; a caption that has any of them is meant."""


@dataclass(frozen=True, eq=False)
class Asked:
    """The questions of one test, gathered by the image that they are about.

    Parameters
    ----------
    about
        What questions are about: all of them, parts of the classes, queries.
    asked
        How many questions there are, an array (image, about, way): asked by the image, and by its
        texts.
    right
        How many of them were answered right, first.
    """

    about: tuple[str, ...]
    asked: NDArray[np.float64]
    right: NDArray[np.float64]


def gather(
    decided: Array,
    samples: Samples,
    table: Table,
    classes: Sequence[str],
    named: Named | None = None,
    queries: Queries | None = None,
) -> Asked:
    """Gather what a model decided in one test.

    Parameters
    ----------
    decided
        What `onward.evaluation.sitting.decisions` returned.
    samples
        The test.
    table
        Where its captions are.
    classes
        What its texts stand for, where they are prompts.
    named
        Parts of the classes, as `onward.evaluation.evaluate` takes them.
    queries
        Words to look for in captions. Only questions with such a caption count; the candidates are
        all those of the test.
    """
    labels = samples.labels
    by_text = np.asarray(decided[:, 0] == _TEXTS)
    places = [np.flatnonzero(~by_text), np.flatnonzero(by_text)]
    asks = np.asarray((labels >= 0).any(1))
    right = (decided[:, 1] >= 0) & (decided[:, 1:2] == labels).any(1)
    masks = {EVERYTHING: asks}
    prompts = not asks[by_text].any()
    if prompts:
        for name, members in parts_of(classes, named).items():
            masks[name] = asks & np.isin(labels[:, 0], members)
    else:
        masks |= _mentions(queries or {}, samples, table, places)
    # A text asks for its image, an image for itself.
    image = np.empty(len(samples), np.int64)
    image[places[_IMAGES]] = np.arange(len(places[_IMAGES]))
    image[places[_TEXTS]] = np.maximum(labels[places[_TEXTS], 0], 0)
    counts = np.zeros((2, len(places[_IMAGES]), len(masks), 2))
    for at, mask in enumerate(masks.values()):
        for way, mine in enumerate((~by_text, by_text)):
            for kind, which in enumerate((mask & mine, mask & mine & right)):
                counts[kind, :, at, way] = np.bincount(image[which], minlength=len(places[_IMAGES]))
    return Asked(tuple(masks), counts[0], counts[1])


def _mentions(
    queries: Queries, samples: Samples, table: Table, places: Sequence[Array]
) -> dict[str, NDArray[np.bool_]]:
    """Say which questions are about a caption with the words of each query."""
    if not queries:
        return {}
    captions = _captions(table, samples.rows[places[_TEXTS]])
    found = {}
    for name, words in queries.items():
        either = "|".join(re.escape(word) for word in words)
        pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
        has = np.array([bool(pattern.search(caption)) for caption in captions], bool)
        mask = np.zeros(len(samples), bool)
        mask[places[_TEXTS]] = has
        wanted = samples.labels[places[_IMAGES]]
        mask[places[_IMAGES]] = (np.append(has, False)[wanted] & (wanted >= 0)).any(1)
        found[name] = mask & (samples.labels >= 0).any(1)
    return found


def _captions(table: Table, rows: Array) -> list[str]:
    column = table.wide["input"]
    layout = PairLayout(input_shape(column))
    texts: list[str] = []
    for start in range(0, len(rows), _AT_ONCE):
        texts += layout.texts(as_bytes(column[rows[start : start + _AT_ONCE]]))
    return texts


def read_queries(typed: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read queries such as ``covid`` or ``illness=covid,corona``.

    Examples
    --------
    >>> read_queries(["covid", "illness=covid,face mask"])
    {'covid': ('covid',), 'illness': ('covid', 'face mask')}
    """
    found = {}
    for text in typed:
        name, equals, words = text.partition("=")
        listed = tuple(
            word.strip() for word in (words if equals else name).split(",") if word.strip()
        )
        if not name.strip() or not listed or name.strip() == EVERYTHING:
            raise OnwardError(
                f"expected a query such as covid or illness=covid,corona, found {text!r}"
            )
        found[name.strip()] = listed
    return found
