"""TiC-CLIP: keep a model of images and texts fresh, year after year, for the same compute.

Garg et al., TiC-CLIP: Continual Training of CLIP Models, ICLR 2024. Each period brings pairs of an
image and a text, and compute for so many steps. After each one, all periods are tested: does an
image find its text among those of that year, and a text its image? Does it find the words for its
class?

Why: Starting over is too expensive for large models; which way of going on is best for the same
compute?

Known problems: Captions of the emoji edition are of today for all releases; art hardly changes
between some of them.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from onward.benchmarks.listed import Listed
from onward.benchmarks.parts import HASHED, content_option, folder_of, unusual
from onward.benchmarks.tic_budget import EMOJI, tic_budget
from onward.benchmarks.tic_emoji import SNAPSHOTS, cut_at_random, cut_emoji
from onward.benchmarks.tic_filters import FILTERS
from onward.benchmarks.tic_recipes import (
    SCALES,
    USUAL_SCALE,
    in_parts,
    macs_of_a_period,
    recipes_of,
)
from onward.data.cache import cache_folder
from onward.data.emoji_history import FOLDER
from onward.data.tic_emoji import load_tic_emoji, with_pairs
from onward.data.tic_folder import TicData, is_tic, read_tic
from onward.data.tic_inspected import inspect_tic
from onward.errors import OnwardError, unknown
from onward.fit import ONE_LOOK, SECOND_LOOK
from onward.protocols import BUDGETED
from onward.tasks.image_text import ImageText
from onward.train.recipe import Recipe
from onward.types import Benchmark, Card, Protocol, Released, Stream, Table

_SUMMARY = "Does an image still find its text, and a text its image, as years go by?"
_CITATION = "Garg et al., TiC-CLIP, ICLR 2024"
_PICTURES = ("retrieval", "zero_shot", "static")
_SMALL_SIDE, _SIDE = 32, 224


def load(
    data: str,
    protocol: str,
    recipe: str = "cpu",
    *,
    scale: str = USUAL_SCALE,
    model: str | None = None,
    weights: str | None = None,
    splits: int | None = None,
    filtered: str | None = None,
    size: int | None = None,
    calendar: str | None = None,
    shards: str | None = None,
    validation: float | None = None,
    missing: str | None = None,
    leave_out: str | None = None,
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
        ``emoji``, or a folder with the official layouts, see ``docs/benchmarks/tic_data.md``.
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
    filtered
        Emoji: which pairs are learned from, ``all``, or those that a filter keeps: ``basic``, by
        captions, or ``bestpool``, by an older CLIP; see `onward.benchmarks.tic_filters`.
    size
        A folder: the side of images; by default 224, and 32 for the recipe ``cpu``.
    calendar, shards, validation, missing, leave_out
        A folder: see `onward.data.tic_folder.read_tic`.
    """
    recipes = recipes_of(scale, model, weights)
    of_emoji = unusual(load, splits=splits, filtered=filtered)
    of_folder = unusual(
        load,
        size=size,
        calendar=calendar,
        shards=shards,
        validation=None if validation is None else float(validation),
        missing=missing,
        leave_out=leave_out,
    )
    if data == "emoji":
        _refuse(of_folder, "the emoji edition", "a folder")
        made = _emoji(recipes, recipe, of_emoji)
    else:
        folder = folder_of("tic", data)
        _refuse(of_emoji, "a folder", "the emoji edition")
        made = _folder(data, folder, recipes, recipe, of_folder)
    limits = {"macs": float(macs_of_a_period(made.recipes[recipe]))}
    return replace(
        made,
        protocol=replace(BUDGETED[protocol], split=made.protocol.split, limits=limits),
        options={
            **made.options,
            **({} if recipe == "cpu" else unusual(load, scale=scale)),
            **content_option("weights", weights),
        },
    )


def _refuse(options: Mapping[str, Any], here: str, there: str) -> None:
    if options:
        raise OnwardError(
            f"expected no {', '.join(options)} for {here}: that is an option of {there}"
        )


