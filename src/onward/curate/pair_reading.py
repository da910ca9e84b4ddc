"""Pairs of URL and caption out of files, on one machine or on a worker of a cluster."""

import hashlib
import html
from collections.abc import Iterator
from itertools import accumulate

import polars as pl
import pyarrow.parquet as pq

from onward.curate.blocks import NO_JSON, STATUS, TOO_FEW, TOO_MANY, Faults, blocks
from onward.curate.metadata import Layout
from onward.curate.reading import NOT_FETCHED, Piece
from onward.curate.records import POOL

USUAL = {
    "id": ("uid", "id"),
    "url": ("url", "URL"),
    "caption": ("caption", "text", "TEXT"),
    "width": ("original_width", "width", "WIDTH"),
    "height": ("original_height", "height", "HEIGHT"),
    "page": ("page", "page_url"),
    "author": ("author", "creator"),
    "title": ("title",),
    "licence": ("licence", "license"),
    "licence_url": ("licence_url", "license_url"),
}
"""Under which names a pool of pairs may have what is wanted of it."""

NO_URL, NO_CAPTION = "no url", "no caption"
ENCODED = "url or caption in another encoding than UTF-8"
FAULTS = (NO_URL, NO_CAPTION, ENCODED, NOT_FETCHED, TOO_FEW, TOO_MANY, NO_JSON)
"""Why a row is no pair."""

_UNKNOWN = "\ufffd"
_ID = r"^[0-9a-f]{32}$"
_TAG = r"</?[A-Za-z!][^<>]*>"
_NOTHING = rf"^\s*((?:{_TAG}|&nbsp;|&#160;)\s*)*$"
_SIZES = ("width", "height")
TEXTS = tuple(name for name in POOL.names if name not in ("id", "time", "taken"))
READ = {
    **dict.fromkeys(("id", *TEXTS), pl.String),
    **dict.fromkeys(_SIZES, pl.Int32),
    "fault": pl.String,
}
"""A row as it was read: its own id where that has 32 hexadecimal digits, and what is wrong."""


def pool_frames(piece: Piece) -> Iterator[pl.LazyFrame]:
    """Yield the rows of a piece of a pool with `READ`, in their order."""
    for frame, faults in _frames(piece):
        yield _understood(frame, piece.layout)
        if faults:
            held = {"id": [one[0] for one in faults], "fault": [one[1] for one in faults]}
            yield _understood(pl.LazyFrame(held, {"id": pl.String, "fault": pl.String}), None)


def snapshot_frames(piece: Piece, month: int | None) -> Iterator[pl.LazyFrame]:
    """Yield ``url``, ``caption``, ``month`` and ``undecoded`` of the rows of a snapshot.

    The month is the number of months since 1970, null where a row's own is not understood.
    """
    for frame, _ in _frames(piece):
        texts = [pl.col(name).cast(pl.String) for name in ("url", "caption")]
        if month is None:
            day = pl.col("month").cast(pl.String).str.slice(0, 7).str.replace("_", "-") + "-01"
            read = day.str.to_date("%Y-%m-%d", strict=False)
            since = (read.dt.year().cast(pl.Int32) - 1970) * 12 + read.dt.month().cast(pl.Int32) - 1
        else:
            since = pl.lit(month, pl.Int32)
        held = frame.select(*texts, since.cast(pl.Int32).alias("month"))
        yield held.with_columns(undecoded().alias("undecoded"))


def hashed_id(url: str, caption: str) -> str:
    """Return the id of a pair that has none of its own: 128 bits of a hash.

    Examples
    --------
    >>> hashed_id("https://example.org/fox.jpg", "a fox")
    'ef6fda59cfa4b35d2b0fb9fe2c850ef7'
    """
    return hashlib.blake2b(f"{url}\n{caption}".encode(), digest_size=16).hexdigest()


