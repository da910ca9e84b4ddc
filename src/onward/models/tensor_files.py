"""Reading files that were written by ``torch.save``, without running what is inside them."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import torch

from onward.errors import OnwardError

_UNREADABLE = (
    pickle.UnpicklingError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
)


def read_tensors(path: Path) -> Any:
    """Read a file of tensors: each becomes a float32 array, inside whatever holds it.

    A pickle can run any program when it is opened. Only tensors and plain containers are let
    through; anything else is refused before it is built.
    """
    try:
        with warnings.catch_warnings():
            # About pickles of another protocol: they are read, or refused below.
            warnings.simplefilter("ignore")
            found = torch.load(path, map_location="cpu", weights_only=True)
    except _UNREADABLE as error:
        # torch's own message is left out: it advises to open the file without this protection.
        raise OnwardError(
            f"expected a file of tensors, found {path}, which is damaged or holds something else; "
            "nothing inside it was run. Fetch it again from the download"
        ) from error
    return _plain(found)


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().to(torch.float32).numpy()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return value
