"""CLAD's sets: from annotation tables to the stream of objects and to the four domains of images.

Pure functions of tables. What the released codes and the paper say differently is decided here:
the size filter is a share of the frame, so that frames of any size can be read; objects whose field
``occluded`` is 0 are dropped, as both released codes do, although the paper says that occluded ones
are; CLAD-C's validation takes from the annotation file ``train`` what the challenge's code takes.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onward.data.soda import Soda, Split, values
from onward.data.soda_words import CATEGORIES
from onward.errors import OnwardError
from onward.types import Rows

# Six days and nights in order; each is one period of CLAD-C.
DAYS_AND_NIGHTS = (
    (date(2019, 11, 11), "Daytime"),
    (date(2019, 11, 11), "Night"),
    (date(2019, 11, 17), "Daytime"),
    (date(2019, 11, 17), "Night"),
    (date(2019, 11, 20), "Daytime"),
    (date(2019, 11, 21), "Night"),
)
_FRAME_AREA = 1920 * 1080
# Cyclists of two moments were added to the validation set, and every tricycle.
_CYCLISTS_AT = (datetime(2018, 10, 15, 15, 20, 30), datetime(2018, 10, 15, 16, 0, 0))
_IN_IMAGES = ("path", "width", "height", "city", "location", "period", "weather", "time", "video")


class Domain(NamedTuple):
    """One domain of CLAD-D: which annotation file it is trained on, and which images are its."""

    name: str
    split: str
    trained: Mapping[str, tuple[str, ...]]
    tested: Mapping[str, tuple[str, ...]]


_HIGHWAY = {"location": ("Highway",), "period": ("Daytime",), "weather": ("Clear", "Overcast")}
_NIGHT = {"period": ("Night",)}
_RAIN = {"period": ("Daytime",), "weather": ("Rainy",)}
DOMAINS_OF_IMAGES = (
    Domain(
        "city",
        "train",
        {
            "city": ("Shanghai",),
            "location": ("Citystreet",),
            "period": ("Daytime",),
            "weather": ("Clear",),
        },
        {
            "location": ("Citystreet", "Countryroad"),
            "period": ("Daytime",),
            "weather": ("Clear", "Overcast"),
        },
    ),
    Domain("highway", "val", _HIGHWAY, _HIGHWAY),
    Domain("night", "val", _NIGHT, _NIGHT),
    Domain("rain", "val", _RAIN, _RAIN),
)


def clad_c(soda: Soda, *, min_area: float = 1024, drop_occluded: int | None = 0) -> pa.Table:
    """Return CLAD-C's objects: six training sets in the published order, validation, test.

    Columns: ``id``, ``set`` (``train``, ``validation``, ``test``), ``number`` (0 to 5 in training,
    the place in `DAYS_AND_NIGHTS`; -1 elsewhere), ``label``, ``category`` (1 to 6), ``x``, ``y``,
    ``w``, ``h`` in pixels, and of its image ``path`` (below ``soda.folder``), ``width``,
    ``height``, ``city``, ``location``, ``period``, ``weather``, ``time`` and ``video``.

    Parameters
    ----------
    soda
        What `read_soda` returned.
    min_area
        Smaller objects are dropped: pixels of a frame of 1920 x 1080; of frames of another size,
        the same share.
    drop_occluded
        Objects whose field ``occluded`` has this value are dropped; ``None`` keeps all.
    """
    for split in soda.splits:
        _require_times(split)
    train, val, test = (_kept(split, min_area, drop_occluded) for split in soda.splits)
    days, periods = values(val, "time").astype("datetime64[D]"), values(val, "period")
    parts = []
    for number, (day, period) in enumerate(DAYS_AND_NIGHTS):
        rows = np.flatnonzero((days == np.datetime64(day)) & (periods == period))
        parts.append(_as_set(val.take(rows[published_order(val.take(rows))]), "train", number))
    trained = np.isin(days, np.array([day for day, _ in DAYS_AND_NIGHTS[:5]], "datetime64[D]"))
    last_day, last_period = DAYS_AND_NIGHTS[-1]
    trained |= (days == np.datetime64(last_day)) & (periods == last_period)
    parts.append(_as_set(val.take(np.flatnonzero(~trained)), "validation"))
    category = values(train, "category")
    moments = np.isin(values(train, "time"), np.array(_CYCLISTS_AT, "datetime64[s]"))
    added = (category == 6) | ((category == 2) & moments)
    parts.append(_as_set(train.take(np.flatnonzero(added)), "validation"))
    parts.append(_as_set(test, "test"))
    return pa.concat_tables(parts).drop_columns(["sequence"])


def published_order(objects: pa.Table) -> Rows:
    """Return rows by time, then video, then frame; of one frame in the order of the annotations.

    Numbers of videos and frames are compared as texts, "10" before "9", as the release does.
    """
    kinds = {"sequence": "str", "video": "str", "time": "datetime64[s]"}
    return np.lexsort([values(objects, key).astype(kind) for key, kind in kinds.items()])


def clad_d(soda: Soda) -> pa.Table:
    """Return CLAD-D's images: four domains, each with training, validation and test.

    Images without a box are left out. The first nine tenths of a domain's images, in the order of
    the annotation file, are for training, the rest for validation. No object is left out.

    Columns: ``id``, ``set``, ``domain`` (0 to 3, the place in `DOMAINS_OF_IMAGES`), ``path`` (below
    ``soda.folder``), ``width``, ``height``, ``city``, ``location``, ``period``, ``weather``,
    ``time`` (null where there is none), ``video``, and one list per image: ``boxes`` (left, top,
    right, bottom), ``labels`` (categories 1 to 6) and ``iscrowd``.
    """
    parts = []
    for number, domain in enumerate(DOMAINS_OF_IMAGES):
        split = getattr(soda, domain.split)
        rows = _matching(split, domain.trained)
        cut = int(0.9 * len(rows))
        parts.append(_images(split, rows[:cut], "train", number))
        parts.append(_images(split, rows[cut:], "validation", number))
        parts.append(_images(soda.test, _matching(soda.test, domain.tested), "test", number))
    return pa.concat_tables(parts)


def _require_times(split: Split) -> None:
    without = split.images.column("time").null_count
    if without:
        raise OnwardError(
            f"expected a date and a time for every image of instance_{split.name}.json, found "
            f"{without} of {len(split.images)} without: CLAD-C follows time, and SODA10M's public "
            "files have none. Copy the time annotations of CLAD's authors "
            "(github.com/VerwimpEli/CLAD) over the folder annotations"
        )


def _kept(split: Split, min_area: float, drop_occluded: int | None) -> pa.Table:
    """Return the objects that are large enough and not hidden, beside what their image says."""
    objects = split.objects
    image = values(objects, "image")
    frame = (values(split.images, "width") * values(split.images, "height"))[image]
    kept = values(objects, "area") * _FRAME_AREA >= min_area * frame
    if drop_occluded is not None:
        if objects.column("occluded").null_count:
            raise OnwardError(
                f"expected a field occluded in every annotation of instance_{split.name}.json, "
                "found some without. Pass drop_occluded=None to keep all objects"
            )
        kept &= values(objects, "occluded") != drop_occluded
    rows = np.flatnonzero(kept)
    seen = split.images.take(image[rows])
    whole = objects.take(rows).select(["category", "x", "y", "w", "h"])
    numbers = objects.column("id").take(rows).cast(pa.string())
    whole = whole.add_column(0, "id", pc.binary_join_element_wise(split.name, numbers, "/"))
    names = [CATEGORIES[number] for number in values(whole, "category").tolist()]
    whole = whole.add_column(1, "label", pa.array(names, pa.string()))
    for name in (*_IN_IMAGES, "sequence"):
        whole = whole.append_column(name, seen.column(name))
    return whole


def _as_set(rows: pa.Table, name: str, number: int = -1) -> pa.Table:
    rows = rows.add_column(1, "set", pa.array([name] * len(rows), pa.string()))
    return rows.add_column(2, "number", pa.array([number] * len(rows), pa.int64()))


def _matching(split: Split, wanted: Mapping[str, tuple[str, ...]]) -> Rows:
    """Return the images with a box that match, in the order of the file."""
    right = np.zeros(len(split.images), bool)
    right[values(split.objects, "image")] = True
    for name, choices in wanted.items():
        right &= np.isin(values(split.images, name).astype("str"), choices)
    return np.flatnonzero(right)


def _images(split: Split, rows: Rows, name: str, domain: int) -> pa.Table:
    order = np.argsort(values(split.objects, "image"), kind="stable")
    image = values(split.objects, "image")[order]
    first, last = (np.searchsorted(image, rows, side=side) for side in ("left", "right"))
    mine = [order[a:b] for a, b in zip(first, last, strict=True)]
    x, y, w, h = (values(split.objects, column) for column in "xywh")
    boxes = np.stack([x, y, x + w, y + h], axis=1)
    category, crowd = (values(split.objects, column) for column in ("category", "crowd"))
    seen = split.images.take(rows)
    numbers = seen.column("id").cast(pa.string())
    return pa.table(
        {
            "id": pc.binary_join_element_wise(split.name, numbers, "/"),
            "set": pa.array([name] * len(rows), pa.string()),
            "domain": pa.array([domain] * len(rows), pa.int64()),
            **{column: seen.column(column) for column in _IN_IMAGES},
            "boxes": pa.array(
                [boxes[here].tolist() for here in mine], pa.list_(pa.list_(pa.float64(), 4))
            ),
            "labels": pa.array([category[here] for here in mine], pa.list_(pa.int64())),
            "iscrowd": pa.array([crowd[here] for here in mine], pa.list_(pa.bool_())),
        }
    )
