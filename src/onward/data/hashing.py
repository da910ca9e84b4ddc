"""64-bit hashes of millions of values at once, the same on every machine and in every version."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onward.types import Array

Hashes = NDArray[np.uint64]

# A text is a polynomial in an odd number, whose powers can be inverted modulo 2**64: one running
# sum over all bytes then gives every text's own value as a difference of two entries.
BASE = 0x9E3779B97F4A7C15
_BLOCK = 1 << 20
_ROWS = 1 << 14


def hash_texts(texts: pa.Array | pa.ChunkedArray) -> Hashes:
    """Hash texts or bytes; a null counts as an empty one.

    Examples
    --------
    >>> one, other, same = hash_texts(pa.array(["cat", "act", "cat"])).tolist()
    >>> one == same != other
    True
    """
    whole = texts.cast(pa.large_binary())
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.combine_chunks()
    if not len(whole):
        return np.zeros(0, np.uint64)
    offsets = np.frombuffer(whole.buffers()[1], np.int64)[whole.offset :][: len(whole) + 1]
    content = whole.buffers()[2]
    letters = np.frombuffer(content, np.uint8) if content else np.zeros(0, np.uint8)
    hashes = np.empty(len(whole), np.uint64)
    first = 0
    while first < len(whole):
        last = max(
            int(np.searchsorted(offsets, offsets[first] + _BLOCK, side="right")) - 1, first + 1
        )
        hashes[first:last] = _polynomials(letters, offsets[first : last + 1])
        first = last
    lengths = np.diff(offsets).astype(np.uint64)
    lengths[np.asarray(whole.is_null())] = 0
    return mix(hashes + lengths * np.uint64(BASE))


def hash_numbers(values: Array) -> Hashes:
    """Hash the rows of an array of numbers, bit by bit; minus zero is zero.

    Examples
    --------
    >>> one, other, same = hash_numbers(np.array([[1, 2], [2, 1], [1, 2]])).tolist()
    >>> one == same != other
    True
    """
    table = values.reshape(len(values), -1)
    hashes = np.zeros(len(table), np.uint64)
    # A few rows at a time: what stays in the processor's cache is not fetched for every column.
    for start in range(0, len(table), _ROWS):
        rows, here = table[start : start + _ROWS], hashes[start : start + _ROWS]
        for column in range(table.shape[1]):
            plain = rows[:, column].astype(np.float64) + 0.0
            here[:] = mix_in(here, plain.view(np.uint64))
    return hashes


def hash_rows(content: NDArray[np.uint8]) -> Hashes:
    """Hash the rows of a table of bytes whose width is a multiple of eight.

    A sum of products with odd numbers, which notices every change of a single word.

    Examples
    --------
    >>> one, other, same = hash_rows(np.eye(2, 16, dtype=np.uint8)[[0, 1, 0]]).tolist()
    >>> one == same != other
    True
    """
    words = content.view(np.uint64)
    factors = mix(np.arange(1, words.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    return mix(np.einsum("ij,j->i", words, factors))


def mix_in(hashes: Hashes, more: Hashes) -> Hashes:
    """Combine two hashes of each row, in this order."""
    return mix(mix(hashes + np.uint64(BASE)) ^ more)


def mix(hashes: Hashes) -> Hashes:
    """Spread every bit over all others (the finaliser of splitmix64)."""
    mixed = hashes ^ (hashes >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.asarray(mixed, np.uint64)


def _polynomials(letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Hashes:
    begin, end = int(offsets[0]), int(offsets[-1])
    powers = _powers(BASE, end - begin)
    running = np.zeros(end - begin + 1, np.uint64)
    # Plus one, so that a leading zero byte counts.
    np.cumsum((letters[begin:end].astype(np.uint64) + np.uint64(1)) * powers, out=running[1:])
    places = offsets - begin
    inverse = _powers(pow(BASE, -1, 1 << 64), end - begin + 1)[places[:-1]]
    return (running[places[1:]] - running[places[:-1]]) * inverse


def _powers(base: int, count: int) -> Hashes:
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)
