"""TiC-CLIP's emoji edition: how the history is cut into periods, and what is asked of each."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onward.data.bags import ZERO_SHOT, retrieval_test, zero_shot_test
from onward.data.emoji_history import GROUPS, TWEMOJI, group_numbers, release_days
from onward.data.split import held_out, uniform
from onward.data.tic_emoji import CAPTION, DRAWING, PAIR, PROMPT, RENDERING
from onward.seeds import Draws, draws
from onward.types import Holdout, Period, Protocol, Rows, Samples, Stream, Table

UNSEEN = "unseen"
SNAPSHOTS = 8
# Identities that no model learns, in any period, and how many are asked for in a test: always as
# many, since more candidates make every question harder.
_UNSEEN = Holdout(0.2)
_POOL, _VALIDATION = 250, 150


def cut_emoji(
    table: Table,
    protocol: Protocol,
    seed: int,
    *,
    keeps: Callable[[Table, NDArray[np.bool_]], NDArray[np.bool_]],
) -> Stream:
    """Cut the emoji history into periods, one per snapshot, with their tests.

    Only pairs that `keeps` chooses are learned, see `onward.benchmarks.tic_filters`.
    """
    asked = _Asked(table, seed)
    kept = keeps(table, asked.unseen)
    snapshot, kind = table.values("snapshot"), table.values("kind")
    order = draws(Draws.ORDER, seed).permutation(len(table))
    days = release_days(table)
    periods = []
    for number, start in enumerate(days):
        here = (snapshot == number) & (kind == PAIR)
        learned = order[(here & kept & ~asked.unseen)[order]]
        known, rest = asked.pool(number, RENDERING, seen=True)
        new, _ = asked.pool(number, DRAWING, seen=False)
        periods.append(
            Period(
                index=number,
                name=str(start)[:7],
                start=start.item(),
                end=days[number : number + 2].max().item(),
                train=Samples(learned, asked.labels[learned]),
                test=asked.retrieval(known),
                classes=GROUPS,
                validation=asked.retrieval(rest[:_VALIDATION]),
                more={UNSEEN: asked.retrieval(new), ZERO_SHOT: asked.zero_shot(new)},
            )
        )
    known, _ = asked.pool(TWEMOJI, DRAWING, seen=True)
    new, _ = asked.pool(TWEMOJI, DRAWING, seen=False)
    static = {"twemoji": asked.retrieval(known), "twemoji_zero_shot": asked.zero_shot(new)}
    return Stream(table, tuple(periods), static)


def cut_at_random(
    cut: Callable[[Table, Protocol, int], Stream],
    parts: int,
    table: Table,
    protocol: Protocol,
    seed: int,
) -> Stream:
    """Deal what all periods of a stream bring into parts, in no order of time.

    After each part, the tests of all snapshots are given as one, 250 of their drawings.
    """
    dated = cut(table, protocol, seed)
    everything = Samples.join([period.train for period in dated])
    order = draws(Draws.ORDER, seed, parts).permutation(len(everything))
    test = _Asked(table, seed).retrieval_of_all()
    periods = tuple(
        Period(
            index=index,
            name=f"part {index + 1} of {parts}",
            start=None,
            end=None,
            train=everything[np.sort(rows)],
            test=test,
            classes=GROUPS,
        )
        for index, rows in enumerate(np.array_split(order, parts))
    )
    return Stream(table, periods)


class _Asked:
    """What can be asked of one seed's split."""

    def __init__(self, table: Table, seed: int) -> None:
        self._kind, self._snapshot = table.values("kind"), table.values("snapshot")
        self._code, self._seed = table.values("code"), seed
        self.labels = group_numbers(table.values("label"))
        self.unseen = held_out(table.values("group"), _UNSEEN, seed)
        # The same codes first in every period, as far as they are there.
        self._place = uniform(self._code, f"asked {seed}")
        captions = np.flatnonzero(self._kind == CAPTION)
        self._caption = dict(zip(self._code[captions].tolist(), captions.tolist(), strict=True))
        self._prompts = np.flatnonzero(self._kind == PROMPT)

    def pool(self, snapshot: int, kind: str, *, seen: bool) -> tuple[Rows, Rows]:
        """Return the images that are asked about in a snapshot, and all others that could be."""
        here = (self._snapshot == snapshot) & (self._kind == kind) & (self.unseen != seen)
        rows = np.flatnonzero(here)
        rows = rows[np.argsort(self._place[rows], kind="stable")]
        return rows[:_POOL], rows[_POOL:]

    def retrieval(self, images: Rows) -> Samples:
        """Ask each image for its caption, and each caption for its image."""
        captions = np.array([self._caption[code] for code in self._code[images].tolist()])
        rng = draws(Draws.ORDER, self._seed, int(images[0]))
        return retrieval_test(images, captions, np.arange(len(images)), rng)

    def retrieval_of_all(self) -> Samples:
        """Ask about 250 emoji, each as it was drawn in one of the snapshots."""
        rows = np.flatnonzero((self._kind == RENDERING) & ~self.unseen)
        shuffled = draws(Draws.ORDER, self._seed).permutation(rows)
        once = shuffled[np.sort(np.unique(self._code[shuffled], return_index=True)[1])]
        return self.retrieval(once[:_POOL])

    def zero_shot(self, images: Rows) -> Samples:
        """Ask each image for its class, among the prompts of all."""
        rng = draws(Draws.ORDER, self._seed, int(images[0]))
        return zero_shot_test(images, self.labels[images], self._prompts, rng)
