"""Any CLIP by name, with the weights of a file, or with published ones that are on this machine."""

import contextlib
import importlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from onward.errors import OnwardError, unknown
from onward.models.clip import CONFIGS, Clip, ClipConfig
from onward.models.open_clip_loader import open_clip

_HUB_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
_LOOKS = ("mean", "std", "interpolation", "resize_mode")
_SEED = 0


def named_clip(
    name: str,
    shape: tuple[int, ...],
    *,
    weights: Path | None = None,
    pretrained: str | None = None,
) -> Clip:
    """Return a CLIP that looks at images of this shape.

    Nothing is downloaded. Without weights they are drawn at random.

    Parameters
    ----------
    name
        ``clip_small``, or a model of open_clip such as ``ViT-B-32``.
    shape
        Height, width and the 3 colours.
    weights
        A file of weights: safetensors, or what ``torch.save`` wrote, of which nothing is run. It
        may be a checkpoint of open_clip's training.
    pretrained
        A tag of open_clip, such as ``laion2b_s34b_b79k``, whose weights are on this machine.
    """
    if weights is not None and pretrained is not None:
        raise OnwardError("expected a file of weights or a pretrained tag, found both")
    config = _config(name)
    if pretrained is not None:
        weights, config = _published(config, pretrained)
    try:
        with _offline(), _quiet():
            return Clip(
                shape,
                0,
                torch.Generator().manual_seed(_SEED),
                config=config,
                weights=None if weights is None else str(weights),
            )
    except (OSError, ImportError) as error:
        raise OnwardError(
            f"expected all parts of {name} on this machine, found one missing; nothing is "
            f"downloaded here. Let open_clip make this model once, then try again ({error})"
        ) from error


def _config(name: str) -> ClipConfig:
    if name in CONFIGS:
        return CONFIGS[name]
    models = open_clip().list_models()
    if name not in models:
        raise unknown(
            "CLIP model",
            name,
            [*CONFIGS, *models],
            'python -c "import open_clip; print(open_clip.list_models())"',
        )
    return ClipConfig(name)


def _published(config: ClipConfig, tag: str) -> tuple[Path, ClipConfig]:
    """Return the file of a tag's weights, and the model as open_clip makes it for them."""
    library = open_clip()
    if config.written_out is not None:
        raise OnwardError(f"expected a model of open_clip to have published weights, found {tag!r}")
    tags = library.list_pretrained_tags_by_model(config.name)
    if tag not in tags:
        raise unknown(f"tag of {config.name}", tag, tags, "open_clip.list_pretrained()")
    card = library.get_pretrained_cfg(config.name, tag)
    path = _local_file(card)
    if path is None:
        raise OnwardError(
            f"expected the weights {tag} of {config.name} on this machine, found none; nothing is "
            'downloaded here. Fetch them with python -c "import open_clip; '
            f"open_clip.create_model('{config.name}', pretrained='{tag}')\" where there is a "
            "network, or give a file with --weights"
        )
    looks = {key: card[key] for key in _LOOKS if card.get(key) is not None}
    gelu = bool(card.get("quick_gelu", False))
    settings = {"force_quick_gelu": gelu, "force_preprocess_cfg": looks}
    return path, ClipConfig(config.name, settings=settings)


def _local_file(card: dict[str, Any]) -> Path | None:
    """Return where open_clip would have put the file, if it is there."""
    from huggingface_hub import try_to_load_from_cache

    if card.get("hf_hub"):
        repository, _, file = card["hf_hub"].rpartition("/")
        safe = Path(file).with_suffix(".safetensors").name if file else ""
        for one in (safe, file) if file else _HUB_FILES:
            found = try_to_load_from_cache(repository, one)
            if isinstance(found, str):
                return Path(found)
    if card.get("url"):
        path = Path("~/.cache/clip").expanduser() / Path(card["url"]).name
        return path if path.is_file() else None
    return None


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Let nothing be fetched meanwhile: some configurations name parts of other libraries."""
    constants: Any = importlib.import_module("huggingface_hub.constants")
    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Leave out what open_clip says of random weights: they are replaced, or spoken of by us."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
