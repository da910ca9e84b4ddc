"""Read pickles that hold plain data, without running anything that is in them.

A pickle is a program that may call any function. This reader is its own interpreter: it knows
numbers, texts, bytes, lists, dictionaries and arrays of whole numbers, and no name in a file ever
becomes a Python object. The few names that such data needs stand for what they make; every other
name is refused as soon as it is read. Large arrays stay in the file, which is mapped into memory.
"""

import mmap
import pickletools
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onward.data.pickled_names import Known, Numbers, RefusedError, Values, named
from onward.errors import OnwardError

# Beyond this, bytes are not copied out of the file.
_LARGE = 1 << 12
_RUN = 1 << 12
_TEXT = 0x55  # SHORT_BINSTRING
_UNSIGNED = struct.Struct("<I").unpack_from
_WORDS = {op.code.encode("latin1")[0]: op.name for op in pickletools.opcodes}


def read_pickle(path: Path, content: str) -> Any:
    """Return the plain data in a pickle.

    `content` is what the file should hold, for messages.
    """
    with path.open("rb") as file:
        if not path.stat().st_size:
            raise OnwardError(f"expected {content} in {path}, found an empty file")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _Reader(data).read()
    except RefusedError as refused:
        raise OnwardError(
            f"expected {content} in {path}, found {refused}. Nothing in the file was run; fetch "
            "it again from where it was published"
        ) from refused
    except (IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise OnwardError(
            f"expected {content} in {path}, found a damaged pickle ({error or 'it ends too early'})"
            ". Fetch it again"
        ) from error


class _Reader:
    """The interpreter: a stack, a memory of what was named, and a place in the file."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at, self.size = data, 0, len(data)
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def read(self) -> Any:
        """Return what the pickle holds."""
        while True:
            code = self.data[self._inside(self.at + 1) - 1]
            if code == _TEXT:
                self._texts()
                continue
            self.at += 1
            if code == 0x2E:  # STOP
                return _filled(self.stack.pop())
            if code not in _VERBS:
                raise RefusedError(self._other(code))
            _VERBS[code](self)

    def _texts(self) -> None:
        """Read short texts of Python 2, which are most of a file, and the names they are given."""
        data, at, push, memo = self.data, self.at, self.stack.append, self.memo
        text: Any = None
        try:
            while True:
                code = data[at]
                if code == _TEXT:
                    begin = at + 2
                    at = begin + data[at + 1]
                    text = data[begin:at]
                    push(text)
                elif code == 0x72:  # LONG_BINPUT
                    memo[_UNSIGNED(data, at + 1)[0]] = text
                    at += 5
                else:
                    break
        except (IndexError, struct.error):
            raise RefusedError("a file that ends too early") from None
        self.at = self._inside(at)

    def _bytes(self) -> None:
        """Read small numbers: labels have thousands in a row."""
        window = self.data[self.at - 1 : self.at - 1 + 2 * _RUN]
        codes = window[::2]
        count = len(codes) - len(codes.lstrip(b"K"))
        self.stack.extend(window[1 : 2 * count : 2])
        self.at = self._inside(self.at - 1 + 2 * count)

    def _inside(self, end: int) -> int:
        if end > self.size:
            raise RefusedError("a file that ends too early")
        return end

    def _number(self, width: int, *, signed: bool = False) -> int:
        end = self._inside(self.at + width)
        number = int.from_bytes(self.data[self.at : end], "little", signed=signed)
        self.at = end
        return number

    def _take(self, width: int) -> Any:
        """Return the bytes behind a length of this width."""
        length = self._number(width)
        end = self._inside(self.at + length)
        begin, self.at = self.at, end
        return memoryview(self.data)[begin:end] if length > _LARGE else self.data[begin:end]

    def _line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if not 0 <= end - self.at <= _LARGE:
            raise RefusedError("a name without an end")
        line = self.data[self.at : end].decode("latin1")
        self.at = end + 1
        return line

    def _since_mark(self) -> list[Any]:
        begin = self.marks.pop()
        found = self.stack[begin:]
        del self.stack[begin:]
        return found

    def _other(self, code: int) -> str:
        if code == 0x69:  # INST, which has its name behind it
            return f"a call for {self._line()}.{self._line()}, which data does not need"
        return f"the instruction {_WORDS.get(code, hex(code))}, which data does not need"

    def _global(self) -> None:
        module = self._line()
        self.stack.append(named(module, self._line()))

    def _global_of_stack(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(named(module, name))

    def _reduce(self) -> None:
        arguments, known = self.stack.pop(), self.stack.pop()
        if not isinstance(known, Known) or not isinstance(arguments, tuple):
            raise RefusedError("a call of something that is no name")
        self.stack.append(known.make(*arguments))

    def _build(self) -> None:
        state, one = self.stack.pop(), self.stack[-1]
        if not isinstance(one, Numbers | Values) or not isinstance(state, tuple):
            raise RefusedError("the instruction BUILD for something that is no array")
        one.build(state)

    def _tuple(self, length: int) -> None:
        found = tuple(self.stack[len(self.stack) - length :])
        del self.stack[len(self.stack) - length :]
        self.stack.append(found)

    def _fill(self, values: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise RefusedError("an addition to something that is no list")
        self.stack[-1].extend(values)

    def _set(self, pairs: list[Any]) -> None:
        if type(self.stack[-1]) is not dict:
            raise RefusedError("an entry of something that is no dictionary")
        if not all(isinstance(key, str | bytes) for key in pairs[::2]):
            raise RefusedError("an entry whose key is no text")
        self.stack[-1].update(zip(pairs[::2], pairs[1::2], strict=True))

    def _remember(self, number: int) -> None:
        self.memo[number] = self.stack[-1]

    def _long(self) -> None:
        width = self._number(1)
        if width > 8:
            raise RefusedError(f"a whole number of {width} bytes")
        self.stack.append(self._number(width, signed=True))

    def _unicode(self, width: int) -> None:
        self.stack.append(bytes(self._take(width)).decode("utf-8", "surrogatepass"))

    def _skip(self, width: int) -> None:
        self._number(width)


def _filled(value: Any) -> Any:
    """Return a value whose arrays are arrays: they were filled after they were made."""
    if isinstance(value, dict):
        return {k: v.array if isinstance(v, Values) else v for k, v in value.items()}
    return value.array if isinstance(value, Values) else value


def _push(make: Callable[[_Reader], Any]) -> Callable[[_Reader], None]:
    return lambda reader: reader.stack.append(make(reader))


_VERBS: dict[int, Callable[[_Reader], None]] = {
    0x80: lambda r: r._skip(1),  # PROTO
    0x95: lambda r: r._skip(8),  # FRAME
    0x28: lambda r: r.marks.append(len(r.stack)),  # MARK
    0x7D: _push(lambda r: {}),
    0x5D: _push(lambda r: []),
    0x29: _push(lambda r: ()),
    0x4E: _push(lambda r: None),
    0x88: _push(lambda r: True),
    0x89: _push(lambda r: False),
    0x4A: _push(lambda r: r._number(4, signed=True)),  # BININT
    0x4B: lambda r: r._bytes(),  # BININT1
    0x4D: _push(lambda r: r._number(2)),  # BININT2
    0x8A: lambda r: r._long(),  # LONG1
    0x54: _push(lambda r: r._take(4)),  # BINSTRING
    0x42: _push(lambda r: r._take(4)),  # BINBYTES
    0x43: _push(lambda r: r._take(1)),  # SHORT_BINBYTES
    0x8E: _push(lambda r: r._take(8)),  # BINBYTES8
    0x96: _push(lambda r: r._take(8)),  # BYTEARRAY8
    0x8C: lambda r: r._unicode(1),  # SHORT_BINUNICODE
    0x58: lambda r: r._unicode(4),  # BINUNICODE
    0x8D: lambda r: r._unicode(8),  # BINUNICODE8
    0x63: lambda r: r._global(),
    0x93: lambda r: r._global_of_stack(),
    0x52: lambda r: r._reduce(),
    0x62: lambda r: r._build(),
    0x85: lambda r: r._tuple(1),
    0x86: lambda r: r._tuple(2),
    0x87: lambda r: r._tuple(3),
    0x74: _push(lambda r: tuple(r._since_mark())),  # TUPLE
    0x61: lambda r: r._fill([r.stack.pop()]),  # APPEND
    0x65: lambda r: r._fill(r._since_mark()),  # APPENDS
    0x73: lambda r: r._set([r.stack.pop(-2), r.stack.pop()]),  # SETITEM
    0x75: lambda r: r._set(r._since_mark()),  # SETITEMS
    0x71: lambda r: r._remember(r._number(1)),  # BINPUT
    0x72: lambda r: r._remember(r._number(4)),  # LONG_BINPUT
    0x94: lambda r: r._remember(len(r.memo)),  # MEMOIZE
    0x68: _push(lambda r: r.memo[r._number(1)]),  # BINGET
    0x6A: _push(lambda r: r.memo[r._number(4)]),  # LONG_BINGET
}
