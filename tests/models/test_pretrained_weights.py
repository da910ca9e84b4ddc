"""Networks start from the files that torchvision, timm and Hugging Face publish."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from user_modules import MODULES

import onward
from onward.errors import OnwardError
from onward.models import find_model
from onward.models.classifier import Classifier
from onward.models.library_models import timm
from onward.models.pretrained_weights import weights_file
from onward.models.torchvision_loader import torchvision

Weights = dict[str, torch.Tensor]
PICTURE = (32, 32, 3)
MEAN, DEVIATION = (
    torch.tensor(values).view(3, 1, 1) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images() -> torch.Tensor:
    return torch.randint(0, 256, (3, *PICTURE), dtype=torch.uint8, generator=generator(3))


def made(name: str, weights: Path | None = None, **options: Any) -> Classifier:
    path = None if weights is None else str(weights)
    model = find_model(name)(PICTURE, 3, generator(), weights=path, **options)
    assert isinstance(model, Classifier)
    return model


def published(make: Callable[[], Any]) -> torch.nn.Module:
    """Return a network whose statistics are not those of a fresh one."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(11)
        network: torch.nn.Module = make()
        network.train()(torch.rand(4, 3, 64, 64))
    return network.eval()


@pytest.fixture(scope="module")
def resnet18() -> torch.nn.Module:
    return published(lambda: torchvision().models.resnet18(weights=None))


@pytest.fixture(scope="module")
def resnet50d() -> torch.nn.Module:
    return published(lambda: timm().create_model("resnet50d", pretrained=False))


def normalized() -> torch.Tensor:
    return (images().permute(0, 3, 1, 2).float() / 255 - MEAN) / DEVIATION


@pytest.mark.parametrize("name", ["resnet18", "torchvision:resnet18", "timm:resnet18"])
@pytest.mark.parametrize("kind", ["pth", "bin", "safetensors"])
def test_one_file_gives_resnet18_s_features_under_every_name(
    name: str, kind: str, resnet18: torch.nn.Module, tmp_path: Path
) -> None:
    path = tmp_path / f"weights.{kind}"
    (save_file if kind == "safetensors" else torch.save)(dict(resnet18.state_dict()), path)
    body = torch.nn.Sequential(*list(resnet18.children())[:-1])
    with torch.no_grad():
        expected = body(normalized()).flatten(1)
    torch.testing.assert_close(made(name, path).embed(images()), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["resnet50d", "timm:resnet50d"])
def test_timm_s_file_of_resnet50d_gives_its_features(
    name: str, resnet50d: Any, tmp_path: Path
) -> None:
    path = tmp_path / "model.safetensors"
    save_file(dict(resnet50d.state_dict()), path)
    with torch.no_grad():
        expected = resnet50d.forward_head(resnet50d.forward_features(normalized()), pre_logits=True)
    found = made(name, path)
    torch.testing.assert_close(found.embed(images()), expected, atol=1e-4, rtol=1e-4)
    # The file that its own weights are written to is read too.
    again = tmp_path / "own.pth"
    torch.save(found.backbone.state_dict(), again)
    torch.testing.assert_close(made(name, again).embed(images()), expected, atol=1e-4, rtol=1e-4)


def test_positional_embeddings_are_resized_to_the_model_s_grid(tmp_path: Path) -> None:
    whole = published(lambda: timm().create_model("test_vit", pretrained=False, img_size=64))
    path = tmp_path / "vit.pth"
    torch.save({"state_dict": whole.state_dict()}, path)
    same, larger = (
        made("timm:test_vit", path, image_size=64),
        made("timm:test_vit", path, image_size=96),
    )
    embeddings = whole.state_dict()["pos_embed"]
    assert torch.equal(same.backbone.state_dict()["pos_embed"], embeddings)
    expected = timm().layers.resample_abs_pos_embed(embeddings, (6, 6), num_prefix_tokens=1)
    torch.testing.assert_close(larger.backbone.state_dict()["pos_embed"], expected)
    assert torch.equal(larger.backbone.blocks[0].attn.qkv.weight, whole.blocks[0].attn.qkv.weight)


@pytest.mark.slow
def test_torchvision_s_positional_embeddings_are_resized_too(tmp_path: Path) -> None:
    models = torchvision().models
    whole = models.vit_b_16(weights=None, image_size=64)
    path = tmp_path / "vit.pth"
    torch.save(whole.state_dict(), path)
    found = made("torchvision:vit_b_16", path, image_size=32).backbone.state_dict()
    expected = models.vision_transformer.interpolate_embeddings(32, 16, whole.state_dict())
    name = "encoder.pos_embedding"
    assert found[name].shape == (1, 5, 768)
    torch.testing.assert_close(found[name], expected[name])


def test_layers_below_a_classifier_s_last_one_are_kept(tmp_path: Path) -> None:
    whole = published(lambda: torchvision().models.mobilenet_v3_small(weights=None))
    path = tmp_path / "mobilenet.pth"
    torch.save(whole.state_dict(), path)
    found = made("torchvision:mobilenet_v3_small", path).backbone.state_dict()
    assert torch.equal(found["classifier.0.weight"], whole.state_dict()["classifier.0.weight"])


