"""Methods where boxes are learned: what each minimises, and that they begin alike."""

from typing import Any

import numpy as np
import pytest
import torch

import onward
from onward.checks.tiny_boxes import tiny_boxes
from onward.errors import OnwardError
from onward.learners import choose
from onward.methods.clad_d import D1, D2, D3, map_distance, output_distance, proposal_distance
from onward.models import MODELS
from onward.models.detector import Detector
from onward.train.learner import GradientLearner
from onward.types import Budget, Call, Period, Setting, View

OWN = ("d1", "d2", "d3")
BENCHMARK = tiny_boxes()
STREAM = BENCHMARK.stream(0)


def learner(name: str, **options: Any) -> GradientLearner:
    made = choose(name, options, BENCHMARK).build(BENCHMARK.setting(0))
    assert isinstance(made, GradientLearner)
    return made


def learned(one: GradientLearner, period: Period) -> Budget:
    """Let a learner learn a period, and return what it spent."""
    budget = Budget({}, sample_bytes=1)
    budget.open(period.train.rows)
    if len(held := getattr(one, "held", np.empty(0, np.int64))):
        budget.held = held
    call = Call(budget)
    one.learn(View(STREAM.table, period.train, period.classes, call), budget)
    one.held = budget.held  # type: ignore[attr-defined]
    return budget


def parameters(one: GradientLearner) -> dict[str, torch.Tensor]:
    assert one._model is not None
    return {name: p.detach().clone() for name, p in one._model.named_parameters()}


def test_all_begin_with_the_same_first_period_and_take_as_many_steps() -> None:
    every = {name: learner(name) for name in ("finetune", "er", *OWN)}
    spent = {name: learned(one, STREAM[0]).spent for name, one in every.items()}
    first = parameters(every["finetune"])
    for name, one in every.items():
        found = parameters(one)
        assert found.keys() == first.keys()
        assert all(torch.equal(found[each], first[each]) for each in first), name
        assert spent[name]["iterations"] == spent["finetune"]["iterations"]
    for name, one in every.items():
        assert learned(one, STREAM[1]).spent["iterations"] == 4, name
    later = {name: parameters(one) for name, one in every.items()}
    weight = "net.backbone.smooth.0.weight"
    others = [later[name][weight] for name in every]
    assert all(not torch.equal(others[0], other) for other in others[1:])


def test_d3_sees_two_new_images_and_two_old_ones() -> None:
    method, period = D3(), STREAM[1]
    method.begin(Setting(BENCHMARK.task, BENCHMARK.recipes["cpu"], 0))
    budget = Budget({}, sample_bytes=1)
    budget.open(STREAM[0].train.rows)
    first = View(STREAM.table, STREAM[0].train, period.classes, Call(budget))
    assert method.training_data(first, budget).batch is None
    method.on_learn_end(None, first, budget)  # type: ignore[arg-type]
    budget.open(period.train.rows)
    training = method.training_data(
        View(STREAM.table, period.train, period.classes, Call(budget)), budget
    )
    assert (training.batch, training.replay, training.epoch) == (2, 2, 5)


def test_a_teacher_of_boxes_has_no_temperature() -> None:
    with pytest.raises(OnwardError, match="temperature of 1"):
        onward.run(BENCHMARK, "lwf", options={"alpha": 1.0, "temperature": 2.0})


def two() -> tuple[Detector, Detector, torch.Tensor, torch.Tensor]:
    """Return a detector, one of other weights, and frames with their boxes."""
    models = [
        MODELS["small_rcnn"]((32, 48, 3), 2, torch.Generator().manual_seed(seed)) for seed in (0, 1)
    ]
    assert isinstance(models[0], Detector)
    assert isinstance(models[1], Detector)
    train = STREAM[0].train
    inputs = torch.tensor(STREAM.table.wide["input"][train.rows])
    return models[0], models[1], inputs, torch.tensor(train.labels)


@torch.no_grad()
def test_nothing_is_lost_while_nothing_has_changed() -> None:
    model, other, inputs, _ = two()
    same = model.teacher_copy(model.state_dict(), 2)
    for distance in (map_distance, proposal_distance):
        assert float(distance(model(inputs), same(inputs))) == 0
        assert float(distance(model(inputs), other(inputs))) > 0
    assert float(output_distance(model(inputs), same(inputs), 2.0)) < 1e-9
    assert float(output_distance(model(inputs), other(inputs), 2.0)) > 1e-6


class Seen:
    """A detector's output of one place with two anchors."""

    def __init__(self, seen: list[float], objects: list[float], moved: float) -> None:
        self.maps = {"0": torch.tensor(seen).view(1, 1, 1, -1)}
        self.objectness = torch.tensor([objects])
        self.moves = torch.full((1, len(objects), 4), moved)


def test_the_distances_of_d1_by_hand() -> None:
    now, then = Seen([0.0, 2.0], [1.0, 1.0], 0.0), Seen([0.0, 6.0], [3.0, 0.0], 0.5)
    # Less their means, -1 and 1 against -3 and 3: more was seen at the second place, by 2.
    assert map_distance(now, then).item() == 1.0  # type: ignore[arg-type]
    # The first shape is surer by 2, and its four numbers are off by 0.5; the second is not surer.
    assert proposal_distance(now, then).item() == (4 + 4 * 0.25) / 2  # type: ignore[arg-type]


def test_what_d1_and_d2_minimise() -> None:
    model, other, inputs, targets = two()
    with torch.no_grad():
        taught = other.eval()(inputs)
    seen = model(inputs)
    own = seen.loss(targets)
    both = 2.0 * map_distance(seen, taught) + 3.0 * proposal_distance(seen, taught)
    assert torch.equal(
        D1(maps=2.0, proposals=3.0, labels=False).replay_loss(seen, taught, targets), both
    )
    torch.testing.assert_close(
        D1(maps=2.0, proposals=3.0).replay_loss(seen, taught, targets), both + own
    )
    said = own + 0.5 * output_distance(seen, taught, 4.0)
    torch.testing.assert_close(
        D2(alpha=0.5, temperature=4.0).replay_loss(seen, taught, targets), said
    )


def test_d2_divides_outputs_by_its_temperature_and_stores_rare_ones() -> None:
    one = learner("d2", temperature=3.0, memory=2)
    learned(one, STREAM[0])
    assert one._model is not None
    assert one._model.net.temperature.item() == 3.0
    kept = one.method.state()["memory"]["memory"]["labels"]
    # Of the classes of the tiny stream, the disc has the number that pedestrians have.
    discs = np.sort((STREAM[0].train.labels[..., 0] == 0).sum(1))
    assert sorted((kept[..., 0] == 0).sum(1)) == discs[-2:].tolist()


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (D1, {"maps": -1.0}),
        (D1, {"labels": 3}),
        (D1, {"memory": 0}),
        (D2, {"temperature": 0.0}),
        (D2, {"alpha": -1.0}),
        (D3, {"memory": 2.5}),
    ],
)
def test_options_that_make_no_sense(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(OnwardError, match="expected"):
        make(**options)
