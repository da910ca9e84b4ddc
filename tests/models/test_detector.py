"""Detectors behind the protocol of models."""

from pathlib import Path

import pytest
import torch
from small_models import generator, grad_copies, same

from onward.checks.tiny_boxes import tiny_boxes
from onward.errors import OnwardError
from onward.models import MODELS
from onward.models.detector import Detector
from onward.models.torchvision_loader import torchvision
from onward.tasks.boxes import Boxes, mirrored
from onward.train.weights import snapshot

SMALL = pytest.mark.parametrize("name", ["small_rcnn", "small_swin"])
SHAPE = (32, 48, 3)
LAST = "net.roi_heads.box_predictor."


def made(name: str = "small_rcnn", classes: int = 2, seed: int = 0, **options: object) -> Detector:
    model = MODELS[name](SHAPE, classes, generator(seed), **options)
    assert isinstance(model, Detector)
    return model


def batch(light: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the training frames of a light, and their boxes."""
    stream = tiny_boxes().stream(0)
    train = stream[light].train
    return torch.tensor(stream.table.wide["input"][train.rows]), torch.tensor(train.labels)


def step(model: Detector, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Set the gradient of the loss of a batch, and return the loss."""
    model.train().zero_grad()
    loss = model(inputs).loss(targets)
    loss.backward()
    return loss.detach()


@SMALL
def test_predicting_changes_no_parameter_and_no_buffer(name: str) -> None:
    model, (inputs, targets) = made(name), batch()
    step(model, inputs, targets)
    before, drawn = snapshot(model), torch.get_rng_state()
    found = model.predict(inputs)
    embedded = model.embed(inputs)
    assert found.shape == (len(inputs), 100, 6)
    assert embedded.shape == (len(inputs), 64)
    assert torch.equal(found, model.predict(inputs))
    assert not found.requires_grad
    assert not embedded.requires_grad
    assert {module.training for module in model.modules()} == {True}
    assert same(before, snapshot(model))
    assert torch.equal(drawn, torch.get_rng_state())
    # Each image is seen for itself.
    torch.testing.assert_close(model.predict(inputs[1:2])[0, :5], found[1, :5])
    real = found[found[..., 0] >= 0]
    assert len(real)
    assert set(real[:, 0].tolist()) <= {0.0, 1.0}
    assert (real[:, 2:] >= 0).all()
    assert (real[:, 2:] <= torch.tensor([48.0, 32, 48, 32])).all()


def test_what_is_drawn_comes_from_the_batch_and_disturbs_nobody() -> None:
    model, (inputs, targets) = made(), batch()
    drawn = torch.get_rng_state()
    first = model(inputs).loss(targets)
    torch.rand(3)
    again = model(inputs)
    assert torch.equal(first, again.loss(targets))
    assert torch.equal(first, again.loss(targets))
    torch.set_rng_state(drawn)
    other = made(seed=1)
    other.add_classes(3, generator())
    other.teacher_copy(snapshot(model), 2)
    model(inputs).loss(targets)
    assert torch.equal(drawn, torch.get_rng_state())


def test_weights_are_drawn_from_the_generator() -> None:
    one, same_seed, other = made(), made(), made(seed=1)
    assert same(snapshot(one), snapshot(same_seed))
    assert not same(snapshot(one), snapshot(other))
    other.init_weights(generator())
    assert same(snapshot(one), snapshot(other))


def test_the_loss_falls_along_its_gradient() -> None:
    model, (inputs, targets) = made(), batch()
    loss = step(model, inputs, targets)
    gradient = grad_copies(model)
    assert gradient.keys() == dict(model.named_parameters()).keys()
    squared = sum(float(g.square().sum()) for g in gradient.values())
    # So short that the proposals that the loss samples stay the same.
    length = 1e-4 / squared**0.5
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter -= length * gradient[name]
    fallen = float(loss) - float(model(inputs).loss(targets).detach())
    assert fallen == pytest.approx(length * squared, rel=0.2)


def test_it_learns_to_find_what_is_there() -> None:
    model, (inputs, targets) = made(), (some[:2] for some in batch())
    adam = torch.optim.Adam(model.parameters(), 0.001)
    for _ in range(40):
        step(model, inputs, targets)
        adam.step()
    task = Boxes()
    said = task.decode(model.predict(inputs).numpy(), ("disc", "square"), len(inputs))
    assert task.score(said, targets.numpy())["map50"] > 0.8


def test_crowds_and_empty_images_are_nothing_to_learn_from() -> None:
    model, (inputs, targets) = made(), batch()
    crowds, none = targets.clone(), targets.clone()
    crowds[..., 5], none[..., 0] = 1, -1
    assert torch.equal(model(inputs).loss(crowds), model(inputs).loss(none))
    assert torch.isfinite(model(inputs).loss(none))


def test_a_teacher_is_frozen_and_the_model_gets_more_classes() -> None:
    model, (inputs, targets) = made(), batch()
    before, said = snapshot(model), model.predict(inputs)
    teacher = model.teacher_copy(before, 2)
    assert model.classes == 2
    model.add_classes(2, generator(1))
    assert same(before, snapshot(model))
    model.add_classes(5, generator(1))
    assert (model.classes, teacher.classes) == (5, 2)
    rows = f"{LAST}cls_score.weight"
    assert torch.equal(model.get_parameter(rows)[:3], before[rows])
    step(model, inputs, targets)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 1.0
    assert torch.equal(teacher.predict(inputs), said)
    seen = teacher(inputs)
    assert not seen.classified(seen.proposals)[0].requires_grad
    older = model.teacher_copy(before, 2)
    assert torch.equal(older.predict(inputs), said)
    assert model.classes == 5


def test_the_rows_of_its_classes_are_its_own_and_the_background_is_none_of_them() -> None:
    model, (inputs, _) = made(), batch()
    assert {name: tuple(rows.shape[:2]) for name, rows in model.class_rows.items()} == {
        f"{LAST}cls_score.weight": (2, 1),
        f"{LAST}cls_score.bias": (2, 1),
        f"{LAST}bbox_pred.weight": (2, 4),
        f"{LAST}bbox_pred.bias": (2, 4),
    }
    before = snapshot(model)
    with model.evaluating():
        seen = model(inputs)
        logits, moves = seen.classified(seen.proposals)
        for rows in model.class_rows.values():
            rows[1] += 1.0
        after, moved = model(inputs).classified(seen.proposals)
    for name, values in model.named_parameters():
        each = len(values) // 3 if name.startswith(LAST) else len(values)
        assert torch.equal(values[: 2 * each], before[name][: 2 * each])
        assert torch.equal(values[2 * each :], before[name][2 * each :] + 1.0)
    assert torch.equal(after[:, :2], logits[:, :2])
    assert (after[:, 2] != logits[:, 2]).all()
    assert torch.equal(moved[:, :8], moves[:, :8])
    assert (moved[:, 8:] != moves[:, 8:]).all()


def test_the_rows_of_its_classes_stay_theirs_when_others_come() -> None:
    model = made()
    before = {name: rows.clone() for name, rows in model.class_rows.items()}
    model.add_classes(4, generator(1))
    assert all(len(rows) == 4 for rows in model.class_rows.values())
    assert same({name: rows[:2] for name, rows in model.class_rows.items()}, before)
    bias = f"{LAST}cls_score.bias"
    model.class_rows[bias][3] = 9.0
    assert model.get_parameter(bias)[4] == 9.0


def test_a_temperature_makes_scores_less_sure_and_moves_no_box() -> None:
    model, (inputs, _) = made(), batch()
    sure = model.predict(inputs)
    model.get_buffer("net.temperature").fill_(0.2)
    surer = model.predict(inputs)
    assert surer[..., 1].max() > sure[..., 1].max()
    with pytest.raises(OnwardError, match="temperature of 1"):
        Boxes().distillation_loss(model(inputs), sure, 2.0)


def test_scaled_images_give_boxes_of_the_images_that_came() -> None:
    inputs, targets = batch()
    model = made(image_size=64)
    found = model(inputs)
    assert found.maps["0"].shape[2:] == (8, 12)
    assert torch.isfinite(found.loss(targets))
    assert model.predict(inputs)[..., 4].max() <= 48


def test_a_mirrored_image_has_mirrored_boxes() -> None:
    inputs, targets = batch()
    which = torch.tensor([True, False, True, False, False])
    flipped = mirrored(targets, which, 48)
    images = torch.where(which[:, None, None, None], inputs.flip(2), inputs)
    for image, rows in zip(images, flipped, strict=True):
        (left, top, right, bottom) = rows[rows[:, 0] >= 0][-1, 1:5].int().tolist()
        middle = image[(top + bottom) // 2, (left + right) // 2].int()
        assert (middle[0] - middle[2]).abs() > 60  # red or blue, on a ground that is neither
    assert torch.equal(mirrored(flipped, which, 48), targets)


def test_what_it_cannot_do_is_said() -> None:
    model, (inputs, _) = made(), batch()
    with pytest.raises(OnwardError, match="expected images"):
        MODELS["small_rcnn"]((7,), 2, generator())
    with pytest.raises(OnwardError, match="linear head"):
        made(head="cosine")
    with pytest.raises(OnwardError, match="trained from scratch"):
        made(weights="weights.pth")
    with pytest.raises(OnwardError, match="as bytes"):
        model(inputs.float())


def test_sizes_and_work() -> None:
    conv, swin = (
        MODELS[name]((108, 192, 3), 6, generator()) for name in ("small_rcnn", "small_swin")
    )
    assert 450_000 < conv.size < 650_000
    assert 450_000 < swin.size < 700_000
    assert 60e6 < conv.macs < 120e6
    assert 60e6 < swin.macs < 120e6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["faster_rcnn", "faster_rcnn_swin"])
def test_the_large_ones_take_a_step(name: str) -> None:
    model, (inputs, targets) = made(name, classes=6, image_size=64), batch()
    assert len(model.get_parameter(f"{LAST}cls_score.weight")) == 7
    before = snapshot(model)
    step(model, inputs[:2], targets[:2])
    assert grad_copies(model).keys() == dict(model.named_parameters()).keys()
    statistics = {n for n in before if not torch.equal(before[n], snapshot(model)[n])}
    assert all("running" in n or "num_batches" in n for n in statistics)
    before = snapshot(model)
    model.predict(inputs[:1])
    assert same(before, snapshot(model))


@pytest.mark.slow
def test_weights_of_a_detector_and_of_a_backbone(tmp_path: Path) -> None:
    vision = torchvision()
    path = tmp_path / "weights.pth"
    published = vision.models.detection.fasterrcnn_resnet50_fpn(
        weights=None, weights_backbone=None, num_classes=91
    ).state_dict()
    # As the released file has them.
    older = {
        name.replace("rpn.head.conv.0.0.", "rpn.head.conv.")
        .replace("_blocks.0.0.", "_blocks.0.")
        .replace("_blocks.1.0.", "_blocks.1.")
        .replace("_blocks.2.0.", "_blocks.2.")
        .replace("_blocks.3.0.", "_blocks.3."): values
        for name, values in published.items()
    }
    torch.save(older, path)
    model = made("faster_rcnn", classes=6, image_size=64, weights=str(path))
    for name in ("rpn.head.conv.0.0.weight", "backbone.body.layer4.0.conv1.weight"):
        assert torch.equal(model.net.get_parameter(name), published[name])
    assert model.classes == 6
    inputs, targets = batch()
    step(model, inputs[:1], targets[:1])
    # The first layers stay, as torchvision has it.
    assert "net.backbone.body.conv1.weight" not in grad_copies(model)
    assert "net.backbone.body.layer2.0.conv1.weight" in grad_copies(model)

    swin = vision.models.swin_t(weights=None).state_dict()
    torch.save(swin, path)
    model = made("faster_rcnn_swin", classes=6, image_size=64, weights=str(path))
    first = model.net.get_parameter("backbone.stages.body.0.0.weight")
    assert torch.equal(first, swin["features.0.0.weight"])
    with pytest.raises(OnwardError, match="Is it the file of another network"):
        made("faster_rcnn", classes=6, weights=str(path))
