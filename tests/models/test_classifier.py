"""Any backbone that returns one row of features per sample, under a head."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from small_models import backward, generator, same, targets_for
from torch import nn

from onward.errors import OnwardError
from onward.models.classifier import Classifier, ImageInput
from onward.models.pixels import ANY_IMAGES
from onward.models.torchvision_loader import torchvision
from onward.train.weights import snapshot

SHAPE = (32, 32, 3)


def images(samples: int = 6, seed: int = 1) -> torch.Tensor:
    shape = (samples, *SHAPE)
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator(seed))


def classifier(make_backbone: Callable[[], nn.Module], **options: Any) -> Classifier:
    preprocess = ImageInput(SHAPE, ANY_IMAGES, name="this network")
    return Classifier(make_backbone, SHAPE, 3, generator(), preprocess=preprocess, **options)


def headless(name: str, last: str) -> nn.Module:
    """Return a network of torchvision's without its last layer."""
    net: nn.Module = getattr(torchvision().models, name)(weights=None)
    setattr(net, last, nn.Identity())
    return net


def patches() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    return nn.Sequential(
        nn.Conv2d(3, 8, 8, stride=8),
        nn.Flatten(2),
        Tokens(),
        nn.TransformerEncoder(layer, 1),
        Mean(),
    )


class Tokens(nn.Module):
    def forward(self, found: torch.Tensor) -> torch.Tensor:
        return found.transpose(1, 2)


class Mean(nn.Module):
    def forward(self, found: torch.Tensor) -> torch.Tensor:
        return found.mean(1)


BACKBONES: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "no parameters": (nn.Flatten, 32 * 32 * 3),
    "convolution": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        4,
    ),
    "ReLU in place": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(3072, 5), nn.ReLU(inplace=True)),
        5,
    ),
    "transformer with dropout": (patches, 8),
    "shufflenet": (lambda: headless("shufflenet_v2_x0_5", "fc"), 1024),
    "mobilenet": (lambda: headless("mobilenet_v3_small", "classifier"), 576),
}


@pytest.mark.parametrize("head", ["linear", "cosine"])
@pytest.mark.parametrize("name", BACKBONES)
def test_any_backbone_with_one_row_of_features_per_sample_is_trained(name: str, head: str) -> None:
    make, width = BACKBONES[name]
    model = classifier(make, head=head)
    assert model.embed(images()).shape == (6, width)
    before = snapshot(model)
    backward(model, images(), targets_for())
    assert all(p.grad is not None for p in model.parameters())
    assert model.features.shape == (6, width)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
    assert not any(torch.equal(p, before[n]) for n, p in model.head.named_parameters("head"))
    after = snapshot(model)
    logits = model.predict(images())
    assert torch.equal(logits, model.predict(images()))
    assert same(after, snapshot(model))
    teacher = model.teacher_copy(after, 3)
    model.add_classes(5, generator(1))
    # The products of a wider head may add in another order.
    more = model.predict(images())[:, :3]
    assert (more - logits).norm() <= 1e-5 * logits.norm()
    torch.testing.assert_close(teacher.predict(images()), logits)
    model.init_weights(generator())
    assert all(torch.equal(p, before[n]) for n, p in model.backbone.named_parameters("backbone"))


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: nn.Conv2d(3, 4, 3), r"the shape \(1, 4, 30, 30\) for one input"),
        (lambda: nn.Flatten(0), r"the shape \(3072,\) for one input"),
        (lambda: nn.Flatten(0, 2), r"the shape \(96, 32\) for one input"),
        (lambda: Pair(), "tuple for one input"),
    ],
)
def test_a_backbone_with_other_outputs_is_refused(
    make: Callable[[], nn.Module], found: str
) -> None:
    message = rf"one row of features per sample, found {found}\. Flatten or pool its outputs"
    with pytest.raises(OnwardError, match=message):
        classifier(make)


class Pair(nn.Module):
    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return inputs, inputs


def test_inputs_without_features_are_refused() -> None:
    with pytest.raises(OnwardError, match=r"found the shape \(1, 0\)"):
        Classifier(nn.Identity, (0,), 3, generator())


def test_frozen_parameters_get_no_gradient() -> None:
    make, _ = BACKBONES["convolution"]
    model = classifier(lambda: make().requires_grad_(requires_grad=False))
    backward(model, images(), targets_for())
    assert {n for n, p in model.named_parameters() if p.grad is not None} == {
        "head.weight",
        "head.bias",
    }


def test_preprocessing_comes_before_the_head_where_there_is_no_backbone() -> None:
    model = Classifier(nn.Identity, (7,), 3, generator(), preprocess=nn.LayerNorm(7))
    inputs = 100 + torch.randn(4, 7)
    assert not model.is_linear_probe
    torch.testing.assert_close(model.predict(inputs), model(inputs).detach())


@pytest.mark.parametrize("name", BACKBONES)
def test_what_depends_on_the_batch_or_on_chance_is_known(name: str) -> None:
    model = classifier(BACKBONES[name][0])
    assert model.uses_batch_statistics == (name in ("shufflenet", "mobilenet"))
    assert model.is_random == (name in ("transformer with dropout",))


def test_work_is_that_of_backbone_and_head() -> None:
    model = classifier(BACKBONES["convolution"][0])
    assert model.macs == 30 * 30 * 3 * 3 * 3 * 4 + 4 * 3
