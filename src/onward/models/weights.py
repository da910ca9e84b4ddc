"""Reading weights from files, without running what is inside them, and loading them."""

import pickle
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from onward.errors import OnwardError

Weights = dict[str, Tensor]
"""Tensors by name, as in a state dict."""

_UNREADABLE = (
    *(pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, TypeError),
    *(LookupError, AttributeError),
)
# What published files wrap their weights in.
_WRAPPERS = ("state_dict", "model", "model_state_dict")
_PARALLEL = "module."
# What torchvision and timm call the last layer of a classifier, and further outputs of training.
_LAST_LAYERS = (
    *("fc.", "classifier.", "head.", "heads.", "head_dist.", "last_linear.", "classif."),
    *("aux1.", "aux2.", "AuxLogits."),
)
# How many batches a statistic was made of: files of early torch lack it, nothing reads it.
_COUNT = "num_batches_tracked"
# How many names a message has at most.
_NAMED = 3


def read_tensors(path: Path) -> Any:
    """Read a file of ``torch.save``: each tensor becomes a float32 array, inside what holds it.

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
    return _as_arrays(found)


def _as_arrays(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().to(torch.float32).numpy()
    if isinstance(value, dict):
        return {key: _as_arrays(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_as_arrays(inner) for inner in value]
    return value


def read_weights(path: Path) -> Weights:
    """Read tensors by name, from safetensors or from what ``torch.save`` wrote."""
    if not path.is_file():
        raise OnwardError(
            f"expected a file of weights, found none at {path}. Give the network's own file with "
            "--weights"
        )
    if path.suffix == ".safetensors":
        return read_safetensors(path)
    found = read_tensors(path)
    for wrapper in _WRAPPERS:
        if isinstance(found, Mapping) and isinstance(found.get(wrapper), Mapping):
            found = found[wrapper]
    if not isinstance(found, Mapping):
        raise OnwardError(
            f"expected weights by name in {path}, found {type(found).__name__}. Is it the file of "
            "another thing?"
        )
    arrays = {str(name): value for name, value in found.items() if isinstance(value, np.ndarray)}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def read_safetensors(path: Path) -> Weights:
    """Read tensors by name from a file of safetensors."""
    try:
        return load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise OnwardError(
            f"expected a file of tensors, found {path}, which is damaged or holds something else: "
            f"{error}"
        ) from error


def without_parallel(weights: Weights) -> Weights:
    """Return weights without ``module.``, which data-parallel training puts before all names."""
    has_prefix = all(name.startswith(_PARALLEL) for name in weights)
    return with_prefix_removed(_PARALLEL, weights) if has_prefix else weights


def with_prefix_removed(prefix: str, weights: Weights) -> Weights:
    """Return the weights whose names start with a prefix, without it."""
    return {n.removeprefix(prefix): v for n, v in weights.items() if n.startswith(prefix)}


def fit(
    network: nn.Module, weights: Weights, path: Path, *, of: str | None = None, assign: bool = True
) -> None:
    """Give a network its weights, or say which of the file's do not fit.

    `of` is what the network is called in messages; `assign` lets it hold the file's own tensors.
    """
    require_fit(network, weights, path, of=of or type(network).__name__)
    counts = {
        name: torch.zeros_like(count, device="cpu")
        for name, count in network.state_dict().items()
        if name.endswith(_COUNT)
    }
    network.load_state_dict({**weights, **counts}, assign=assign)


def load_backbone(
    backbone: nn.Module,
    path: Path,
    *,
    of: str,
    convert: Callable[[Weights, nn.Module], Weights] | None = None,
) -> None:
    """Load a file's weights into a backbone; those of its last layer are left out.

    The last layer has other classes. It is what the file has and the backbone lacks, by the names
    that torchvision and timm use. `of` is what the network is called in messages; `convert` returns
    weights under the backbone's own names.
    """
    read, own = without_parallel(read_weights(path)), backbone.state_dict()
    if convert is not None:
        read = convert(read, backbone)
    inner = {n: v for n, v in read.items() if n in own or not n.startswith(_LAST_LAYERS)}
    fit(backbone, inner, path, of=of, assign=False)


def require_fit(network: nn.Module, weights: Weights, path: Path, *, of: str) -> None:
    """Say which weights of a file do not fit a network, which is called so."""
    own = network.state_dict()
    named = {
        "missing": [name for name in own.keys() - weights.keys() if not name.endswith(_COUNT)],
        "unexpected": [name for name in weights.keys() - own.keys() if not name.endswith(_COUNT)],
        "of another shape": [
            n for n in own.keys() & weights.keys() if own[n].shape != weights[n].shape
        ],
    }
    problems = [
        f"{len(names)} {what} ({', '.join(sorted(names)[:_NAMED])}{', …' * (len(names) > _NAMED)})"
        for what, names in named.items()
        if names
    ]
    if named["of another shape"]:
        first = min(named["of another shape"])
        problems.append(f"{first} is {_size(weights[first])} instead of {_size(own[first])}")
    if problems:
        raise OnwardError(
            f"expected the weights of {of} in {path}, found {'; '.join(problems)}. Is it the file "
            "of another network?"
        )


def _size(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "a number"
