"""The emoji history: Google's emoji art as it was released from 2016 to 2025, embedded."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from onward.data.cache import cached
from onward.data.features import VERSION, hog_colour, on_white, standardise
from onward.data.images import ImageColumn, ImageStore
from onward.errors import OnwardError
from onward.files import file_digest, publish_folder
from onward.types import Array, Rows, Table

FOLDER = Path(__file__).parent / "emoji"
GROUPS = (
    "smileys",
    "people",
    "animals",
    "food",
    "travel",
    "activities",
    "objects",
    "symbols",
    "flags",
)
TWEMOJI = -1
_ON_WHITE = "on-white-1"


@cache
def card() -> dict[str, Any]:
    """Return the dataset card: sources, dates, licences, counts, rules and hashes."""
    found: dict[str, Any] = json.loads((FOLDER / "card.json").read_text())
    return found


@cache
def load_emoji() -> Table:
    """Return the history, one row per emoji and snapshot, and Twemoji as a second artist.

    Columns: ``id``, ``time``, ``label`` (one of `GROUPS`), ``group`` (the identity that must not
    straddle a split), ``snapshot`` (0 to 7; `TWEMOJI` for the second artist), ``name``,
    ``keywords``, ``subgroup``, ``change``, ``code``; and the wide column ``image``.
    """
    for name, file in card()["files"].items():
        expected = file["sha256"]
        found = file_digest(FOLDER / name)
        if found != expected:
            raise OnwardError(
                f"the embedded data file {name} is damaged (expected sha256 {expected[:12]}…, "
                f"found {found[:12]}…). Install onward again"
            )
    history = pq.read_table(FOLDER / "history.parquet")
    twemoji = pq.read_table(FOLDER / "twemoji.parquet")
    twemoji = twemoji.append_column(
        "snapshot", pa.array(np.full(len(twemoji), TWEMOJI), history.schema.field("snapshot").type)
    ).append_column("change", pa.nulls(len(twemoji), pa.string()))
    rows = pa.concat_tables([history, twemoji.select(history.column_names)])
    images = pa.concat_tables(
        [pq.read_table(FOLDER / name) for name in ("images.parquet", "twemoji_images.parquet")]
    )
    index = pc.index_in(rows.column("image"), images.column("key")).to_numpy().astype(np.int64)
    columns = rows.drop_columns(["image", "group"]).rename_columns(
        {"date": "time", "identity": "group"}
    )
    columns = columns.append_column("label", rows.column("group"))
    digest = str(card()["content_sha256"])
    store = ImageStore(images.column("webp").to_pylist(), digest)
    return Table(columns, {"image": ImageColumn(store, index)}, digest)


def captions(table: Table) -> list[str]:
    """Return the caption of every row, its name and what it stands for: fox. animal, face."""
    named = zip(*(table.columns.column(n).to_pylist() for n in ("name", "keywords")), strict=True)
    return [f"{name}. {', '.join(words)}" if words else name for name, words in named]


def release_days(table: Table) -> NDArray[np.datetime64]:
    """Return the day of every snapshot, which all its drawings have."""
    snapshots, first = np.unique(table.values("snapshot"), return_index=True)
    return table.values("time").astype("datetime64[D]")[first[snapshots >= 0]]


def group_numbers(labels: Array) -> Array:
    """Return which of `GROUPS` each label is."""
    index = {name: number for number, name in enumerate(GROUPS)}
    strangers = sorted({str(name) for name in labels if name not in index})
    if strangers:
        raise OnwardError(f"expected labels out of {', '.join(GROUPS)}, found {strangers[:3]}")
    return np.array([index[name] for name in labels], np.int64)


def with_features(table: Table, *, divide: bool = True) -> Table:
    """Give emoji their input: hand-made features on the scale of the unlabelled first snapshot.

    Each image is described by itself, so the cache holds nothing that was fitted; only the scale
    is, on snapshot 0, which comes before every labelled period.
    """
    distinct, index = distinct_images(table, VERSION, hog_colour)
    features = distinct[index]
    first = table.values("snapshot") == 0
    return table.with_input(standardise(features, features[first], divide=divide))


def with_images(table: Table) -> Table:
    """Give emoji their images as input: RGB bytes of 32 x 32 pixels, on white."""
    distinct, index = distinct_images(table)
    return table.with_input(distinct[index])


def as_rgb(images: Array) -> NDArray[np.uint8]:
    """Return images with transparency as RGB bytes, on white."""
    return np.asarray(np.round(on_white(images) * 255), np.uint8)


def drawings_of(table: Table) -> ImageColumn:
    """Return the column of drawings of an emoji table."""
    image = table.wide["image"]
    if not isinstance(image, ImageColumn):
        raise OnwardError("expected an emoji table with an image column, found another kind")
    return image


def distinct_images(
    table: Table, name: str = _ON_WHITE, describe: Callable[[Array], Array] = as_rgb
) -> tuple[Array, Rows]:
    """Return what each distinct image is described by, and which of them each row has.

    `describe` turns images as they are stored, with transparency, into it: by default, into RGB on
    white. `name` is what that is called in the cache.
    """
    image = drawings_of(table)
    distinct = cached(f"{name}-{image.store.digest[:16]}", lambda: describe(image.store.pixels))
    if image.noise is None:
        return distinct, image.index
    random = image.noise.shown
    index = np.where(random >= 0, len(distinct) + random, image.index)
    return np.concatenate([distinct, describe(image.noise.values)]), index


def publish_drawings(out: Path, fill: Callable[[Path], None]) -> None:
    """Fill a new or empty folder with what is drawn from emoji: it is there whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OnwardError(f"expected a new or an empty folder, found {out} in use. Choose another")

    def with_terms(draft: Path) -> None:
        fill(draft)
        # The artists' terms go where their drawings go.
        for path in FOLDER.glob("*.txt"):
            (draft / path.name).write_bytes(path.read_bytes())

    publish_folder(out, with_terms)
