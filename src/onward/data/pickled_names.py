"""The names that plain data in a pickle needs, and what each of them stands for.

None of them is looked up: a name means one of the functions below, and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

_ORDERS = ("<", "|", "=", ">")
_KINDS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")


class RefusedError(Exception):
    """A pickle wants something that plain data does not need."""


@dataclass
class Numbers:
    """A kind of whole numbers, before and after its byte order is known."""

    kind: str

    def build(self, state: Any) -> None:
        """Learn the byte order."""
        _, order, *details = state
        if details[:3] != [None] * 3 or text(order) not in _ORDERS:
            raise RefusedError("an array of something else than whole numbers")
        self.kind = text(order).replace("=", "<") + self.kind


@dataclass
class Values:
    """An array, once it is built."""

    array: Any = None

    def build(self, state: Any) -> None:
        """Take the numbers, without a copy."""
        _, shape, numbers, by_columns, raw = state
        self.array = _array(raw, numbers, shape, "F" if by_columns else "C")


def _array(raw: Any, numbers: Any, shape: Any, order: Any = "C") -> Any:
    if not isinstance(numbers, Numbers) or not isinstance(raw, bytes | memoryview):
        raise RefusedError("an array of something else than whole numbers")
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise RefusedError("an array whose shape is no row of whole numbers")
    # A product of Python's own numbers: numpy's would wrap around.
    expected = int(np.dtype(numbers.kind).itemsize)
    for length in shape:
        expected *= length
    if expected != len(raw):
        raise RefusedError(f"an array of shape {shape} in {len(raw)} bytes")
    values = np.frombuffer(raw, numbers.kind)
    return values.reshape(shape[::-1]).T if text(order) == "F" else values.reshape(shape)


def text(value: Any) -> str:
    """Return a text of Python 2 or 3."""
    if not isinstance(value, str | bytes):
        raise RefusedError("something else where a text belongs")
    return value.decode("latin1") if isinstance(value, bytes) else value


def _empty_array(kind: Any, shape: Any, code: Any) -> Values:
    if kind is not _NDARRAY or shape != (0,):
        raise RefusedError("a call of numpy's _reconstruct that makes no array")
    return Values()


def _numbers(code: Any, align: Any = False, copy: Any = True) -> Numbers:
    kind = text(code)
    if kind not in _KINDS:
        raise RefusedError(f"numbers of the kind {kind!r}")
    return Numbers(kind)


def _number(numbers: Any, raw: Any) -> int:
    return int(_array(raw, numbers, (1,))[0])


def _bytes(value: Any, encoding: Any) -> bytes:
    if text(encoding) != "latin1" or not isinstance(value, str):
        raise RefusedError(f"a text in the encoding {text(encoding)!r}")
    return value.encode("latin1")


def _not_called(*arguments: Any) -> NoReturn:
    raise RefusedError("a call of numpy.ndarray")


@dataclass(frozen=True)
class Known:
    """A name that may be in a pickle, and what is done where it calls for something."""

    make: Callable[..., Any] = field(repr=False)


_NDARRAY = Known(_not_called)
_NAMES = {
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy", "dtype"): Known(_numbers),
    ("_codecs", "encode"): Known(_bytes),
}
for _core in ("numpy.core", "numpy._core"):
    _NAMES[f"{_core}.multiarray", "_reconstruct"] = Known(_empty_array)
    _NAMES[f"{_core}.multiarray", "scalar"] = Known(_number)
    _NAMES[f"{_core}.numeric", "_frombuffer"] = Known(_array)


def named(module: Any, name: Any) -> Known:
    """Return what a name stands for; raise where it is not one of the few."""
    # Before it is looked up: to hash what is nested a million times takes all of the stack.
    module, name = text(module), text(name)
    if (module, name) not in _NAMES:
        raise RefusedError(f"a call for {module}.{name}, which data does not need")
    return _NAMES[module, name]
