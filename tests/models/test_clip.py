from functools import cache

import numpy as np
import pytest
import torch
from small_models import grad_copies

from onward.benchmarks.tic_recipes import PAIR_MACS
from onward.errors import OnwardError
from onward.models.clip import SMALL, Clip, tower_macs
from onward.models.clip_config import open_clip
from onward.models.fisher import fisher_diagonal
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText
from onward.train.weights import snapshot

SHAPE = (32, 32, 3)
KIND = pair_type(SHAPE, 64)


def made(seed: int = 0) -> Clip:
    return Clip(SHAPE, 2, torch.Generator().manual_seed(seed))


@cache
def batch() -> torch.Tensor:
    images = np.random.default_rng(0).integers(0, 256, (10, *SHAPE), np.uint8)
    return torch.from_numpy(as_bytes(made_pairs(KIND, images, [f"thing {n}" for n in range(10)])))


def test_outputs_are_directions_and_images_bring_the_sharpness() -> None:
    said = made().predict(batch())
    assert said.shape == (10, 2, 128)
    torch.testing.assert_close(said[:, 1].norm(dim=1), torch.ones(10))
    torch.testing.assert_close(said[:, 0].norm(dim=1), torch.full((10,), 1 / 0.07))


def test_predicting_changes_nothing_and_training_starts_from_the_same_outputs() -> None:
    model = made()
    before = snapshot(model)
    said = model.predict(batch())
    assert all(torch.equal(values, before[name]) for name, values in snapshot(model).items())
    torch.testing.assert_close(model.train()(batch()).detach(), said)
    assert not said.requires_grad


def test_the_loss_changes_as_the_gradient_says() -> None:
    model = made()
    ImageText().loss(model(batch()), torch.zeros(10)).backward()
    parameter = model.net.visual.proj
    values = []
    for sign in (1, -1):
        with torch.no_grad():
            parameter[0, 0] += sign * 1e-2
            values.append(ImageText().loss(model.predict(batch()), torch.zeros(10)).item())
            parameter[0, 0] -= sign * 1e-2
    quotient = (values[0] - values[1]) / 2e-2
    assert float(parameter.grad[0, 0]) == pytest.approx(quotient, rel=0.02, abs=1e-4)


def test_training_mode_adds_nothing_random() -> None:
    model = made().train()
    assert model.training
    assert not model.net.training
    assert torch.equal(model(batch()), model(batch()))


def test_there_are_no_class_rows_and_classes_are_only_counted() -> None:
    model = made()
    before = snapshot(model)
    model.add_classes(5, torch.Generator())
    assert (model.classes, model.class_rows) == (5, {})
    assert all(torch.equal(values, before[name]) for name, values in snapshot(model).items())


def test_what_a_sample_does_not_have_is_zero_and_several_lines_are_their_mean() -> None:
    model = made()
    images = np.zeros((1, *SHAPE), np.uint8)
    texts = made_pairs(KIND, None, ["a fox", "a cat", "a fox\na cat"])
    rows = torch.from_numpy(as_bytes(np.concatenate([made_pairs(KIND, images, None), texts])))
    said = model.predict(rows)
    assert not said[0, 1].any()
    assert not said[1:, 0].any()
    mean = (said[1, 1] + said[2, 1]) / 2
    torch.testing.assert_close(said[3, 1], mean / mean.norm())


def test_seeds_decide_the_weights_and_nothing_else_does() -> None:
    torch.manual_seed(1)
    one = snapshot(made())
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    other, third = snapshot(made()), snapshot(made(1))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not all(torch.equal(one[name], third[name]) for name in one)


def test_a_teacher_stays_as_it_was() -> None:
    model = made()
    said = model.predict(batch())
    teacher = model.teacher_copy(snapshot(model), 2)
    model.init_weights(torch.Generator().manual_seed(9))
    torch.testing.assert_close(teacher.predict(batch()), said)
    assert not torch.allclose(model.predict(batch()), said)


def test_the_fisher_diagonal_of_a_pair_holds_the_others_fixed() -> None:
    model, inputs = made(), batch()[:3]
    found = fisher_diagonal(model, inputs, torch.zeros(3), ImageText().loss)
    outputs = model.predict(inputs).requires_grad_()
    (gradients,) = torch.autograd.grad(3 * ImageText().loss(outputs, torch.zeros(3)), outputs)
    expected = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for number in range(3):
        model.zero_grad()
        model(inputs[[number]]).backward(gradients[[number]])
        for name, gradient in grad_copies(model).items():
            expected[name] += gradient.square()
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        torch.testing.assert_close(found[name], values)


def test_the_fisher_diagonal_of_images_leaves_the_texts_at_zero() -> None:
    model = made()
    images = np.random.default_rng(0).integers(0, 256, (2, *SHAPE), np.uint8)
    rows = torch.from_numpy(as_bytes(made_pairs(KIND, images, None)))
    found = fisher_diagonal(model, rows, torch.zeros(2), lambda out, _: out[:, 0, 0].mean())
    assert found["net.visual.proj"].max() > 0
    assert not found["net.text_projection"].any()


@pytest.mark.parametrize(("name", "published"), [("ViT-B-16", 20.545e9), ("ViT-B-32", 7.39e9)])
def test_work_is_counted_from_the_model(name: str, published: float) -> None:
    library = open_clip()
    with torch.device("meta"):
        net = library.model.CLIP(**library.get_model_config(name)).eval()
        counted = sum(tower_macs(net, (224, 224), 77))
    assert counted == PAIR_MACS[f"clip_{name.lower().replace('-', '_').replace('b_', 'b')}"]
    # open_clip's own table counts a little more than products.
    assert counted == pytest.approx(published, rel=5e-4)


def test_the_small_one_is_counted_too() -> None:
    assert made().macs == PAIR_MACS["clip_small"]


def test_other_inputs_are_refused() -> None:
    with pytest.raises(OnwardError, match="expected pairs of an image"):
        Clip((497,), 2, torch.Generator(), config=SMALL)
