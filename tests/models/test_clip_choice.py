from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from small_models import same

from onward.errors import OnwardError
from onward.models.clip import Clip
from onward.models.clip_choice import RANDOM, architecture_of, chosen_clip, named_clip
from onward.models.clip_config import open_clip


@pytest.fixture(scope="module")
def small() -> Clip:
    clip = named_clip("clip_small")
    with torch.no_grad():
        for values in clip.parameters():
            values.mul_(1.5)  # unlike what is drawn
    return clip


def _same(one: Clip, other: Clip) -> bool:
    return same(one.state_dict(), other.state_dict())


@pytest.mark.parametrize("form", ["safetensors", "plain", "training", "parallel"])
def test_weights_in_all_forms(small: Clip, tmp_path: Path, form: str) -> None:
    path = tmp_path / ("w.safetensors" if form == "safetensors" else "w.pt")
    state = {name: values.detach().clone() for name, values in small.net.named_parameters()}
    if form == "safetensors":
        save_file(state, path)
    elif form == "plain":
        torch.save(state, path)
    else:
        before = "module." if form == "parallel" else ""
        wrapped: dict[str, Any] = {before + name: values for name, values in state.items()}
        torch.save({"epoch": 4, "name": "a run", "state_dict": wrapped, "optimizer": {}}, path)
    assert _same(named_clip("clip_small", weights=path), small)
    found = chosen_clip(str(path))
    assert (found.name, found.weights) == ("clip_small", f"those of {path}")
    assert _same(found.clip, small)


def test_random_weights_are_said_to_be() -> None:
    one, other = chosen_clip("clip_small"), chosen_clip("clip_small")
    assert one.weights == RANDOM
    assert _same(one.clip, other.clip)


def test_another_architecture(small: Clip, tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    torch.save(small.net.state_dict(), path)
    with pytest.raises(
        OnwardError,
        match=r"ViT-S-32-alt in .*w.pt, found \d+ missing \(.*of another shape \(.*posit",
    ):
        named_clip("ViT-S-32-alt", weights=path)
    torch.save({"fc.weight": torch.zeros(2, 2)}, path)
    with pytest.raises(OnwardError, match=r"found 1 weights that are no such model's \(fc.weight"):
        chosen_clip(str(path))


def test_weights_that_fit_two_models(tmp_path: Path) -> None:
    """Two activations have the same weights, and which one was meant cannot be seen."""
    with torch.device("meta"):
        nets = {
            name: open_clip().create_model(name, device="meta") for name in ("RN50", "ViT-S-32")
        }
    path = tmp_path / "w.pt"
    with pytest.raises(OnwardError, match="fit RN50, RN50-quickgelu, which do not compute"):
        architecture_of(nets["RN50"].state_dict(), path)
    assert architecture_of(nets["ViT-S-32"].state_dict(), path) == "ViT-S-32"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"model": "ViT-B-23"}, "unknown CLIP model 'ViT-B-23'. Did you mean 'ViT-B-32'"),
        ({"model": "nowhere/epoch_3.pt"}, "at nowhere/epoch_3.pt, found none"),
        ({"model": "epoch_3.pt"}, "at epoch_3.pt, found none"),
        ({"model": "ViT-B-32", "pretrained": "opnai"}, "Did you mean 'openai'"),
        ({"model": "ViT-B-32", "pretrained": "openai"}, "nothing is downloaded here"),
        ({"model": "clip_small", "pretrained": "openai"}, "expected a model of open_clip"),
        ({"model": "clip_small", "weights": Path("no.pt")}, "expected a file of weights"),
        (
            {"model": "clip_small", "weights": Path("no.pt"), "pretrained": "openai"},
            "found both",
        ),
        ({"model": "roberta-ViT-B-32"}, "nothing is downloaded here"),
    ],
)
def test_what_is_not_there(
    words: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(OnwardError, match=message):
        chosen_clip(**words)


def test_published_weights_that_are_here(
    small: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found where the hub's library keeps them, and made as open_clip makes them for that tag."""
    import huggingface_hub

    asked = []

    def cached(repository: str, file: str) -> str | None:
        asked.append((repository, file))
        return str(path) if file.endswith(".safetensors") else None

    path = tmp_path / "open_clip_model.safetensors"
    reference = open_clip().create_model("ViT-S-32-alt")
    save_file({n: v.clone() for n, v in reference.state_dict().items()}, path)
    card = {"hf_hub": "some/where/", "quick_gelu": True, "mean": (0.5,) * 3, "std": (0.5,) * 3}
    monkeypatch.setattr(open_clip(), "list_pretrained_tags_by_model", lambda name: ["tag"])
    monkeypatch.setattr(open_clip(), "get_pretrained_cfg", lambda name, tag: card)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", cached)
    found = chosen_clip("ViT-S-32-alt", pretrained="tag")
    assert found.weights == "tag, published"
    assert asked == [("some/where", "open_clip_model.safetensors")]
    own = found.clip.net
    assert torch.equal(own.token_embedding.weight, reference.token_embedding.weight)
    assert type(own.visual.transformer.resblocks[0].mlp.gelu).__name__ == "QuickGELU"
    assert own.visual.image_mean == (0.5,) * 3


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(OnwardError, match="expected the folder of a run"):
        chosen_clip(str(tmp_path))
    with pytest.raises(OnwardError, match="with the name of a model"):
        chosen_clip(str(tmp_path), pretrained="openai")
