from functools import cache

import numpy as np
import pytest
import torch

from onward.benchmarks.tic_recipes import PAIR_MACS
from onward.errors import OnwardError
from onward.models.clip import SMALL, Clip, tower_macs
from onward.models.open_clip_loader import open_clip
from onward.pairs import as_bytes, made_pairs, pair_type
from onward.tasks.image_text import ImageText
from onward.train.backward import output_gradient

SHAPE = (32, 32, 3)
KIND = pair_type(SHAPE, 64)


def made(seed: int = 0) -> Clip:
    return Clip(SHAPE, 2, torch.Generator().manual_seed(seed))


@cache
def batch() -> torch.Tensor:
    images = np.random.default_rng(0).integers(0, 256, (10, *SHAPE), np.uint8)
    return torch.from_numpy(as_bytes(made_pairs(KIND, images, [f"thing {n}" for n in range(10)])))


def state(model: Clip) -> dict[str, torch.Tensor]:
    return {name: values.clone() for name, values in {**model.parameters, **model.buffers}.items()}


def test_outputs_are_directions_and_images_bring_the_sharpness() -> None:
    said = made().predict(batch())
    assert said.shape == (10, 2, 128)
    torch.testing.assert_close(said[:, 1].norm(dim=1), torch.ones(10))
    torch.testing.assert_close(said[:, 0].norm(dim=1), torch.full((10,), 1 / 0.07))


def test_predicting_changes_nothing_and_training_starts_from_the_same_outputs() -> None:
    model = made()
    before = state(model)
    said = model.predict(batch())
    assert all(torch.equal(values, before[name]) for name, values in state(model).items())
    torch.testing.assert_close(model.forward(batch()), said)


def test_the_gradient_is_autograds() -> None:
    model = made()
    outputs = model.forward(batch())
    model.backward(output_gradient(outputs, lambda out: ImageText().loss(out, torch.zeros(10))))
    name = "visual.proj"
    moved = model.parameters[name]
    step = torch.zeros_like(moved)
    step[0, 0] = 1e-2
    values = []
    for sign in (1, -1):
        moved += sign * step
        values.append(ImageText().loss(model.predict(batch()), torch.zeros(10)).item())
        moved -= sign * step
    assert moved.grad is not None
    slope = (values[0] - values[1]) / 2e-2
    assert float(moved.grad[0, 0]) == pytest.approx(slope, rel=0.02, abs=1e-4)


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
    one = state(made())
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    other, third = state(made()), state(made(1))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not all(torch.equal(one[name], third[name]) for name in one)


def test_a_teacher_stays_as_it_was() -> None:
    model = made()
    said = model.predict(batch())
    teacher = model.frozen(state(model), 2)
    model.reset(torch.Generator().manual_seed(9))
    torch.testing.assert_close(teacher.predict(batch()), said)
    assert not torch.allclose(model.predict(batch()), said)


def test_each_pair_has_squares_of_its_own() -> None:
    model = made()
    slopes = torch.randn(3, 2, 128, generator=torch.Generator().manual_seed(0))
    together = model.squared_gradient(batch()[:3], slopes)
    for name, values in together.items():
        alone = [model.squared_gradient(batch()[[n]], slopes[[n]])[name] for n in range(3)]
        torch.testing.assert_close(sum(alone), values)


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
