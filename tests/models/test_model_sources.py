"""Modules of timm, of torchvision and from Python files are models like those of the catalogue."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from user_modules import MODULES

import onward
from onward.errors import OnwardError
from onward.methods import METHODS
from onward.models import find_model
from onward.models.classifier import Classifier
from onward.models.library_models import torchvision_backbone
from onward.models.torchvision_loader import torchvision
from onward.results.record import RunRecord

PICTURE = (32, 32, 3)
LIBRARIES = (
    "timm:test_vit",
    "timm:test_resnet",
    "torchvision:mobilenet_v3_small",
    "torchvision:squeezenet1_0",
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(count: int = 4) -> torch.Tensor:
    return torch.randint(0, 256, (count, *PICTURE), dtype=torch.uint8, generator=generator(3))


def made(name: str, shape: tuple[int, ...] = PICTURE, seed: int = 0, **options: Any) -> Classifier:
    model = find_model(name)(shape, 3, generator(seed), **options)
    assert isinstance(model, Classifier)
    return model


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    path = tmp_path / "modules.py"
    path.write_text(MODULES)
    return path


@pytest.fixture(params=[*LIBRARIES, "Convolutions", "Lazy"])
def name(request: pytest.FixtureRequest, modules: Path) -> str:
    found = str(request.param)
    return found if ":" in found else f"{modules}:{found}"


def test_initialization_depends_on_the_seed_alone(name: str) -> None:
    torch.manual_seed(1)
    one = made(name)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    again, other = made(name), made(name, seed=5)
    assert torch.equal(before, torch.get_rng_state())
    drawn = 0
    for key, values in one.state_dict().items():
        assert torch.isfinite(values).all(), key
        assert torch.equal(values, again.state_dict()[key]), key
    for key, parameter in one.named_parameters():
        if parameter.min() < parameter.max():  # biases and norms start at a constant
            drawn += parameter.numel()
            assert not torch.equal(parameter, other.state_dict()[key]), key
    assert drawn > 0.9 * one.size


def test_a_transformer_draws_all_its_weights() -> None:
    one, other = made("timm:vit_tiny_patch16_224"), made("timm:vit_tiny_patch16_224", seed=1)
    same = [
        key
        for key, values in one.named_parameters()
        if torch.equal(values, other.state_dict()[key])
    ]
    constant = ("norm", "bias")
    assert all(torch.isfinite(values).all() for values in one.parameters())
    assert [key for key in same if not any(word in key for word in constant)] == []
    assert {"backbone.pos_embed", "backbone.cls_token"} <= dict(one.named_parameters()).keys()
    assert one.preprocess.image_size == (224, 224)
    assert one.backbone(torch.zeros(1, 3, 224, 224)).shape == (1, 192)


def test_init_weights_initializes_anew_from_the_seed(name: str) -> None:
    model, fresh = made(name, seed=7), made(name)
    model.train()(images())
    for one in (model, fresh):
        one.init_weights(generator())
    for key, values in model.state_dict().items():
        assert torch.equal(values, fresh.state_dict()[key]), key


def test_gradients_reach_the_first_layer(name: str) -> None:
    model = made(name).train()
    model(images()).sum().backward()
    first = next(p for n, p in model.named_parameters() if n.endswith("weight"))
    assert first.grad is not None
    assert first.grad.abs().sum() > 0
    assert model.predict(images()).shape == (4, 3)
    assert model.macs > 0


def test_images_are_normalized_and_resized_as_the_timm_model_expects() -> None:
    model = made("timm:test_vit")
    assert model.preprocess.image_size == (160, 160)
    pixels = images().permute(0, 3, 1, 2).float() / 255
    pixels = torch.nn.functional.interpolate((pixels - 0.5) / 0.5, (160, 160), mode="bilinear")
    with torch.no_grad():
        expected = model.backbone.eval()(pixels)
    torch.testing.assert_close(model.embed(images()), expected, atol=1e-5, rtol=1e-5)


def test_image_size_is_the_model_s_own_or_the_recipe_s() -> None:
    small = made("timm:test_vit", image_size=64)
    assert small.preprocess.image_size == (64, 64)
    assert small.backbone.pos_embed.shape[1] == 1 + (64 // 16) ** 2
    assert made("timm:test_resnet").preprocess.image_size is None
    assert made("timm:test_resnet", image_size=48).preprocess.image_size == (48, 48)
    assert made("torchvision:vit_b_16", image_size=32).backbone.image_size == 32
    with pytest.raises(OnwardError, match=r"\(1, 3, 50, 50\).*divisible by patch size \(16\)"):
        made("timm:test_vit", image_size=50)


@pytest.mark.parametrize(
    ("model", "last"),
    [
        ("mobilenet_v3_small", "classifier.3"),
        ("squeezenet1_0", "classifier.1"),
        ("shufflenet_v2_x0_5", "fc"),
        ("mnasnet0_5", "classifier.1"),
    ],
)
def test_only_the_last_layer_of_a_torchvision_model_is_removed(model: str, last: str) -> None:
    whole = torchvision().models.get_model(model, weights=None)
    own = made(f"torchvision:{model}", (64, 64, 3)).backbone.state_dict()
    layer = dict(whole.named_modules())[last]
    assert own.keys() == {n for n in whole.state_dict() if not n.startswith(f"{last}.")}
    assert sum(values.numel() for values in own.values()) == sum(
        values.numel() for values in whole.state_dict().values()
    ) - sum(values.numel() for values in layer.state_dict().values())


@pytest.mark.slow
def test_every_classifier_of_torchvision_gives_features() -> None:
    models = torchvision().models
    without = {"aux_logits": False, "init_weights": False}
    # RegNets compute their widths with tensors, which have no values on this device.
    known = [name for name in models.list_models(module=models) if "regnet" not in name]
    assert made("torchvision:regnet_y_400mf").head.in_features == 440
    for model in known:
        options = without if model in ("googlenet", "inception_v3") else {}
        with torch.device("meta"):
            backbone = torchvision_backbone(model, options).eval()
            size = 299 if model == "inception_v3" else 224
            features = backbone(torch.zeros(1, 3, size, size))
        assert features.ndim == 2, model
        assert features.shape[1] != 1000, model


@pytest.mark.parametrize("kind", ["Shaped", "Lazy"])
def test_a_module_from_a_file_reads_features_or_images(modules: Path, kind: str) -> None:
    card = find_model(f"{modules}:{kind}")
    assert (card.name, card.reads) == (f"modules.py:{kind}", "numbers or images")
    for shape, inner in (((7,), (7,)), (PICTURE, (3, 32, 32))):
        model = card(shape, 3, generator())
        inputs = torch.randn(2, 7) if len(shape) == 1 else images(2)
        assert model(inputs).shape == (2, 3)
        if kind == "Shaped":
            assert model.backbone.input_shape == inner


def test_the_seed_also_draws_lazy_layers(modules: Path) -> None:
    one, other = (made(f"{modules}:Lazy", (7,), seed=seed) for seed in (0, 1))
    assert one.backbone[1].weight.shape == (6, 7)
    assert not torch.equal(one.backbone[1].weight, other.backbone[1].weight)


@pytest.mark.parametrize(
    ("kind", "shape", "message"),
    [
        ("WithoutParameters", (7,), "expected parameters to train in .*modules.py"),
        ("Map", PICTURE, r"one row of features per sample, found the shape \(1, 4, 30, 30\)"),
        ("Pair", (7,), "one row of features per sample, found tuple"),
        ("Convolutions", (7,), r"reads an input of the shape \(1, 7\), found that it raises"),
        ("NeedsMore", (7,), "made without arguments.*in_features"),
        ("NoModule", (7,), "derived from torch.nn.Module .* found the class NoModule"),
        ("math", (7,), "derived from torch.nn.Module .* found module"),
        ("Shape", (7,), "Did you mean 'Shaped'"),
    ],
)
def test_what_a_file_gives_in_place_of_features_is_named(
    modules: Path, kind: str, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(OnwardError, match=message):
        made(f"{modules}:{kind}", shape)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("resnet19", "Did you mean 'resnet18'.*onward list models"),
        ("keras:x", "one of .*path/to/file.py:Class.*timm:NAME, torchvision:NAME"),
        ("timm:", "unknown model 'timm:'"),
        ("timm:resnet10x", "Did you mean timm:resnet1"),
        ("timm:test_vit.foo", "one of r160_in1k; found foo"),
        ("torchvision:resnet19", "Did you mean torchvision:resnet18"),
        ("torchvision:fcn_resnet50", "unknown model"),
        ("nets/none.py:Net", "none at nets/none.py. Write --model path/to/file.py:Name"),
        ("nets/none.py", "Write nets/none.py:ClassName"),
    ],
)
def test_an_unknown_name_is_refused_with_what_is_close(name: str, message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        find_model(name)
    with pytest.raises(OnwardError, match=message):
        onward.load("clear", model=name)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "timm" else found(name)
    )
    with pytest.raises(OnwardError, match=r"expected timm.*pip install 'onward\[vision\]'"):
        find_model("timm:test_vit2")


def test_methods_know_models_that_were_made_for_photos(modules: Path) -> None:
    recipe = onward.load("clad-c").recipes["cpu"]
    rates = {}
    for name in ("timm:test_vit", "torchvision:resnet18", f"{modules}:Convolutions"):
        other = METHODS["c2"].make().override_recipe(replace(recipe, model=name))
        rates[name.partition(":")[0]] = other.lr
    assert list(rates.values()) == [0.0002, 0.0002, 0.001]
    assert (
        METHODS["c1"].make().override_recipe(replace(recipe, model="timm:test_vit")).image_size
        == 224
    )


@pytest.mark.parametrize("benchmark", ["clear", "iirc"])
def test_recipes_of_a_new_model_are_those_of_its_inputs(modules: Path, benchmark: str) -> None:
    name, usual = f"{modules}:Shaped", {"clear": "resnet18", "iirc": "resnet32"}[benchmark]
    numbers = onward.load(benchmark, model=name)
    assert numbers.recipes["paper"] == replace(
        onward.load(benchmark, model="mlp").recipes["paper"], model=name
    )
    pictures = onward.load(benchmark, model=name, features="image")
    assert pictures.recipes["paper"] == replace(
        onward.load(benchmark, model=usual, features="image").recipes["paper"], model=name
    )
    assert pictures.table.wide["input"].shape[1:] == PICTURE


def run(model: str, out: Path, **options: Any) -> RunRecord:
    benchmark = onward.load("clear", model=model)
    recipe = replace(benchmark.recipes["cpu"], epochs=1)
    return onward.run(replace(benchmark, recipes={"cpu": recipe}), "er", out=out, **options)


def test_the_content_of_a_file_is_part_of_a_run_and_its_place_is_not(
    modules: Path, tmp_path: Path
) -> None:
    first = run(f"{modules}:Shaped", tmp_path / "out")
    assert first.spec.recipe["model"] == "modules.py:Shaped"
    assert len(first.spec.recipe["model_digest"]) == 16
    assert str(tmp_path) not in first.spec.model_dump_json()
    (tmp_path / "elsewhere").mkdir()
    moved = modules.rename(tmp_path / "elsewhere" / "modules.py")
    assert run(f"{moved}:Shaped", tmp_path / "out").spec.hash == first.spec.hash
    moved.write_text(MODULES.replace("prod(input_shape), 5)", "prod(input_shape), 9)"))
    edited = run(f"{moved}:Shaped", tmp_path / "out")
    assert edited.spec.hash != first.spec.hash
    assert edited.cost is not None
    assert first.cost is not None
    assert (edited.cost.parameters or 0) > (first.cost.parameters or 0)


def _interrupted(at: int) -> Callable[[Any], None]:
    def watch(event: Any) -> None:
        if event.kind == "learning" and event.period == at:
            raise KeyboardInterrupt

    return watch


def test_resume_restores_a_module_from_a_file(modules: Path, tmp_path: Path) -> None:
    whole = run(f"{modules}:Lazy", tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(f"{modules}:Lazy", tmp_path / "out", watch=_interrupted(3))
    kinds: list[str] = []
    resumed = run(f"{modules}:Lazy", tmp_path / "out", watch=lambda e: kinds.append(e.kind))
    assert kinds.count("learning") < len(whole.spec.periods)
    assert resumed.spec.hash == whole.spec.hash
    np.testing.assert_array_equal(resumed.matrix(), whole.matrix())


def test_a_timm_model_learns_images(tmp_path: Path) -> None:
    benchmark = onward.load("clear", model="timm:test_resnet", tuning_periods=2)
    record = onward.run(benchmark, "finetune", out=tmp_path)
    assert record.spec.recipe["model"] == "timm:test_resnet"
    assert "model_digest" not in record.spec.recipe
    assert record.complete
