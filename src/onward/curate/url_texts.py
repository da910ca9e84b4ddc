"""Texts in the encoding of URLs, as YFCC100M has them: millions at once."""

from urllib.parse import unquote_plus

import numpy as np
import pyarrow as pa

from onward.types import Array

_PERCENT = ord("%")
_BLANKS = bytes.maketrans(b"+", b" ")
_NO_DIGIT = 16
_DIGITS = np.full(256, _NO_DIGIT, np.uint8)
for _letters in (b"0123456789ABCDEF", b"0123456789abcdef"):
    _DIGITS[np.frombuffer(_letters, np.uint8)] = np.arange(16)


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts that were meant; bytes that are no text become question marks in diamonds.

    Examples
    --------
    >>> decoded(pa.chunked_array([["Caf%C3%A9+%26+bar", None, "100%"]])).to_pylist()
    ['Café & bar', None, '100%']
    """
    return pa.chunked_array([_decoded(chunk) for chunk in column.chunks], pa.string())


def _decoded(texts: pa.Array) -> pa.Array:
    if texts.null_count == len(texts):
        return texts
    validity, places, content = texts.buffers()
    offsets = np.frombuffer(places, np.int32)[texts.offset :][: len(texts) + 1]
    begin, end = int(offsets[0]), int(offsets[-1])
    # A plus that was meant stands as %2B.
    blanks = bytearray(memoryview(content)[begin:end]).translate(_BLANKS)
    letters = np.frombuffer(blanks, np.uint8)
    marks = _escapes(letters, offsets - begin)
    if len(marks):
        letters[marks] = _DIGITS[letters[marks + 1]] * 16 + _DIGITS[letters[marks + 2]]
        kept = np.ones(len(letters), np.bool_)
        kept[marks + 1] = kept[marks + 2] = False
        letters = letters[kept]
    shorter = offsets - begin - 2 * np.searchsorted(marks, offsets - begin)
    if texts.offset or validity is None:
        validity = None if not texts.null_count else _bits(texts)
    found = pa.Array.from_buffers(
        pa.string(),
        len(texts),
        [validity, pa.py_buffer(shorter.astype(np.int32)), pa.py_buffer(letters)],
    )
    try:
        found.validate(full=True)
    except pa.ArrowInvalid:
        plain = [None if text is None else unquote_plus(text) for text in texts.to_pylist()]
        return pa.array(plain, pa.string())
    return found


def _escapes(letters: Array, offsets: Array) -> Array:
    """Return where a percent sign stands before two digits of the same text."""
    marks = np.flatnonzero(letters == _PERCENT)
    ends = offsets[np.searchsorted(offsets, marks, side="right")]
    marks = marks[marks + 2 < ends]
    digits = _DIGITS[letters[marks + 1]], _DIGITS[letters[marks + 2]]
    return np.asarray(marks[(digits[0] < _NO_DIGIT) & (digits[1] < _NO_DIGIT)])


def _bits(texts: pa.Array) -> pa.Buffer:
    known = np.asarray(texts.is_valid())
    return pa.py_buffer(np.packbits(known, bitorder="little"))
