"""TiC-CLIP: keep a model of images and texts fresh, year after year, for the same compute.

Garg et al., TiC-CLIP: Continual Training of CLIP Models, ICLR 2024. Each period brings pairs of an
image and a text, and compute for so many steps. After each one, all periods are tested: does an
image find its text among those of that year, and a text its image? Does it find the words for its
class?
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from onward.benchmarks.listed import Listed
from onward.benchmarks.start_weights import weights_option
from onward.benchmarks.tic_recipes import USUAL_SCALE, in_parts, macs_of_a_period, recipes_of
from onward.data.cache import cache_folder
from onward.data.emoji_history import FOLDER, GROUPS, TWEMOJI, group_numbers
from onward.data.split import held_out, uniform
from onward.data.tic_emoji import (
    CAPTION,
    DRAWING,
    PAIR,
    PROMPT,
    RENDERING,
    load_tic_emoji,
    with_pairs,
)
from onward.errors import OnwardError, unknown
from onward.protocols import BUDGETED
from onward.seeds import Draws, draws
from onward.tasks.image_text import ImageText
from onward.types import (
    Benchmark,
    Card,
    Holdout,
    Period,
    Protocol,
    Rows,
    Samples,
    Stream,
    Table,
)

LISTED = Listed(
    summary="Does a drawing still find its caption, and a caption its drawing, as years go by?",
    task="image_text",
    data=("emoji", "a folder with dated shards"),
    recipes=("cpu", "paper"),
    protocols=tuple(BUDGETED),
)
UNSEEN, ZERO_SHOT = "unseen", "zero_shot"
# Identities that no model learns, in any period, and how many are asked for in a test: always as
# many, since more candidates make every question harder.
_UNSEEN = Holdout(0.2)
_POOL, _VALIDATION = 250, 150
_SNAPSHOTS = 8


def _is_basic(caption: str) -> bool:
    return len(caption.split()) > 2 and len(caption) > 5


_FILTERS: Mapping[str, Callable[[str], bool]] = {"all": lambda caption: True, "basic": _is_basic}


def load(
    data: str,
    protocol: str,
    recipe: str = "cpu",
    *,
    scale: str = USUAL_SCALE,
    model: str | None = None,
    weights: str | None = None,
    splits: int | None = None,
    captions: str = "all",
) -> Benchmark:
    """Load TiC-CLIP: its emoji edition, or dated shards from a folder.

    Emoji: each of the eight snapshots is a period, drawings with their captions. It is tested on
    250 drawings of what it has learned, in renderings that it has not (``period``); on 250 of
    emoji that no period shows (``unseen``); and on finding the group of those by prompts
    (``zero_shot``). Twemoji, another artist's, are the static tests. The first test is an exception
    to the rule that no emoji is on both sides: what is asked is whether a model still knows what it
    once learned, and how far ahead it does. Captions are of today, for all snapshots.

    Parameters
    ----------
    data
        ``emoji``, or a folder with the official layouts, see ``docs/tic_data.md``.
    protocol
        ``budget``: the same compute for each period, whatever a method trains on.
    recipe
        ``paper``, or ``cpu``, a small CLIP for small images.
    scale
        Which of the paper's: ``yfcc``, ``redcaps``, ``datacomp-m``, ``datacomp-l`` or
        ``datacomp-xl``.
    model
        What is trained: ``clip_small``, ``clip_vit_b16`` or ``clip_vit_b32``.
    weights
        A file with the weights that it starts from.
    splits
        Emoji: deal all drawings into so many parts at random, which come one after the other with
        the same compute in all: what is lost by learning in parts alone (appendix D).
    captions
        Emoji: ``all``, or ``basic``, which learns from captions of more than two words and five
        letters, as the paper's basic filter has it.
    """
    if protocol not in BUDGETED:
        raise unknown("protocol", protocol, BUDGETED, "onward list benchmarks")
    recipes = recipes_of(scale, model, weights)
    if recipe not in recipes:
        raise unknown("recipe", recipe, recipes, "onward list benchmarks")
    if data != "emoji":
        raise unknown("data of tic", data, ["emoji"], "onward list data")
    if captions not in _FILTERS:
        raise unknown("filter of captions", captions, _FILTERS, "docs/tic.md")
    if splits is not None:
        if splits < 1:
            raise OnwardError(f"expected 1 or more splits, found {splits}")
        recipes = {name: in_parts(each, _SNAPSHOTS, splits) for name, each in recipes.items()}
    cut = partial(cut_emoji, keeps=_FILTERS[captions])
    raw = load_tic_emoji()
    limits = {"macs": float(macs_of_a_period(recipes[recipe]))}
    return Benchmark(
        name="tic",
        data="emoji",
        card=Card(
            title="TiC-CLIP, emoji edition",
            summary=LISTED.summary,
            licence="art Apache-2.0 (Noto), second artist CC-BY-4.0 (Twemoji)",
            citation="Garg et al., TiC-CLIP, ICLR 2024",
            numbers=_counts(raw),
        ),
        task=ImageText(),
        protocol=replace(BUDGETED[protocol], limits=limits),
        raw=raw,
        prepare=with_pairs,
        cut=cut if splits is None else partial(cut_at_random, cut, splits),
        recipes=recipes,
        recipe=recipe,
        files=(FOLDER, cache_folder()),
        options=weights_option(weights)
        | ({} if splits is None else {"splits": splits})
        | ({} if captions == "all" else {"captions": captions}),
    )


def _counts(table: Table) -> dict[str, int]:
    kinds, counts = np.unique(table.values("kind"), return_counts=True)
    return {f"{kind}_rows": int(count) for kind, count in zip(kinds, counts, strict=True)}


def cut_emoji(
    table: Table, protocol: Protocol, seed: int, *, keeps: Callable[[str], bool]
) -> Stream:
    """Cut the emoji history into periods, one per snapshot, with their tests.

    Only pairs with a caption that `keeps` accepts are learned.
    """
    asked = _Asked(table, seed)
    kept = np.array([keeps(text) for text in table.columns.column("text").to_pylist()])
    snapshot, kind = table.values("snapshot"), table.values("kind")
    order = draws(Draws.ORDER, seed).permutation(len(table))
    days = table.values("time").astype("datetime64[D]")
    periods, last = [], int(snapshot.max())
    for number in range(last + 1):
        here = (snapshot == number) & (kind == PAIR)
        after = days[(snapshot == min(number + 1, last)) & (kind == PAIR)].max()
        start = days[here].min()
        learned = order[(here & kept & ~asked.unseen)[order]]
        known, rest = asked.pool(number, RENDERING, seen=True)
        new, _ = asked.pool(number, DRAWING, seen=False)
        periods.append(
            Period(
                index=number,
                name=str(start)[:7],
                start=start.item(),
                end=after.item(),
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
        seen, read = rng.permutation(len(images)), rng.permutation(len(images))
        rows = np.concatenate([images[seen], captions[read]])
        return Samples(
            rows, np.concatenate([_place_in(read)[seen], _place_in(seen)[read]])[:, None]
        )

    def retrieval_of_all(self) -> Samples:
        """Ask about 250 emoji, each as it was drawn in one of the snapshots."""
        rows = np.flatnonzero((self._kind == RENDERING) & ~self.unseen)
        shuffled = draws(Draws.ORDER, self._seed).permutation(rows)
        once = shuffled[np.sort(np.unique(self._code[shuffled], return_index=True)[1])]
        return self.retrieval(once[:_POOL])

    def zero_shot(self, images: Rows) -> Samples:
        """Ask each image for its class, among the prompts of all."""
        nothing = np.full(len(self._prompts), -1)
        answers = np.concatenate([self.labels[images], nothing])
        return Samples(np.concatenate([images, self._prompts]), answers[:, None])


def _place_in(order: Rows) -> Rows:
    """Return where each number stands in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
