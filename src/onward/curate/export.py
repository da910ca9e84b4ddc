"""``onward curate export``: a labelled stream in CLEAR's layouts, as a table, with its papers."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from onward.binary_files import read_parquet
from onward.curate.card import card_of, readme
from onward.curate.clear_layout import Layout, write_all_metadata, write_layout
from onward.curate.concepts import CONCEPTS, read_concepts
from onward.curate.croissant import TABLE, croissant
from onward.curate.export_features import CLIP, HOG, drawn_features, stored_features
from onward.curate.exported import Exported, attribution, exported
from onward.curate.lineage import LINEAGE, lineage_of, write_lineage
from onward.curate.records import MOMENT
from onward.curate.stage import BEGUN, Stage, making, open_stage
from onward.curate.watching import Watch, unwatched
from onward.curate.written import csv_of, json_of, write_table
from onward.errors import OnwardError
from onward.files import write_atomic

Missing = Literal["stop", "skip"]
Licences = Literal["all", "shareable"]


def export(
    accepted: Path,
    pool: Path,
    images: Path,
    out: Path,
    *,
    layout: Layout = "old",
    features: Path | None = None,
    missing: Missing = "stop",
    licences: Licences = "all",
    all_metadata: bool = True,
    name: str | None = None,
    creator: str | None = None,
    url: str | None = None,
    price: float | None = None,
    progress: Watch = unwatched,
    on_wait: Callable[[], None] = lambda: None,
) -> Mapping[str, Any]:
    """Write a dataset; return what was counted.

    Parameters
    ----------
    accepted
        A folder of ``onward curate accept``.
    pool
        The folder of ``onward curate pool`` that it was made from.
    images
        Where the images lie: files, or tar shards.
    out
        Where to.
    layout
        ``old``: file lists and five 70/30 splits by the released rule; ``new``: a train and a test
        folder.
    features
        A folder of ``onward curate embed``: its directions become features of type ``clip``.
        Features of type ``hog``, made by hand, are always there.
    missing
        Whether images that are missing or broken ``stop`` the export, or are left out, ``skip``.
    licences
        Whether images are left out that may not be handed on: ``shareable``.
    all_metadata
        Whether the old layout gets the metadata of everything in the pool.
    name, creator, url
        Of the dataset, for its card.
    price
        Of a vote, for what it cost.
    progress, on_wait
        What shows progress; called if another process is at work on the same folder.
    """
    stage, source = open_stage(accepted, "accept"), open_stage(pool, "pool")
    stages = [source, *_stages_of(images, features), stage]
    title = name or out.resolve().name
    options = {
        "accepted": stage.digest,
        "pool": source.digest,
        "features": None if features is None else open_stage(features, "embed").digest,
        "layout": layout,
        "missing": missing,
        "licences": licences,
        "all_metadata": all_metadata,
        "name": title,
        "creator": creator,
        "url": url,
        "price": price,
    }
    with making(out, "export", options, on_wait=on_wait) as made:
        if made.finished is not None:
            return made.finished
        labelled = read_parquet(accepted / "labelled.parquet", fix="Accept again")
        if not labelled.num_rows:
            raise OnwardError(f"expected accepted images in {accepted}, found none")
        with progress(labelled.num_rows, "images", "checking") as step:
            samples, left_out = exported(
                labelled,
                pool,
                images,
                skip=missing == "skip",
                shareable=licences == "shareable",
                progress=step,
            )
        names = read_concepts(accepted / CONCEPTS)
        classes = _classes(samples, names.background)
        with progress(len(samples), "images", "describing") as step:
            vectors = {HOG: drawn_features(samples, step)}
        if features is not None:
            vectors[CLIP] = stored_features(samples, features)
        with progress(len(samples), "images", "writing") as step:
            paths = write_layout(out, samples, classes, vectors, layout, step)
        shift = samples[0].bucket - samples[0].pooled
        known = write_all_metadata(out, pool, shift) if all_metadata and layout == "old" else None
        lineage = lineage_of(*stages)
        card = card_of(title, samples, classes, lineage, left_out, price)
        card["all_metadata"] = known
        card["without_images"] = [one for one in names.names if one not in classes]
        _write_papers(out, samples, paths, card, layout, sorted(vectors), creator, url)
        write_lineage(out / LINEAGE, lineage)
        write_atomic(out / "left_out.csv", csv_of([("id", "reason"), *left_out]))
        # Each image was renamed when it was whole; this makes all of them durable at once.
        os.sync()
        counts = {key: card[key] for key in card if key not in ("stages", "mind", "name")}
        counts["mind"] = {why: found["images"] for why, found in card["mind"].items()}
        counts["layout"] = layout
        return made.finish(counts)


def _stages_of(images: Path, features: Path | None) -> list[Stage]:
    found = []
    if (images / BEGUN).is_file():
        found.append(open_stage(images, "fetch"))
    if features is not None:
        found.append(open_stage(features, "embed"))
    return found


def _classes(samples: Sequence[Exported], background: str) -> list[str]:
    """Return the classes that have images: the background first, then as texts are sorted."""
    return sorted({one.label for one in samples}, key=lambda name: (name != background, name))


def _write_papers(
    out: Path,
    samples: Sequence[Exported],
    paths: Mapping[str, str],
    card: Mapping[str, Any],
    layout: str,
    kinds: Sequence[str],
    creator: str | None,
    url: str | None,
) -> None:
    table = pa.table(
        {
            "id": [one.id for one in samples],
            "time": pa.array([one.row["time"] for one in samples], MOMENT),
            "label": [one.label for one in samples],
            "bucket": [one.bucket for one in samples],
            "path": [paths[one.id] for one in samples],
            "author": pa.array([one.row["author"] for one in samples], pa.string()),
            "licence": [one.licence.name for one in samples],
            "certainty": [one.certainty for one in samples],
        }
    )
    if layout == "new":
        side = pc.list_element(pc.split_pattern(table.column("path"), "/"), 0)
        table = table.append_column("part", side)
    write_table(out / TABLE, table)
    write_atomic(out / "attribution.csv", attribution(samples, paths))
    write_atomic(out / "card.json", json_of(card))
    write_atomic(out / "README.md", readme(card, layout, kinds).encode())
    today = datetime.now(UTC).date()
    described = croissant(out, card, samples, creator=creator, url=url, today=today)
    write_atomic(out / "croissant.json", json_of(described))