def with_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Give every row an id, that of its own or a hash of its URL and caption."""
    bare = rows["id"].is_null()
    if not bare.any():
        return rows
    places = bare.arg_true()
    held = rows.select("url", "caption")[places]
    ids = [hashed_id(url, caption) for url, caption in held.iter_rows()]
    return rows.with_columns(rows["id"].scatter(places, pl.Series(ids, dtype=pl.String)))


def cleaned(captions: pl.Series) -> pl.Series:
    """Return captions without tags of HTML, with entities decoded, on one line.

    Examples
    --------
    >>> cleaned(pl.Series(["<b>fox</b> &amp; hare", "I <3 you"])).to_list()
    ['fox & hare', 'I <3 you']
    """
    marked = captions.str.contains(r"[<&\n\r\t]|^\s|\s$|  ").fill_null(value=False)
    if not marked.any():
        return captions
    places = marked.arg_true()
    held = captions.gather(places).str.replace_all(_TAG, " ")
    texts = [" ".join(html.unescape(text).split()) for text in held.to_list()]
    return captions.scatter(places, pl.Series(texts, dtype=pl.String))


def _frames(piece: Piece) -> Iterator[tuple[pl.LazyFrame, Faults]]:
    """Yield columns by the names that are ours."""
    layout = piece.layout
    wanted = {**layout.chosen, **({STATUS: STATUS} if layout.format == "img2dataset" else {})}
    if layout.kind == "parquet":
        # Polars' own reader is several times as fast as Arrow's batches.
        groups = pq.read_metadata(piece.source)
        sizes = [groups.row_group(number).num_rows for number in range(groups.num_row_groups)]
        starts = [0, *accumulate(sizes)]
        first, last = starts[piece.start], starts[piece.stop]
        rows = pl.scan_parquet(piece.source).slice(first, last - first)
        yield rows.select(pl.col(column).alias(name) for name, column in wanted.items()), []
        return
    held = None
    for texts, faults in blocks(piece.source, layout, piece.start, piece.stop):
        held = {name: pl.Series(values=column) for name, column in texts.items()}
        yield pl.LazyFrame(held), faults
    if held is None:
        # A file with nothing but the names of its columns.
        yield pl.LazyFrame(schema=dict.fromkeys(wanted, pl.String)), []


def _understood(frame: pl.LazyFrame, layout: Layout | None) -> pl.LazyFrame:
    names = frame.collect_schema().names()
    own = pl.col("id").cast(pl.String).str.to_lowercase()
    columns = [
        (pl.when(own.str.contains(_ID)).then(own) if layout is not None else pl.col("id"))
        if "id" in names
        else pl.lit(None, pl.String)
    ]
    for name in (*TEXTS, *_SIZES):
        kind = READ[name]
        held = pl.col(name) if name in names else pl.lit(None)
        columns.append(held.cast(kind, strict=False).alias(name))
    if layout is None:
        return frame.select(columns[0].alias("id"), *columns[1:], "fault")
    rules = [
        (pl.col("url").str.strip_chars().fill_null("") == "", NO_URL),
        (pl.col("caption").fill_null("").str.contains(_NOTHING), NO_CAPTION),
        (undecoded(), ENCODED),
    ]
    more = []
    if layout.format == "img2dataset":
        fetched = (pl.col(STATUS).cast(pl.String) == "success").fill_null(value=False)
        rules.insert(0, (pl.col(STATUS), NOT_FETCHED))
        more = [(~fetched).alias(STATUS)]
    reasons = [pl.when(broken).then(pl.lit(reason)) for broken, reason in rules]
    plain = frame.select(columns[0].alias("id"), *columns[1:], *more)
    return plain.select(*list(READ)[:-1], pl.coalesce(*reasons).alias("fault"))


def undecoded() -> pl.Expr:
    """Say of a row whether its texts were in another encoding: a mark stands for their bytes."""
    url, caption = (
        pl.col(name).str.contains(_UNKNOWN, literal=True) for name in ("url", "caption")
    )
    return (url | caption).fill_null(value=False)
