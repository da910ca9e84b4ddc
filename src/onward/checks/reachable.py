"""What a learner holds on to: everything that can be reached from it.

A stream, a table or a view inside a learner is the future within reach. Copies of samples that
it was shown before, and that the budget does not hold, are a memory that nobody counts; they are
found if they are kept as they were, in arrays or tensors. A copy that was transformed, or turned
into Python numbers, looks like any other number.
"""

import gc
import hashlib
import mmap
import sys
from collections.abc import Iterator
from types import FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from onward.types import Array, Benchmark, Period, Stream, Table, View

_FUTURE = (Benchmark, Stream, Period, Table, View, np.memmap, mmap.mmap)


def reachable(root: Any) -> Iterator[Any]:
    """Yield everything that can be reached from an object and the attributes of its class.

    Modules, other classes and globals are left out: through them, everything can be reached.
    """
    seen: set[int] = set()
    waiting = [root, *(value for kind in type(root).__mro__ for value in vars(kind).values())]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, ModuleType | type):
            continue
        seen.add(id(thing))
        yield thing
        waiting += _next(thing)


def _next(thing: Any) -> list[Any]:
    if isinstance(thing, FunctionType):
        # Not its globals.
        return [thing.__closure__, thing.__defaults__, thing.__kwdefaults__, thing.__dict__]
    if isinstance(thing, MethodType):
        return [thing.__self__, thing.__func__]
    if isinstance(thing, GeneratorType):
        return [] if thing.gi_frame is None else list(thing.gi_frame.f_locals.values())
    if isinstance(thing, np.ndarray):
        return [thing.base, *(thing.ravel().tolist() if thing.dtype == object else [])]
    return gc.get_referents(thing)


def future_within_reach(learner: Any) -> list[str]:
    """Return what a learner holds that belongs to the loop or leads to the data, by type."""
    found = [type(thing).__name__ for thing in reachable(learner) if isinstance(thing, _FUTURE)]
    return sorted(set(found))


class Copies:
    """Recognises copies of samples by their inputs, of this shape; copies are cast to this type."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._shape, self._dtype = shape, dtype
        self._earlier: set[bytes] = set()

    def kept(self, learner: Any, now: Array, held: Array) -> int:
        """Count samples of earlier calls in a learner that are neither shown now nor held.

        Those shown now are remembered for the next time.
        """
        names = set(self._names(now))
        foreign = self._earlier - names - set(self._names(held))
        self._earlier |= names
        if not foreign:
            return 0
        tensor = getattr(sys.modules.get("torch"), "Tensor", ())
        found: set[bytes] = set()
        for thing in reachable(learner):
            array = thing.detach().cpu().numpy() if isinstance(thing, tensor) else thing
            if isinstance(array, np.ndarray) and self._fits(array):
                found |= foreign.intersection(self._names(array))
        return len(found)

    def _fits(self, array: Array) -> bool:
        width = len(self._shape)
        same_kind = array.dtype.kind == self._dtype.kind
        return same_kind and array.size > 0 and array.shape[array.ndim - width :] == self._shape

    def _names(self, inputs: Array) -> list[bytes]:
        rows = np.ascontiguousarray(inputs, self._dtype).reshape(-1, int(np.prod(self._shape)))
        return [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]
