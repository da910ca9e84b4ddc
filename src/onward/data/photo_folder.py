"""A folder of photos as a table: when each was taken, and what its folder is called.

The time is, in this order: a date in the file's name (``2021-03-04``, ``20210304_121314``,
``IMG_20210304``), the date in its EXIF data, a year and perhaps a month among the folders. The
label is the innermost folder that is no date.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath

import pyarrow as pa
from PIL import Image

from onward.data.folder_images import UNREADABLE

PHOTOS = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
_IN_NAME = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<mark>[-_.]?)(?P<month>\d\d)(?P=mark)(?P<day>\d\d)"
    r"(?:[-_ T]?(?P<hour>\d\d)[-_.:]?(?P<minute>\d\d)[-_.:]?(?P<second>\d\d)\d{0,3})?(?!\d)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE_FOLDER = re.compile(r"(?:19|20)\d\d(?:[-_.]?\d\d){0,2}|\d\d")
# EXIF: DateTimeOriginal, in its own directory; DateTime stands for the last change.
_EXIF_DIRECTORY, _TAKEN = 0x8769, 0x9003


def list_photos(folder: Path) -> pa.Table:
    """Return the photos below a folder: ``path``, ``time``, ``label`` and how the time was found.

    Nothing is decoded here: a photo that is damaged is found when it is read.
    """
    paths = sorted(_photos(folder))
    found = [_taken(folder, PurePosixPath(path)) for path in paths]
    return pa.table(
        {
            "path": pa.array(paths, pa.string()),
            "time": pa.array([time for time, _ in found], pa.timestamp("us")),
            "label": pa.array([_label(PurePosixPath(path)) for path in paths], pa.string()),
            "time_from": pa.array([source for _, source in found], pa.string()),
        }
    )


def date_in_name(name: str) -> datetime | None:
    """Return the time that a file's name tells, or None.

    Examples
    --------
    >>> date_in_name("IMG_20210304_121314.jpg").isoformat()
    '2021-03-04T12:13:14'
    >>> date_in_name("holiday 2021-03-04 (2).png").isoformat()
    '2021-03-04T00:00:00'
    >>> date_in_name("photo-20211340.jpg")
    """
    for match in _IN_NAME.finditer(name):
        day = [int(match[part]) for part in ("year", "month", "day")]
        clock = [int(match[part] or 0) for part in ("hour", "minute", "second")]
        # What follows a date may be a counter that is no time of day.
        for parts in ([*day, *clock], day):
            with contextlib.suppress(ValueError):
                return datetime(*parts)  # type: ignore[arg-type]
    return None


def _photos(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if Path(name).suffix.lower() in PHOTOS and not name.startswith("."):
                yield (Path(place) / name).relative_to(folder).as_posix()


def _taken(folder: Path, path: PurePosixPath) -> tuple[datetime | None, str]:
    named = date_in_name(path.name)
    if named is not None:
        return named, "file name"
    told = _exif(folder / path)
    if told is not None:
        return told, "EXIF"
    foldered = _date_of_folders(path.parts[:-1])
    return foldered, "none" if foldered is None else "folder"


def _exif(path: Path) -> datetime | None:
    try:
        with Image.open(path) as photo:
            text = photo.getexif().get_ifd(_EXIF_DIRECTORY).get(_TAKEN)
        return datetime.strptime(str(text).strip("\0 "), "%Y:%m:%d %H:%M:%S")
    except UNREADABLE:
        return None


def _date_of_folders(folders: tuple[str, ...]) -> datetime | None:
    """Return the date of folders such as ``2021``, ``2021/03``, ``2021/03/04`` or ``2021-03``."""
    for place, name in enumerate(folders):
        if date_in_name(name):
            return date_in_name(name)
        match = _YEAR.match(name)
        if not match or not _DATE_FOLDER.fullmatch(name):
            continue
        inner = [part for part in folders[place + 1 :] if re.fullmatch(r"\d\d", part)]
        numbers = [int(part) for part in (re.findall(r"\d\d", name)[2:] + inner)[:2]]
        month, day = (*numbers, 1, 1)[:2]
        try:
            return datetime(int(match[0]), month, day)
        except ValueError:
            return None
    return None


def _label(path: PurePosixPath) -> str | None:
    named = [name for name in path.parts[:-1] if not _DATE_FOLDER.fullmatch(name)]
    return named[-1] if named else None
