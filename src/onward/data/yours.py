"""A table of yours as samples, by the rules of ``docs/howto/your_data.md``.

Rows are counted from 0, without a header.
"""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onward.data.gaps import require_choice
from onward.data.hashing import Hashes, hash_texts, mix_in
from onward.data.yours_columns import Columns, kinds_of, resolve, texts
from onward.data.yours_features import IMAGE, Kinds, feature_arrays
from onward.data.yours_files import read_file
from onward.data.yours_images import DRAWING, image_parts
from onward.data.yours_labels import read_labels
from onward.data.yours_rows import complete_rows, content_hashes, each_once
from onward.data.yours_times import TimeColumn, read_times
from onward.types import Table


@dataclass(frozen=True, eq=False)
class YourData:
    """What was read and how it was understood.

    ``table`` has ``id``, ``time``, ``label`` (null where there is none), ``group``, and the wide
    columns ``image``, ``numbers``, ``embedding`` and ``words`` as there are any. ``kinds`` says how
    the feature columns become numbers, ``ignored`` which columns have no part, ``rows`` how many
    there were and ``left_out`` how many of them are not learned or tested, by reason. ``missing``
    has the images that are not there, if their rows were left out.
    """

    table: Table
    columns: Columns
    kinds: Kinds
    ignored: tuple[str, ...]
    format: str
    times: TimeColumn
    rows: int
    left_out: dict[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def read_yours(
    path: Path,
    columns: Columns,
    *,
    raw_images: bool,
    size: int,
    missing: str,
    day_first: bool | None,
    text_width: int,
) -> YourData:
    """Read a table and turn its rows into samples.

    Parameters
    ----------
    path
        What `onward.data.yours_files.read_file` reads.
    columns
        Which column is what.
    raw_images
        Whether images are wanted at their `size`; hand-made features have a size of their own.
    size
        Side of raw images.
    missing
        Whether to ``stop`` at rows without a time and images that are not there, or to ``skip``
        such rows and count them.
    day_first
        How 03/04/2020 is meant, where the column of times does not say.
    text_width
        How many columns the words of texts share.
    """
    require_choice(missing, "docs/howto/your_data.md")
    file = read_file(path, columns.as_texts)
    columns, rows = resolve(file, columns, path), file.rows
    kinds = kinds_of(file, columns)
    times = read_times(rows.column(columns.time), str(columns.time), day_first=day_first)
    if file.photos:
        sources = pc.value_counts(rows.column("time_from")).to_pylist()
        times = replace(times, formats={source["values"]: source["counts"] for source in sources})
    labels = read_labels(rows.column(columns.label), str(columns.label))
    groups, ids = texts(rows, columns.group), texts(rows, columns.id)
    wide = feature_arrays(rows, kinds, times.values, text_width)
    images = None
    if columns.image is not None:
        images = image_parts(rows.column(columns.image), columns.image, file.root)
    content = content_hashes(times.values, {"label": labels, "group": groups}, wide, images)
    kept, left_out, gone = complete_rows(times.values, images, missing, str(columns.time))
    if ids is not None:
        kept, repeated = each_once(ids, content, kept, str(columns.id))
        if repeated:
            left_out["identical to an earlier row with the same id"] = repeated
    whole = len(kept) == rows.num_rows
    chosen = pa.array(kept)
    samples = pa.table(
        {
            "id": chosen if ids is None else ids.take(chosen),
            "time": pa.array(times.values[kept], pa.timestamp("us", tz="UTC")),
            "label": labels if whole else labels.take(chosen),
            "group": _groups(groups, content).take(chosen),
        }
    )
    arrays: dict[str, Any] = {name: a if whole else a[kept] for name, a in wide.items()}
    # Each row's hash covers all that it says, so these name the content without a second reading.
    named = content[kept] if ids is None else mix_in(content[kept], hash_texts(samples["id"]))
    digest = _named(hashlib.sha256(named.tobytes()).hexdigest(), columns, kinds)
    if images is not None:
        arrays[IMAGE] = images.images(kept, size if raw_images else DRAWING)
        digest = _named(digest, arrays[IMAGE].content, arrays[IMAGE].size)
    if samples.column("label").null_count:
        left_out["without a label (kept, unlabelled)"] = samples.column("label").null_count
    used = columns.taken | {*kinds.numbers, *kinds.embeddings, *kinds.words}
    return YourData(
        table=Table(samples, arrays, digest),
        columns=columns,
        kinds=kinds,
        ignored=tuple(name for name in rows.column_names if name not in used and not file.photos),
        format=file.format,
        times=times,
        rows=rows.num_rows,
        left_out=left_out,
        missing=gone,
    )


def _groups(groups: pa.ChunkedArray | None, content: Hashes) -> Any:
    """Return what is kept together: the group, or for a sample without one what it says.

    So a row that is there twice is on one side of a split.
    """
    own = pa.array(content)
    if groups is None:
        return own
    return groups if not groups.null_count else pc.coalesce(groups, own.cast(pa.string()))


def _named(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
