"""The images of a stream that is exported: where each lies, what is known of it, where it goes."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onward.binary_files import parquet_tables
from onward.curate.images import Place, find_images
from onward.curate.licences import Licence, licence_of
from onward.curate.records import POOL, row_files
from onward.curate.written import csv_of
from onward.data.folder_images import opened_image
from onward.errors import OnwardError, first_few

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
GONE, BROKEN, UNSHAREABLE = "image is missing", "image cannot be decoded", "licence"


@dataclass(frozen=True)
class Exported:
    """One labelled image: ``bucket`` is its name in the dataset, ``pooled`` in the pool."""

    id: str
    bucket: int
    pooled: int
    label: str
    certainty: float
    row: Mapping[str, Any]
    place: Place

    @property
    def name(self) -> str:
        """Its file's name without the ending; of an id that can be none, a hash."""
        if _PLAIN.fullmatch(self.id):
            return self.id
        return f"id-{hashlib.blake2b(self.id.encode(), digest_size=10).hexdigest()}"

    @property
    def path(self) -> str:
        """Where its file goes in a part of the dataset."""
        return f"labeled_images/{self.bucket}/{self.label}/{self.name}.{self.place.kind}"

    @property
    def licence(self) -> Licence:
        """Under which terms it is to be had."""
        return licence_of(self.row["licence"], self.row["licence_url"])

    @property
    def fields(self) -> dict[str, Any]:
        """Its metadata, under the names of CLEAR's release."""
        return {
            "ID": self.id,
            "IMG_DIR": str(Path(self.path).parent),
            "IMG_PATH": self.path,
            "EXT": self.place.kind,
            **released_fields(self.row),
        }


def released_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a pool says of an image, under the names of CLEAR's release."""
    taken, uploaded = row["taken"], row["time"]
    return {
        "DATE_TAKEN": f"{taken:%Y-%m-%d %H:%M:%S}.0" if isinstance(taken, datetime) else None,
        "DATE_UPLOADED": int(uploaded.timestamp()) if uploaded is not None else None,
        "USER_ID": row["author"],
        "TITLE": row["title"],
        "DESCRIPTION": row["caption"],
        "PAGE_URL": row["page"],
        "DOWNLOAD_URL": row["url"],
        "LICENSE_NAME": row["licence"],
        "LICENSE_URL": row["licence_url"],
    }


def exported(
    labelled: pa.Table,
    pool: Path,
    images: Path,
    *,
    skip: bool = False,
    shareable: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Exported], list[tuple[str, str]]]:
    """Return the images to export, by bucket, class, time and id; and those left out, and why.

    Each image is decoded once. One that is missing or broken is an error, unless they are to be
    skipped. With `shareable`, images are left out that may not be handed on.

    Labelled buckets are named from 1, since 0 is where CLEAR has its unlabelled images: if the
    stream has labels in bucket 0, all names are one more than the numbers of the pool.
    """
    ids = labelled.column("id").to_pylist()
    rows = _pool_rows(pool, labelled)
    places = find_images(images, ids)
    buckets = labelled.column("bucket").to_pylist()
    shift = 1 if 0 in buckets else 0
    found, left_out = [], []
    for one in labelled.to_pylist():
        progress(1)
        name, bucket = one["id"], one["bucket"]
        if name not in places:
            left_out.append((name, GONE))
            continue
        made = Exported(
            name, bucket + shift, bucket, one["concept"], one["certainty"], rows[name], places[name]
        )
        if shareable and not made.licence.shareable:
            left_out.append((name, f"{UNSHAREABLE}: {made.licence.problem}"))
        elif not _decodes(places[name]):
            left_out.append((name, BROKEN))
        else:
            found.append(made)
    bad = [(name, reason) for name, reason in left_out if reason in (GONE, BROKEN)]
    if bad and not skip:
        words = [f"{name} ({reason})" for name, reason in bad]
        raise OnwardError(
            f"expected {len(ids):,} images in {images}, found {len(bad):,} missing or broken: "
            f"{first_few(words)}. Fetch them again, or leave them out with --missing skip"
        )
    if not found:
        raise OnwardError(f"expected images to export in {images}, found none that can be")
    found.sort(key=lambda one: (one.bucket, one.label, one.row["time"], one.id))
    return found, left_out


def all_metadata(parts: Iterable[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and metadata of everything that is in some parts of a pool."""
    for part in parts:
        for table in parquet_tables(part, 20_000, POOL.names):
            for row in table.to_pylist():
                yield row["id"], {"ID": row["id"], **released_fields(row)}


def attribution(samples: Sequence[Exported], paths: Mapping[str, str]) -> bytes:
    """Return a CSV that says for each image whose it is, and under which terms."""
    told = ("author", "title", "page", "url")
    rows = [
        (
            one.id,
            paths[one.id],
            *(one.row[name] or "" for name in told),
            one.row["licence"] or one.licence.name,
            one.row["licence_url"] or "",
            one.licence.problem,
        )
        for one in samples
    ]
    return csv_of([("id", "path", *told, "licence", "licence_url", "mind"), *rows])


def _pool_rows(pool: Path, labelled: pa.Table) -> dict[str, dict[str, Any]]:
    """Return what the pool says of these images; each part of it is read once, in pieces."""
    buckets = labelled.column("bucket")
    wanted = {
        bucket: labelled.filter(pc.equal(buckets, bucket)).column("id").combine_chunks()
        for bucket in set(buckets.to_pylist())
    }
    found: dict[str, dict[str, Any]] = {}
    for bucket, part in row_files(pool):
        if bucket in wanted:
            for table in parquet_tables(part, 100_000, POOL.names):
                here = table.filter(pc.is_in(table.column("id"), wanted[bucket]))
                found.update((row["id"], row) for row in here.to_pylist())
    strangers = [name for name in labelled.column("id").to_pylist() if name not in found]
    if strangers:
        raise OnwardError(
            f"expected every labelled image in {pool}, in its bucket, found nothing about "
            f"{first_few(strangers)}. Was the stream made from this pool?"
        )
    return found


def _decodes(place: Place) -> bool:
    try:
        with opened_image(place.read(), lambda: str(place.path)) as image:
            image.load()
    except (OnwardError, OSError):
        return False
    return True
