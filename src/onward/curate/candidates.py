"""The verb ``retrieve`` as a function: from a store and concepts to a folder of candidates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onward.curate.choose import Wanted
from onward.curate.concepts import Concepts, write_concepts
from onward.curate.queries import wanted_queries
from onward.curate.retrieve import buckets_searched, retrieve
from onward.curate.stage import making, open_stage
from onward.curate.store import Store
from onward.curate.watching import Watch, unwatched


@dataclass(frozen=True)
class Search:
    """How candidates are searched for.

    Parameters
    ----------
    by
        A .npy file with one query per concept, or model, weights and tag of a CLIP, see
        `onward.curate.queries.wanted_queries`.
    top, background
        See `onward.curate.choose.Wanted`.
    sub_queries
        Whether each narrower text is a query of its own.
    skip
        Buckets that are left alone.
    """

    by: Path | tuple[str, Path | None, str | None]
    top: int = 600
    background: int = 60
    sub_queries: bool = False
    skip: Sequence[int] = ()


def make_candidates(
    store: Path,
    concepts: Concepts,
    out: Path,
    search: Search,
    *,
    progress: Watch = unwatched,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Find candidates, or return what was counted when they were found.

    Parameters
    ----------
    store
        A folder of ``onward curate embed``, or one .npy file of directions.
    concepts
        What is looked for.
    out
        Where to.
    search
        How.
    progress, on_wait
        What shows progress; called if another process is at work on the same folder.
    """
    stage = open_stage(store, "embed") if store.is_dir() else None
    held = Store.open(store)
    asked, by = wanted_queries(
        concepts,
        search.by,
        width=held.width,
        of_store=None if stage is None else stage.options.get("model"),
        sub_queries=search.sub_queries,
    )
    skip = sorted(set(search.skip))
    buckets_searched(held, skip)  # what is wrong with them is said before anything is begun
    options = {
        "store": stage.digest if stage else f"{store.stat().st_size} {store.stat().st_mtime_ns}",
        "concepts": write_concepts(concepts).decode(),
        "queries": by,
        "sub_queries": search.sub_queries,
        "top": search.top,
        "background": search.background,
        "skip": skip,
    }
    with making(out, "retrieve", options, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        wanted = Wanted(concepts, asked, search.top, search.background, skip)
        with progress(len(held), "images", "scanned") as watch:
            return made.finish(retrieve(held, wanted, out, watch))
