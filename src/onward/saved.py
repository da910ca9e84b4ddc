"""What has to survive from one call to the next, told by the names of attributes."""

import zlib
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from onward.errors import OnwardError, unknown


class Saved:
    """Abstract: what is named in `saved` is all that continuing exactly here needs.

    Those are attributes, with an underscore or without: arrays, numbers, texts and lists, a
    generator of numpy's, tensors by name, and whatever has a `state` and a `restore` of its own.
    """

    saved: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue exactly here."""
        return state_of(self, self.saved)

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        restore_to(self, self.saved, state)


def state_of(owner: object, names: Iterable[str]) -> dict[str, Any]:
    """Return these attributes as they are saved, by their names without an underscore."""
    return {name.removeprefix("_"): _plain(_named(owner, name)) for name in names}


def restore_to(owner: object, names: Iterable[str], state: Mapping[str, Any]) -> None:
    """Take back what `state_of` returned."""
    for name in names:
        there, value = _named(owner, name), state[name.removeprefix("_")]
        if hasattr(there, "restore"):
            there.restore(value)
        elif isinstance(there, np.random.Generator):
            there.bit_generator.state = value
        elif isinstance(value, dict) and not isinstance(there, dict):
            # Tensors by name, or the state of a part: nothing tells them apart.
            raise OnwardError(
                f"expected {name!r}, named in `saved` of {type(owner).__name__}, to start as what "
                f"it becomes, found {there!r}, which cannot take back what was saved. Let it start "
                "as {} for tensors by name, or as the part whose state it is"
            )
        else:
            setattr(owner, name, to_tensors(value) if isinstance(value, dict) else value)


def to_arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies of tensors as arrays, to be saved."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


def to_tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies as tensors of what `to_arrays` returned."""
    import torch  # loaded when it is needed: the catalogues need none of it

    return {name: torch.tensor(array) for name, array in arrays.items()}


def _named(owner: object, name: str) -> Any:
    if not hasattr(owner, name):
        kind = type(owner).__name__
        raise unknown(f"attribute in `saved` of {kind}", name, vars(owner), f"{kind}.__init__")
    return getattr(owner, name)


def _plain(value: Any) -> Any:
    if hasattr(value, "state"):
        return value.state()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return to_arrays(value) if isinstance(value, dict) else value


def checksum(state: Any, value: int = 0) -> int:
    """Return a number that differs where states do, in processes that should have the same one.

    Examples
    --------
    >>> checksum({"rows": np.arange(3)}) == checksum({"rows": np.arange(3)})
    True
    >>> checksum({"rows": np.arange(3)}) == checksum({"rows": np.arange(4)})
    False
    """
    if isinstance(state, dict):
        return reduce(
            lambda total, item: checksum(item[1], checksum(item[0], total)), state.items(), value
        )
    if isinstance(state, list | tuple):
        return reduce(lambda total, item: checksum(item, total), state, value)
    if isinstance(state, np.ndarray):
        return zlib.crc32(np.ascontiguousarray(state).tobytes(), value)
    return zlib.crc32(repr(state).encode(), value)
