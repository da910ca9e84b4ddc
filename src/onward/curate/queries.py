"""Concepts as queries: what a CLIP makes of their texts, or what somebody has computed."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onward.binary_files import load_npy
from onward.curate.concepts import Concepts, read_concepts
from onward.curate.known_clip import known_clip, require_same_model
from onward.curate.nearest import require_queries, require_width
from onward.errors import OnwardError
from onward.files import file_digest
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.table import Array

if TYPE_CHECKING:
    from onward.models.clip import Clip

PACKAGED = ("clear10",)
"""Concepts that come with Onward, by name."""


def find_concepts(name: str) -> Concepts:
    """Read a file of concepts, or packaged ones by their name."""
    if Path(name).is_file():
        return read_concepts(Path(name))
    if name not in PACKAGED:
        raise OnwardError(
            f"expected a file of concepts, or {' or '.join(PACKAGED)}, found no file at {name}"
        )
    held = resources.files("onward.curate").joinpath(f"{name}.json")
    with resources.as_file(held) as path:
        return read_concepts(path)


def wanted_queries(
    concepts: Concepts,
    source: Path | tuple[str, Path | None, str | None],
    *,
    width: int,
    of_store: Mapping[str, Any] | None,
    sub_queries: bool,
) -> tuple[Array, Any]:
    """Return the queries of concepts, and what tells them from others, as JSON holds it.

    Parameters
    ----------
    source
        A .npy file with one row per concept, or model, weights and tag of `known_clip`.
    width
        Of the store's directions.
    of_store
        The model that the store was made with, if that is known.
    sub_queries
        See `text_queries`.
    """
    if isinstance(source, Path):
        asked = given_queries(source, concepts)
        by: Any = f"sha256 {file_digest(source)[:16]}"
    else:
        model = known_clip(*source)
        require_same_model(of_store, model.identity)
        asked, by = text_queries(model.clip, concepts, sub_queries=sub_queries), model.identity
    require_width(asked.shape[2], width)
    return asked, by


def text_queries(clip: "Clip", concepts: Concepts, *, sub_queries: bool = False) -> Array:
    """Return the queries of concepts (concept, one or more, width), each of length one.

    Parameters
    ----------
    sub_queries
        Whether each narrower text of a concept is a query of its own, where it has some: an image
        then scores as high as the best of them. Otherwise its prompts are averaged to one query.
    """
    asked = [
        _lines(one.sub_queries)
        if sub_queries and one.sub_queries
        else ["\n".join(_lines(one.prompts))]
        for one in concepts.found
    ]
    found = iter(text_directions(clip, [text for texts in asked for text in texts]))
    each = [[next(found) for _ in texts] for texts in asked]
    most = max(map(len, each))
    # The same one again changes no maximum.
    return np.stack([np.stack([*one, *[one[0]] * (most - len(one))]) for one in each])


def given_queries(path: Path, concepts: Concepts) -> Array:
    """Read one query per concept from a .npy file, in the order of the concepts."""
    held = load_npy(path, "an array of queries in", "Write it again with numpy.save")
    asked = require_queries(held, str(path))
    if len(asked) != len(concepts.found):
        raise OnwardError(
            f"expected one row in {path} for each of the {len(concepts.found)} concepts, found "
            f"{len(asked)}"
        )
    lengths = np.linalg.norm(asked, axis=1, keepdims=True)
    if not lengths.all():
        row = int(np.flatnonzero(lengths == 0)[0])
        raise OnwardError(
            f"expected queries that point somewhere, found zeros in row {row} of {path}, for "
            f"{concepts.found[row].name!r}"
        )
    return np.asarray(asked / lengths)[:, None]


def _lines(texts: Sequence[str]) -> list[str]:
    return [" ".join(text.split()) for text in texts]


def text_directions(clip: "Clip", texts: Sequence[str]) -> Array:
    """Return what a CLIP makes of texts, one row each, of length one."""
    import torch

    most = max(len(text.encode()) for text in texts)
    pairs = made_pairs(pair_type((*clip.side, 3), max(most, 1)), None, texts)
    found = clip.predict(torch.from_numpy(as_bytes(pairs)))[:, 1].double().cpu().numpy()
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))
