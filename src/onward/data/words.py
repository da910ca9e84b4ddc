"""Texts as numbers without a vocabulary: each word goes to a column that its hash names.

Nothing is fitted, so nothing can look ahead, and a word that nobody has seen yet has its place.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onward.data.hashing import hash_texts, mix_in

_AT_ONCE = 1 << 16


def bag_of_words(columns: Mapping[str, pa.ChunkedArray], width: int) -> NDArray[np.float32]:
    """Count the words of each row, with a hashed sign, and scale the counts to length 1.

    Words are runs of letters and digits, in small letters; the values of a categorical column
    (Arrow's dictionary type) count whole. The same word in two columns is two words. A row
    without words is all zeros.

    The columns that words share are a power of two.

    Examples
    --------
    >>> bag_of_words({"note": pa.chunked_array([["a cat", "A  CAT!", None]])}, 8).tolist()[0][0]
    0.0
    """
    rows = len(next(iter(columns.values())))
    bag = np.zeros((rows, width), np.float32)
    for name, column in columns.items():
        for start in range(0, rows, _AT_ONCE):
            words, owners = _words(column.slice(start, _AT_ONCE))
            salt = np.repeat(hash_texts(pa.array([name])), len(words))
            hashes = mix_in(salt, hash_texts(words))
            place = (hashes & np.uint64(width - 1)).astype(np.int64)
            sign = np.where(hashes >> np.uint64(63), -1.0, 1.0)
            part = bag[start : start + _AT_ONCE]
            counts = np.bincount(owners * width + place, sign, part.size)
            part += counts.reshape(part.shape).astype(np.float32)
    lengths = np.sqrt((bag**2).sum(1, keepdims=True))
    np.divide(bag, lengths, out=bag, where=lengths > 0)
    return bag


def _words(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return all words, and the row that each is from."""
    if pa.types.is_dictionary(column.type):
        whole = column.cast(pa.string()).combine_chunks()
        return whole.drop_null(), np.flatnonzero(np.asarray(whole.is_valid()))
    lowered = pc.utf8_lower(column.cast(pa.large_string())).combine_chunks()
    spaced = pc.replace_substring_regex(lowered, r"[^\pL\pN]+", " ")
    lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(spaced))
    words = pc.list_flatten(lists)
    kept = pc.not_equal(words, "")
    owners = pc.list_parent_indices(lists).filter(kept)
    return words.filter(kept), np.asarray(owners.to_numpy(zero_copy_only=False), np.int64)
