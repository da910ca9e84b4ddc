"""Which samples belong to a time: TiC-DataComp's lists of ids, searched where they lie.

An id has 128 bits: hexadecimal letters where people read it, two unsigned 64-bit numbers in lists.
A year's list has up to two billion of them: it stays on disk, and is searched by halving.
"""

import tarfile
from pathlib import Path
from typing import IO, TypeGuard

import numpy as np
from numpy.typing import NDArray

from onward.binary_files import NPY_ERRORS
from onward.data.read_files import read_object
from onward.errors import OnwardError
from onward.types import Array, Rows

UID = np.dtype("u8,u8")
_AT_ONCE = 1 << 20
_SHOWN = 40
_HEXADECIMAL = frozenset("0123456789abcdef")


def uids_of(texts: list[str]) -> Array:
    """Return ids as pairs of numbers.

    Examples
    --------
    >>> uids_of(["0000000000000001000000000000000a"]).tolist()
    [(1, 10)]
    """
    found = np.empty(len(texts), UID)
    for place, text in enumerate(texts):
        if not is_uid(text):
            raise ValueError(repr(text)[:_SHOWN])
        found[place] = int(text[:16], 16), int(text[16:32], 16)
    return found


def is_uid(text: object) -> TypeGuard[str]:
    """Whether something is an id in hexadecimal letters."""
    return isinstance(text, str) and len(text) == 32 and set(text) <= _HEXADECIMAL


def open_list(path: Path) -> Array:
    """Return the ids in a file of numpy's, which stays on disk."""
    with path.open("rb") as file:
        return _opened(file, path, 0, str(path))


def open_lists(path: Path) -> dict[str, Array]:
    """Return the lists inside a tar, by the names of the files without ``.npy``."""
    found = {}
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r:") as tar:
            members = [member for member in tar if member.name.endswith(".npy")]
            for member in members:
                name = Path(member.name).stem
                where = f"{member.name} of {path}"
                found[name] = _opened(file, path, member.offset_data, where)
    except tarfile.TarError as error:
        raise OnwardError(
            f"expected a tar with lists of ids in {path}, found one that is cut or damaged "
            f"({error}). Fetch it again"
        ) from error
    return found


def _opened(file: IO[bytes], path: Path, start: int, where: str) -> Array:
    """Map the list that begins at a place of a file into memory, once it is seen to be one."""
    file.seek(start)
    try:
        version = np.lib.format.read_magic(file)
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        shape, _, kind = read[version[0]](file)
    except NPY_ERRORS as error:
        raise OnwardError(
            f"expected a list of ids in {where}, found another kind of file ({error}). "
            "Fetch it again"
        ) from error
    if kind != UID or len(shape) != 1:
        raise OnwardError(
            f"expected a list of ids, pairs of 64-bit numbers (u8,u8), in {where}, found "
            f"{kind} of the shape {shape}. Fetch it again"
        )
    if not shape[0]:
        return np.empty(0, UID)
    try:
        listed = np.memmap(path, UID, "r", file.tell(), shape)
    except NPY_ERRORS as error:
        raise OnwardError(
            f"expected {shape[0]:,} ids in {where}, found a file that is cut. Fetch it again"
        ) from error
    place = _unsorted_at(listed)
    if place is not None:
        raise OnwardError(
            f"expected sorted ids in {where}, found number {place:,} smaller than the one before "
            "it: halving would not find samples. Sort it with numpy.sort, or fetch it again"
        )
    return listed


def _unsorted_at(listed: Array) -> int | None:
    for start in range(0, len(listed), _AT_ONCE):
        # One more, so that the border between two parts is looked at too.
        part = np.asarray(listed[start : start + _AT_ONCE + 1])
        high, low = part["f0"], part["f1"]
        falls = (high[1:] < high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] < low[:-1]))
        if falls.any():
            return start + 1 + int(np.argmax(falls))
    return None


def places_in(listed: Array, wanted: Array) -> Rows:
    """Return where each id is in a sorted list, -1 if nowhere. Only a few places of it are read.

    Examples
    --------
    >>> some = np.array([(1, 5), (1, 7), (3, 0)], UID)
    >>> places_in(some, np.array([(1, 7), (1, 6), (3, 0), (9, 9)], UID)).tolist()
    [1, -1, 2, -1]
    """
    if not len(listed):
        return np.full(len(wanted), -1)
    below = np.zeros(len(wanted), np.int64)
    above = np.full(len(wanted), len(listed), np.int64)
    high, low = wanted["f0"], wanted["f1"]
    for _ in range(len(listed).bit_length()):
        middle = np.minimum((below + above) // 2, len(listed) - 1)
        here = listed[middle]
        less = (here["f0"] < high) | ((here["f0"] == high) & (here["f1"] < low))
        between = below < above
        below = np.where(between & less, middle + 1, below)
        above = np.where(between & ~less, middle, above)
    inside = np.minimum(below, len(listed) - 1)
    return np.where((below < len(listed)) & (listed[inside] == wanted), below, -1)


def listed_in(listed: Array, wanted: Array) -> NDArray[np.bool_]:
    """Return for each id whether it is in a sorted list."""
    return places_in(listed, wanted) >= 0


def year_lists(path: Path) -> dict[str, Array]:
    """Return sorted ids by year out of ``year2uids.json``."""
    found = read_object(path, "ids by year")
    try:
        return {year: np.sort(uids_of(ids)) for year, ids in found.items()}
    except (TypeError, ValueError) as error:
        raise _no_ids(path, "by year", error) from error


def class_lists(path: Path) -> dict[str, tuple[Array, Array, tuple[str, ...]]]:
    """Return sorted ids by year, the number of each one's class, and the classes in order.

    Out of ``tic-datacompnet_year2uids.json``; classes are WordNet's synsets, in the order of
    ImageNet, which is their own.
    """
    found = read_object(path, "ids by year and class")
    try:
        synsets = tuple(sorted({name for year in found.values() for name in year}))
        number = {name: place for place, name in enumerate(synsets)}
        lists = {}
        for year, classes in found.items():
            ids = uids_of([uid for listed in classes.values() for uid in listed])
            label = [number[name] for name, listed in classes.items() for _ in listed]
            order = np.argsort(ids, kind="stable")
            lists[year] = (ids[order], np.array(label, np.int64)[order], synsets)
    except (TypeError, ValueError, AttributeError) as error:
        raise _no_ids(path, "by year and class", error) from error
    return lists


def _no_ids(path: Path, how: str, error: Exception) -> OnwardError:
    found = str(error) if isinstance(error, ValueError) else "another kind of JSON"
    return OnwardError(
        f"expected ids of 32 hexadecimal letters {how} in {path}, found {found}. Fetch it again"
    )