def _emoji(recipes: Mapping[str, Recipe], recipe: str, options: Mapping[str, Any]) -> Benchmark:
    splits, filtered = options.get("splits"), options.get("filtered", "all")
    if filtered not in FILTERS:
        raise unknown("filter", filtered, FILTERS, "docs/benchmarks/tic_guide.md")
    if splits is not None:
        if splits < 1:
            raise OnwardError(f"expected 1 or more splits, found {splits}")
        recipes = {name: in_parts(each, SNAPSHOTS, splits) for name, each in recipes.items()}
    cut = partial(cut_emoji, keeps=FILTERS[filtered])
    raw = load_tic_emoji()
    kinds, counts = np.unique(raw.values("kind"), return_counts=True)
    return Benchmark(
        name="tic",
        data="emoji",
        card=Card(
            title="TiC-CLIP, emoji edition",
            summary=_SUMMARY,
            licence="art Apache-2.0 (Noto), second artist CC-BY-4.0 (Twemoji)",
            citation=_CITATION,
            numbers={f"{kind}_rows": int(n) for kind, n in zip(kinds, counts, strict=True)},
            pictures=_PICTURES,
        ),
        task=ImageText(),
        protocol=BUDGETED["budget"],
        raw=raw,
        prepare=with_pairs,
        cut=cut if splits is None else partial(cut_at_random, cut, splits),
        recipes=recipes,
        recipe=recipe,
        files=(FOLDER, cache_folder()),
        options={name: value for name, value in options.items() if value != "all"},
    )


def _folder(
    data: str,
    folder: Path,
    recipes: Mapping[str, Recipe],
    recipe: str,
    options: Mapping[str, Any],
) -> Benchmark:
    side = options.get("size", _SMALL_SIDE if recipe == "cpu" else _SIDE)
    read: dict[str, Any] = {name: value for name, value in options.items() if name != "size"}
    found = read_tic(folder, side=side, **read)
    return Benchmark(
        name="tic",
        # In the spec, where two people who compare their numbers look.
        data=f"{data}{found.without}",
        card=Card(
            title=f"TiC-CLIP, {found.layout}",
            summary=_SUMMARY,
            licence="as the data's owners say",
            citation=_CITATION,
            numbers={
                "rows": len(found.table),
                "gaps": list(found.gaps),
                "notes": list(found.notes),
            },
            pictures=_PICTURES,
        ),
        task=ImageText(),
        # Who is tested was decided by who released the data.
        protocol=replace(BUDGETED["budget"], split=Released(1)),
        raw=found.table,
        prepare=_pairs_as_inputs,
        cut=partial(_cut_folder, found),
        recipes=recipes,
        recipe=recipe,
        files=(*found.files, cache_folder()),
        options=_by_content(options, found.table.digest),
    )


def _by_content(options: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Return options as specs have them: it does not matter where files lie.

    The shards of a pool are known by the samples that were found in them.
    """
    found = {**options, **content_option("leave_out", options.get("leave_out"))}
    return found | {"shards": f"{HASHED}{digest[:16]}"} if "shards" in options else found


def _pairs_as_inputs(table: Table) -> Table:
    return table.with_input(table.wide["pair"])


def _cut_folder(found: TicData, table: Table, protocol: Protocol, seed: int) -> Stream:
    """Make the periods that a folder has; seeds change the order in which pairs are learned."""
    return Stream(table, found.periods)


LISTED = Listed(
    name="tic",
    load=load,
    summary=_SUMMARY,
    task=ImageText(),
    data=("emoji", "a folder with dated shards"),
    protocols=BUDGETED,
    # How much that is, the recipe says; so the protocol has no limit yet.
    lacks={SECOND_LOOK: ONE_LOOK},
    reads=is_tic,
    official=("tic", "TiC-CLIP's data"),
    inspect=inspect_tic,
    budgets={name: partial(tic_budget, name) for name in (EMOJI, *SCALES)},
)
