"""Texts in the encoding of URLs, as YFCC100M has them: millions at once."""

from urllib.parse import unquote_plus

import numpy as np
import pyarrow as pa

from onward.types import Array

_PERCENT, _PLUS = ord("%"), ord("+")
# Two bytes that no text has: a plus that was meant, and what is taken out.
_MEANT_PLUS, _NOTHING = 0xFE, 0xFF
_BLANKS = bytes.maketrans(bytes([_PLUS, _MEANT_PLUS]), b" +")
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
    raw = bytearray(memoryview(content)[begin:end])
    letters = np.frombuffer(raw, np.uint8)
    marks = _escapes(letters, offsets - begin)
    value = _DIGITS[letters[marks + 1]] * 16 + _DIGITS[letters[marks + 2]]
    if (value >= _MEANT_PLUS).any():
        return _one_by_one(texts)
    letters[marks] = np.where(value == _PLUS, _MEANT_PLUS, value)
    letters[marks + 1] = letters[marks + 2] = _NOTHING
    plain = raw.translate(_BLANKS, bytes([_NOTHING]))
    shorter = offsets - begin - 2 * np.searchsorted(marks, offsets - begin)
    if texts.offset or validity is None:
        validity = None if not texts.null_count else _bits(texts)
    found = pa.Array.from_buffers(
        pa.string(),
        len(texts),
        [validity, pa.py_buffer(shorter.astype(np.int32)), pa.py_buffer(plain)],
    )
    try:
        found.validate(full=True)
    except pa.ArrowInvalid:
        return _one_by_one(texts)
    return found


def _one_by_one(texts: pa.Array) -> pa.Array:
    """Decode texts of which some are none: slow, and rare."""
    found = [None if text is None else unquote_plus(text) for text in texts.to_pylist()]
    return pa.array(found, pa.string())


def _escapes(letters: Array, offsets: Array) -> Array:
    """Return where a percent sign stands before two digits of the same text."""
    marks = np.flatnonzero(letters == _PERCENT)
    marks = marks[: np.searchsorted(marks, len(letters) - 2)]
    digits = (_DIGITS[letters[marks + 1]] < _NO_DIGIT) & (_DIGITS[letters[marks + 2]] < _NO_DIGIT)
    begins = np.zeros(len(letters) + 1, np.bool_)
    begins[offsets] = True
    return np.asarray(marks[digits & ~begins[marks + 1] & ~begins[marks + 2]])


def _bits(texts: pa.Array) -> pa.Buffer:
    known = np.asarray(texts.is_valid())
    return pa.py_buffer(np.packbits(known, bitorder="little"))
