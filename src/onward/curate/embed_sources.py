"""Where a store's vectors come from: images and a model, or files of vectors."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onward.curate.embed import Part, embed
from onward.curate.embed_images import image_parts, images_digest
from onward.curate.given_vectors import given_digest, given_files, given_parts
from onward.curate.images import image_shards
from onward.curate.known_clip import KnownClip
from onward.curate.stage import POOLS, making, open_stage
from onward.errors import OnwardError


@dataclass(frozen=True, eq=False)
class Source:
    """What will be embedded: what tells it from others, and its parts."""

    options: Mapping[str, Any]
    parts: Callable[[], Iterator[Part]]


def embed_source(
    images: Path | None, embeddings: Path | None, ids: Path | None, model: KnownClip | None
) -> Source:
    """Return the source that someone means, or say what is missing.

    Parameters
    ----------
    images
        A folder of images, or of tar shards.
    embeddings
        Files of vectors, see `onward.curate.given_vectors`.
    ids
        The ids of one .npy file.
    model
        Looks at the images; of vectors it is the one that they are from, if that is known.
    """
    if (images is None) == (embeddings is None):
        raise OnwardError("expected --images or --embeddings, found both or neither")
    identity = None if model is None else model.identity
    if embeddings is not None:
        files = given_files(embeddings, ids)
        found = {"embeddings": str(embeddings), "found": given_digest(files), "model": identity}
        return Source(found, lambda: given_parts(files))
    assert images is not None
    if ids is not None:
        raise OnwardError("expected --ids with --embeddings, found it with --images")
    if model is None:
        raise OnwardError("expected --model with --images, such as ViT-B-32, found none")
    shards, clip = image_shards(images), model.clip
    found = {"images": str(images), "found": images_digest(shards), "model": identity}
    return Source(found, lambda: image_parts(clip, shards))


def make_store(
    source: Source,
    out: Path,
    pool: Path | None = None,
    *,
    watch: Callable[[int], None] = lambda rows: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Make a store, or go on with one; return what was counted.

    Parameters
    ----------
    source
        What is embedded.
    out
        Where to.
    pool
        A folder of ``onward curate pool``, which says in which bucket an id is.
    watch
        Called with the number of vectors of each part.
    on_wait
        Called if another process is at work on the same folder.
    """
    known = None if pool is None else open_stage(pool, *POOLS)
    options = {**source.options, "pool": known and known.digest}
    with making(out, "embed", options, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        return made.finish(embed(source.parts(), out, known, watch))