def test_a_module_from_a_file_starts_from_its_state_dict(tmp_path: Path) -> None:
    (tmp_path / "modules.py").write_text(MODULES)
    name = f"{tmp_path}/modules.py:Convolutions"
    one = find_model(name)(PICTURE, 3, generator(5))
    torch.save({f"module.{n}": v for n, v in one.backbone.state_dict().items()}, tmp_path / "w.pt")
    assert torch.equal(made(name, tmp_path / "w.pt").embed(images()), one.embed(images()))


def test_what_does_not_fit_is_listed(resnet18: torch.nn.Module, tmp_path: Path) -> None:
    weights = dict(resnet18.state_dict())
    weights["conv1.weight"] = torch.zeros(64, 1, 7, 7)
    del weights["bn1.weight"]
    path = tmp_path / "weights.safetensors"
    save_file(weights, path)
    with pytest.raises(OnwardError) as error:
        made("torchvision:resnet18", path)
    for part in (
        "1 missing (bn1.weight)",
        "1 of another shape (conv1.weight)",
        "conv1.weight is 64 x 1 x 7 x 7 instead of 64 x 3 x 7 x 7",
    ):
        assert part in str(error.value)
    with pytest.raises(OnwardError, match="expected the weights of timm:test_vit"):
        made("timm:test_vit", path)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_a_folder_stands_for_the_file_that_hugging_face_puts_there(
    name: str, resnet18: torch.nn.Module, tmp_path: Path
) -> None:
    with pytest.raises(OnwardError, match=r"model.safetensors or pytorch_model.bin in the folder"):
        weights_file("resnet18", str(tmp_path))
    save = save_file if name.endswith("safetensors") else torch.save
    save(dict(resnet18.state_dict()), tmp_path / name)
    assert weights_file("resnet18", str(tmp_path)) == tmp_path / name


def test_torchvision_s_own_weights_come_from_its_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))

    def unreachable(*args: Any, **kwargs: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(torch.hub, "download_url_to_file", unreachable)
    with pytest.raises(OnwardError, match=r"resnet18-\w+\.pth.*no network.*put it there"):
        weights_file("resnet18", "pretrained")
    place = tmp_path / "checkpoints" / "resnet18-f37072fd.pth"
    place.touch()
    for name in ("resnet18", "torchvision:resnet18"):
        assert weights_file(name, "pretrained") == place


def test_timm_s_own_weights_come_from_hugging_face_s_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(OnwardError) as error:
        weights_file("timm:test_vit", "pretrained")
    for part in (str(tmp_path), "hf download timm/test_vit.r160_in1k model.safetensors"):
        assert part in str(error.value)
    folder = tmp_path / "models--timm--test_vit.r160_in1k"
    snapshot = folder / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0123")
    whole = published(lambda: timm().create_model("test_vit", pretrained=False, img_size=64))
    save_file(dict(whole.state_dict()), snapshot / "model.safetensors")
    benchmark = onward.load("clear", model="timm:test_vit", weights="pretrained")
    path = Path(benchmark.recipes["cpu"].weights)
    assert path == snapshot / "model.safetensors"
    found = made("timm:test_vit", path, image_size=64).backbone.state_dict()
    assert torch.equal(found["patch_embed.proj.weight"], whole.patch_embed.proj.weight)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("linear", "expected a model that takes weights, found linear.*--backbone"),
        ("resnet32", "expected a model with published weights, found resnet32"),
    ],
)
def test_models_without_published_weights_are_named(model: str, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        weights_file(model, "pretrained")


@pytest.mark.parametrize("benchmark", ["clear", "iirc", "clad-c"])
def test_weights_are_part_of_a_run_by_their_content(
    benchmark: str, resnet18: torch.nn.Module, tmp_path: Path
) -> None:
    torch.save(resnet18.state_dict(), tmp_path / "weights.pth")
    features = {"features": "image"} if benchmark == "iirc" else {}
    path = str(tmp_path / "weights.pth")
    loaded = onward.load(benchmark, model="resnet18", weights=path, **features)
    assert str(loaded.options["weights"]).startswith("sha256 ")
    assert loaded.recipes["cpu"].weights == path
    assert "weights" not in onward.load(benchmark, model="resnet18", **features).options
    with pytest.raises(OnwardError, match="expected a file with weights"):
        onward.load(benchmark, model="resnet18", weights=f"{path}.gz", **features)


def test_a_run_starts_from_the_weights(tmp_path: Path) -> None:
    whole = published(lambda: timm().create_model("test_resnet", pretrained=False))
    torch.save(whole.state_dict(), tmp_path / "weights.pth")
    options = {"model": "timm:test_resnet", "tuning_periods": 2}
    before, after = (
        onward.run(onward.load("clear", **options, **more), "finetune", out=tmp_path / "out")
        for more in ({}, {"weights": str(tmp_path / "weights.pth")})
    )
    assert before.spec.hash != after.spec.hash
    assert before.matrix().tolist() != after.matrix().tolist()
    assert str(tmp_path) not in after.spec.model_dump_json()
