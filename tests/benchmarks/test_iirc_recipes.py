"""The recipes of IIRC are those of its paper and its released configurations."""

from dataclasses import replace

import pytest

import onward
from onward.benchmarks.iirc_recipes import RECIPES, published_changes, recipes_for
from onward.errors import OnwardError


def test_what_all_released_runs_share() -> None:
    for model in ("resnet32", "resnet50"):
        recipe = recipes_for(model)["paper"]
        assert (recipe.momentum, recipe.weight_decay, recipe.batch_size) == (0.9, 1e-5, 128)
        assert (recipe.patience, recipe.threshold, recipe.gamma) == (10, 1e-3, 0.1)
        assert recipe.first_epochs == 2 * recipe.epochs
        assert (recipe.exemplars_per_class, recipe.milestones, recipe.memory_size) == (20, (), None)


def test_what_differs_between_cifar_and_imagenet() -> None:
    cifar, imagenet = (recipes_for(model)["paper"] for model in ("resnet32", "resnet50"))
    assert (cifar.lr, cifar.epochs, cifar.augment) == (1.0, 140, "padded_crop_flip")
    assert (imagenet.lr, imagenet.epochs) == (0.1, 100)


def test_what_methods_have_otherwise() -> None:
    assert published_changes("resnet32", "icarl_cnn", "incomplete") == {}
    assert published_changes("resnet50", "lucir", "incomplete") == {}
    for method in ("icarl_cnn", "icarl_norm", "bic"):
        assert published_changes("resnet50", method, "incomplete") == {"lr": 0.5}
    assert published_changes("resnet32", "finetune", "joint")["first_epochs"] == 400
    assert published_changes("resnet50", "finetune", "joint")["first_epochs"] == 180


def test_the_quick_recipes_do_not_wait() -> None:
    for model in RECIPES:
        assert recipes_for(model)["cpu"].patience is None
    quick = recipes_for("mlp")["cpu"]
    assert (quick.epochs, quick.first_epochs, quick.hidden_dim) == (20, 40, 256)
    assert quick.lr_at(0, 100) == 1.0
    assert quick.lr_at(60, 100) == pytest.approx(0.1)
    assert quick.lr_at(85, 100) == pytest.approx(0.01)


def test_an_unknown_model_is_told_the_nearest() -> None:
    with pytest.raises(OnwardError, match="Did you mean 'resnet32'"):
        onward.load("iirc", data="emoji", features="image", model="resnet33")


def test_a_model_that_iirc_does_not_have_is_trained_like_its_own() -> None:
    other = recipes_for("convnet", like="resnet50")
    assert other["paper"].model == "convnet"
    assert replace(other["paper"], model="resnet50") == RECIPES["resnet50"]["paper"]
