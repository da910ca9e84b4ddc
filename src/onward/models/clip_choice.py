"""Any CLIP by name, with the weights of a file, or with published ones that are on this machine."""

import contextlib
import importlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from onward.errors import OnwardError, first_few, unknown
from onward.models.clip import Clip
from onward.models.clip_config import CONFIGS, ClipConfig, open_clip
from onward.models.weights import read_weights, without_parallel
from onward.results.read import check_checkpoint, checkpoints, read_spec
from onward.results.schema import Progress
from onward.results.state import load_state
from onward.saved import to_tensors

RANDOM = "drawn at random"
_HUB_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
_LOOKS = ("mean", "std", "interpolation", "resize_mode")
_FILES = (".pt", ".pth", ".bin", ".safetensors", ".ckpt")
_Shapes = Mapping[str, tuple[int, ...]]
# What configurations of open_clip leave out.
_USUAL = {"width": 512, "context_length": 77, "vocab_size": 49408}
_ANY_SHAPE = (1, 1, 3)


@dataclass(frozen=True)
class ChosenClip:
    """A CLIP, what it is called, and where its weights are from, in words.

    ``learned_upto`` is the period that a run had learned last, of a model that is one's.
    """

    clip: Clip
    name: str
    weights: str
    learned_upto: str | None = None


def chosen_clip(
    model: str, *, weights: Path | None = None, pretrained: str | None = None
) -> ChosenClip:
    """Return the CLIP that someone means.

    Parameters
    ----------
    model
        A name as `named_clip` takes it; a file of weights that fit one model only; or the folder of
        a run, whose last checkpoint is taken.
    weights, pretrained
        See `named_clip`; only with a name.
    """
    chosen = _chosen(model, weights, pretrained)
    # As files of weights name them.
    parameters = chosen.clip.net.named_parameters()
    wrong = [name for name, one in parameters if not torch.isfinite(one).all()]
    if wrong:
        raise OnwardError(
            f"expected finite weights, found NaN or infinity in {chosen.weights}: "
            f"{first_few(wrong)}. Its training diverged, or it is damaged: take an earlier one"
        )
    return chosen


def _chosen(model: str, weights: Path | None, pretrained: str | None) -> ChosenClip:
    path = Path(model).expanduser()
    if (path.is_dir() or path.is_file()) and (weights or pretrained):
        raise OnwardError(
            f"expected --weights or --pretrained with the name of a model, found them with {path}"
        )
    if path.is_dir():
        return _of_run(path)
    if path.is_file():
        name = architecture_of(without_parallel(read_weights(path)), path)
        return ChosenClip(named_clip(name, weights=path), name, f"those of {path}")
    if path.suffix in _FILES or os.sep in model:
        raise OnwardError(
            f"expected a file of weights or the folder of a run at {path}, found none"
        )
    found = named_clip(model, weights=weights, pretrained=pretrained)
    words = f"those of {weights}" if weights else f"{pretrained}, published"
    return ChosenClip(found, model, words if weights or pretrained else RANDOM)


def named_clip(name: str, *, weights: Path | None = None, pretrained: str | None = None) -> Clip:
    """Return a CLIP by its name.

    Nothing is downloaded. Without weights they are drawn at random.

    Parameters
    ----------
    name
        ``clip_small``, or a model of open_clip such as ``ViT-B-32``.
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
        with _offline():
            generator = torch.Generator().manual_seed(0)
            file = None if weights is None else str(weights)
            clip = Clip(_ANY_SHAPE, 0, generator, config=config, weights=file)
    except (OSError, ImportError) as error:
        raise OnwardError(
            f"expected all parts of {name} on this machine, found one missing; nothing is "
            f"downloaded here. Let open_clip make this model once, then try again ({error})"
        ) from error
    return clip.seeing((*clip.side, 3))


def architecture_of(weights: Mapping[str, torch.Tensor], path: Path) -> str:
    """Return the one CLIP, of ours and open_clip's, whose weights have these names and shapes."""
    shapes = _shapes_of(weights)
    found = []
    for name, config in _candidates(shapes):
        with torch.device("meta"):
            net = config.made()
        if _shapes_of(net.state_dict()) == shapes:
            found.append(name)
    if not found:
        some = ", ".join(sorted(shapes)[:3]) or "none"
        raise OnwardError(
            f"expected in {path} all weights of a CLIP of open_clip's, by its names and of its "
            f"shapes, found {len(shapes)} weights that are no such model's ({some}, …). If it is "
            "one, name it: --model NAME --weights FILE"
        )
    if len(found) > 1:
        raise OnwardError(
            f"expected weights in {path} that fit one CLIP only, found that they fit "
            f"{', '.join(found)}, which do not compute the same. Say which it is: --model "
            f"{found[0]} --weights {path}"
        )
    return found[0]


def _candidates(shapes: _Shapes) -> Iterator[tuple[str, ClipConfig]]:
    """Yield what has a text tower of this width, so that few models need to be made."""
    prefix = "" if "token_embedding.weight" in shapes else "text."
    small = {name: config for name, config in CONFIGS.items() if config.written_out is not None}
    for name, config in {**small, **dict.fromkeys(open_clip().list_models())}.items():
        said: Any = open_clip().get_model_config(name) if config is None else config.written_out
        if "timm_model_name" in said["vision_cfg"] or "hf_model_name" in said["text_cfg"]:
            continue
        text = {**_USUAL, **said["text_cfg"]}
        expected = {
            "token_embedding.weight": (text["vocab_size"], text["width"]),
            "positional_embedding": (text["context_length"], text["width"]),
            "text_projection": (text["width"], said["embed_dim"]),
        }
        if all(shapes.get(prefix + part) == shape for part, shape in expected.items()):
            yield name, config or ClipConfig(name, settings={"device": "meta"})


def _shapes_of(weights: Mapping[str, torch.Tensor]) -> _Shapes:
    return {name: tuple(values.shape) for name, values in weights.items()}


def _of_run(folder: Path) -> ChosenClip:
    if not (folder / "spec.json").is_file():
        raise OnwardError(
            f"expected the folder of a run, with its spec.json, found none in {folder}. Runs lie "
            "below results/tic/<method>/"
        )
    spec, saved = read_spec(folder), checkpoints(folder)
    name = str(spec.recipe.get("model"))
    if name not in CONFIGS:
        raise OnwardError(
            f"expected a run with a model of images and texts in {folder}, found one with {name}"
        )
    if not saved:
        raise OnwardError(f"expected a checkpoint in {folder}, found none. Run it to its end first")
    check_checkpoint(saved[-1])
    state = load_state(saved[-1] / "learner")
    clip = named_clip(name)
    # Older checkpoints have parameters and buffers apart, without the name of the module.
    weights = state["model"] if "model" in state else state["parameters"] | state["buffers"]
    clip.net.load_state_dict({n.removeprefix("net."): v for n, v in to_tensors(weights).items()})
    words = f"those of the run {spec.method}, seed {spec.seed}, in {folder}"
    learned = Progress.model_validate_json((saved[-1] / "progress.json").read_bytes()).period
    period = spec.periods[learned - 1] if 0 < learned <= len(spec.periods) else None
    return ChosenClip(clip, name, words, period)


def _config(name: str) -> ClipConfig:
    if name in CONFIGS:
        return CONFIGS[name]
    models = open_clip().list_models()
    if name not in models:
        command = 'python -c "import open_clip; print(open_clip.list_models())"'
        raise unknown("CLIP model", name, [*CONFIGS, *models], command)
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
