"""Where the weights that a model starts from lie: a file, a folder, or a library's cache."""

import os
import re
from pathlib import Path
from typing import Any

from onward.errors import OnwardError
from onward.models import find_model

PRETRAINED = "pretrained"
"""What stands for a model's published weights in place of a file."""
_IN_FOLDERS = ("model.safetensors", "pytorch_model.bin")
# The beginning of a file's hash in its name, as torch.hub expects it.
_HASH = re.compile(r"-([0-9a-f]{8,})\.")


def weights_file(model: str, weights: str) -> Path:
    """Return the file with the weights that a model starts from.

    Parameters
    ----------
    model
        The name of the model.
    weights
        A file; a folder with ``model.safetensors`` or ``pytorch_model.bin``, as Hugging Face has
        it; or ``pretrained`` for the weights that timm or torchvision publish for this model, from
        their local caches or, where there is a network, from their servers.
    """
    card = find_model(model)
    if "weights" not in card.takes:
        raise OnwardError(
            f"expected a model that takes weights, found {model}. Leave --weights out, choose a "
            "network for images (onward list models), or name a --backbone that they are for"
        )
    if weights == PRETRAINED:
        if card.pretrained is None:
            raise OnwardError(
                f"expected a model with published weights, found {card.name}, which has none that "
                "Onward knows. Name a file: --weights"
            )
        return _published(card.pretrained)
    path = Path(weights).expanduser()
    if not path.is_dir():
        return path
    for name in _IN_FOLDERS:
        if (path / name).is_file():
            return path / name
    raise OnwardError(
        f"expected {' or '.join(_IN_FOLDERS)} in the folder {path}, found neither. Name the file "
        "with the weights: --weights"
    )


def _published(model: str) -> Path:
    from onward.models.library_models import timm
    from onward.models.torchvision_loader import torchvision

    library, _, name = model.partition(":")
    if library == "torchvision":
        return _from_url(model, torchvision().models.get_model_weights(name).DEFAULT.url)
    config: Any = timm().get_pretrained_cfg(name)
    if not config.hf_hub_id:
        return _from_url(model, config.url)
    return _from_hub(model, config.hf_hub_id, config.hf_hub_filename)


def _from_url(model: str, url: str) -> Path:
    """Return a file of torch.hub's cache, fetched first if it is not there."""
    import torch

    path = Path(torch.hub.get_dir(), "checkpoints", os.path.basename(url))  # noqa: PTH119 (a URL)
    if not path.is_file():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            found = _HASH.search(path.name)
            prefix = None if found is None else found[1]
            torch.hub.download_url_to_file(url, str(path), prefix, progress=False)
        except (OSError, RuntimeError) as error:
            raise OnwardError(
                f"expected the published weights of {model} at {path}, found none, and {url} "
                f"cannot be fetched: {error}. Fetch it where there is a network and put it there, "
                "or name another file: --weights"
            ) from error
    return path


def _from_hub(model: str, repository: str, filename: str | None) -> Path:
    """Return a file of Hugging Face's cache, fetched first if it is not there."""
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    names = _IN_FOLDERS if filename is None else (filename,)
    for name in names:
        found = huggingface_hub.try_to_load_from_cache(repository, name)
        if isinstance(found, str):
            return Path(found)
    problem: Exception | None = None
    for name in names:
        try:
            return Path(huggingface_hub.hf_hub_download(repository, name))
        except (EntryNotFoundError, OSError) as error:
            problem = error
            is_local = isinstance(error, LocalEntryNotFoundError)
            if is_local or not isinstance(error, EntryNotFoundError):
                break  # the server was not reached: the other name needs no try
    where = huggingface_hub.constants.HF_HUB_CACHE
    why = str(problem).partition("\n")[0].rstrip(".")
    raise OnwardError(
        f"expected the published weights of {model} in Hugging Face's cache {where}, found none, "
        f"and {repository} cannot be fetched: {why}. Where there is a network: "
        f"hf download {repository} {names[0]}; then copy the cache, or name the file: --weights"
    ) from problem
