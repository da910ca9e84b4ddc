"""Which pairs of the emoji edition are learned from: all, or those that a filter keeps."""

import hashlib
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from onward.benchmarks.tic_recipes import SMALL
from onward.data.cache import cached
from onward.data.emoji_history import GROUPS
from onward.data.tic_emoji import PAIR
from onward.tasks.image_text import ImageText
from onward.types import Array, Budget, Call, Rows, Samples, Setting, Table, View

Mask = NDArray[np.bool_]
WORDS, LETTERS = 2, 5
"""What a caption has more of, to be kept by DataComp's basic filter."""
# Changed whenever scores would be: how the model that filters is trained, and on what.
_VERSION = 1


def everything(table: Table, unseen: Mask) -> Mask:
    """Keep all pairs."""
    return np.ones(len(table), np.bool_)


def basic(table: Table, unseen: Mask) -> Mask:
    """Keep captions of more than two words and more than five letters.

    The paper's basic filter also wants English and photos of some size, which drawings are not.
    """
    captions = table.columns.column("text").to_pylist()
    return np.array([len(text.split()) > WORDS and len(text) > LETTERS for text in captions])


def bestpool(table: Table, unseen: Mask) -> Mask:
    """Keep what an older CLIP finds similar: it has learned the first snapshot, and nothing since.

    Of the paper's, which filters by published CLIPs, this keeps what matters here: the filter is
    older than most of what it judges. A pair stays that is as similar as the better half of the
    first snapshot, so that nothing of later ones decides about earlier ones.
    """
    first = np.flatnonzero((table.values("kind") == PAIR) & (table.values("snapshot") == 0))
    learned = first[~unseen[first]]
    chosen = hashlib.sha256(learned.tobytes()).hexdigest()[:16]
    name = f"tic-bestpool-{_VERSION}-{table.digest[:16]}-{table.digest[-16:]}-{chosen}"
    similar = cached(name, lambda: _similarities(table, learned))
    return np.asarray(similar >= np.median(similar[learned]))


FILTERS: Mapping[str, Callable[[Table, Mask], Mask]] = {
    "all": everything,
    "basic": basic,
    "bestpool": bestpool,
}
"""By name: called with the table and the rows that are never learned, returns the rows to keep."""


def _similarities(table: Table, learned: Rows) -> Array:
    """Train a CLIP on some pairs, and return how similar it finds image and text of all pairs."""
    from onward.train.learner import GradientLearner  # torch, which other filters do not need
    from onward.train.method import Method

    learner = GradientLearner(Method(), Setting(ImageText(), SMALL, 0))
    budget = Budget()
    budget.open(learned)
    shown = Samples(learned, np.zeros(len(learned), np.int64))
    learner.learn(View(table, shown, GROUPS, Call(budget)), budget)
    pairs = np.flatnonzero(table.values("kind") == PAIR)
    nothing = np.zeros(len(pairs), np.int64)
    said = learner.predict(View(table, Samples(pairs, nothing), GROUPS, Call(None)))
    units = said / np.linalg.norm(said, axis=2, keepdims=True)
    found = np.full(len(table), -np.inf)
    found[pairs] = (units[:, 0] * units[:, 1]).sum(1)
    return found
