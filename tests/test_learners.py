from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from river.linear_model import SoftmaxRegression
from sklearn.linear_model import SGDClassifier

import onward
from onward.budget import Budget
from onward.checks.tiny import tiny_benchmark
from onward.errors import LookAheadError, OnwardError
from onward.fit import IMAGES
from onward.learners import OneByOne, PartialFit, choose
from onward.metrics import clear
from onward.train.method import Batch, Method
from onward.types import Setting, View


class Majority:
    def __init__(self, favourite: int | None = None) -> None:
        self.label = favourite

    def learn(self, view: View, budget: Budget) -> None:
        self.label = int(np.bincount(view.labels).argmax())

    def predict(self, view: View) -> Any:
        return np.full(len(view), self.label)


class Named(Majority):
    def predict(self, view: View) -> Any:
        return [view.classes[self.label or 0]] * len(view)


class Scored(Majority):
    def predict(self, view: View) -> Any:
        return np.eye(len(view.classes))[np.full(len(view), self.label)]


def test_indices_names_and_scores_are_the_same_answer() -> None:
    matrices = [onward.run(tiny_benchmark(), kind).matrix() for kind in (Majority, Named, Scored)]
    np.testing.assert_array_equal(matrices[0], matrices[1])
    np.testing.assert_array_equal(matrices[0], matrices[2])


def test_a_class_an_instance_and_options_name_different_runs() -> None:
    chosen = [
        choose(Majority),
        choose(Majority()),
        choose(Majority(favourite=1)),
        choose(Named()),
        choose("er"),
    ]
    assert len({(c.name, c.digest) for c in chosen}) == 5
    assert choose(Majority()).digest == choose(Majority()).digest


def test_a_class_of_ones_own_says_what_it_needs() -> None:
    class Picky(Majority):
        needs: ClassVar = {IMAGES: "which it looks at"}

    with pytest.raises(OnwardError, match=r"Picky needs images as inputs, which it looks at; "):
        choose(Picky, {}, tiny_benchmark())


def test_an_instance_is_not_changed_by_its_run() -> None:
    learner = Majority(favourite=2)
    onward.run(tiny_benchmark(), learner)
    assert learner.label == 2


class Told:
    def __init__(self, setting: Setting) -> None:
        self.seed = setting.seed

    def learn(self, view: View, budget: Budget) -> None:
        pass

    def predict(self, view: View) -> Any:
        return np.full(len(view), self.seed)


def test_a_class_that_asks_for_the_setting_gets_it() -> None:
    matrix = onward.run(tiny_benchmark(), Told, seed=1).matrix()
    assert np.isfinite(matrix).all()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(3), r"shape \(3,\)"),
        (lambda view: np.full(len(view), 99), "expected class indices from 0 to"),
        (lambda view: np.full(len(view), -1), "expected class indices from 0 to"),
        (lambda view: ["nobody"] * len(view), "expected class names out of"),
        (lambda view: np.full((len(view), len(view.classes)), np.nan), "has probably diverged"),
        (lambda view: None, "expected from predict"),
    ],
)
def test_wrong_answers_are_told_apart(answer: Any, message: str) -> None:
    class Wrong(Majority):
        def predict(self, view: View) -> Any:
            return answer(view) if callable(answer) else answer

    with pytest.raises(OnwardError, match=message):
        onward.run(tiny_benchmark(), Wrong)


def test_a_learner_that_keeps_its_view_is_stopped() -> None:
    class Keeper(Majority):
        view: View | None = None

        def learn(self, view: View, budget: Budget) -> None:
            if self.view is not None:
                self.view.inputs()
            self.view = view
            super().learn(view, budget)

    with pytest.raises(LookAheadError, match="after its call had returned"):
        onward.run(tiny_benchmark(), Keeper)


def test_options_reach_the_method_and_wrong_ones_are_named(tmp_path: Path) -> None:
    few = onward.run(tiny_benchmark(), "er", out=tmp_path, options={"memory": 5})
    assert few.cost is not None
    assert few.cost.stored_samples == 5
    with pytest.raises(OnwardError, match="It takes: memory"):
        onward.run(tiny_benchmark(), "er", options={"size": 5})
    for wrong in (0, -5, 2.5, "abc"):
        with pytest.raises(OnwardError, match="at least 1, found"):
            onward.run(tiny_benchmark(), "er", options={"memory": wrong})
    with pytest.raises(OnwardError, match="made already"):
        onward.run(tiny_benchmark(), Majority(), options={"favourite": 1})


def test_a_budget_shortens_training_and_refuses_memory() -> None:
    record = onward.run(tiny_benchmark(), "finetune", limits={"iterations": 2})
    assert record.cost is not None
    assert record.cost.iterations == 2 * 4
    macs = 3 * 24 * 8 * 4
    record = onward.run(tiny_benchmark(), "finetune", limits={"macs": macs})
    assert record.cost is not None
    assert 0 < record.cost.macs <= macs * 4
    with pytest.raises(OnwardError, match="stored_samples = 10"):
        onward.run(tiny_benchmark(), "cumulative", limits={"stored_samples": 10})
    with pytest.raises(OnwardError, match="does not pay for a single step"):
        onward.run(tiny_benchmark(), "finetune", limits={"macs": 1})
    for wrong in (0, -3, float("inf"), float("nan")):
        with pytest.raises(OnwardError, match="expected a positive number"):
            onward.run(tiny_benchmark(), "finetune", limits={"iterations": wrong})
    small = onward.run(tiny_benchmark(), "er", limits={"stored_samples": 7})
    assert small.cost is not None
    assert small.cost.stored_samples == 7
    assert small.cost.parameters == (8 + 1) * 4
    with pytest.raises(OnwardError, match="parameters = 3"):
        onward.run(tiny_benchmark(), "finetune", limits={"parameters": 3})


class Shrunk(Method):
    """Finetuning whose gradient is taken away: it overrides the fourth question."""

    def on_after_backward(self, batch: Batch) -> None:
        for parameter in batch.model.parameters():
            parameter.grad = torch.zeros_like(parameter)


class Twice(Method):
    """Finetuning on twice the loss: it overrides the third question."""

    def compute_loss(self, batch: Batch) -> torch.Tensor:
        return 2 * super().compute_loss(batch)


class Counting(Method):
    """Finetuning that counts its steps: it has state inside a call."""

    steps, replayed = 0, 0

    def on_after_backward(self, batch: Batch) -> None:
        self.steps += 1
        self.replayed += len(batch.targets) - batch.num_new
        for parameter in batch.model.parameters():
            parameter.grad = parameter.grad / self.steps if parameter.grad is not None else None

    def state(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]

    def save_step_state(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def restore_step_state(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]


def test_every_question_is_asked() -> None:
    plain = onward.run(tiny_benchmark(), "finetune").matrix()
    still = onward.run(tiny_benchmark(), Shrunk).matrix()
    assert (still[0, :2] == still[1, :2]).all()
    assert not np.array_equal(plain, still)
    assert not np.array_equal(plain, onward.run(tiny_benchmark(), Twice).matrix())


def test_state_inside_a_call_survives_a_resume() -> None:
    onward.checks.check_method(Counting, only=["resumed_runs_equal_uninterrupted_ones"])


def test_partial_fit_keeps_to_one_pass_online() -> None:
    benchmark = onward.load("clear", protocol="online")
    record = onward.run(benchmark, PartialFit(SGDClassifier(random_state=0)))
    assert record.cost is not None
    assert record.cost.samples == sum(len(period.train) for period in benchmark.stream(0))


def test_a_label_space_that_grows_is_too_much_for_scikit_learn() -> None:
    with pytest.raises(OnwardError, match="its label space cannot grow"):
        onward.run(tiny_benchmark(), PartialFit(SGDClassifier(random_state=0)))


@pytest.mark.slow
def test_a_river_classifier_on_the_emoji_history() -> None:
    benchmark = onward.load("clear", data="emoji", protocol="streaming")
    record = onward.run(benchmark, OneByOne(SoftmaxRegression()))
    assert clear.next_domain(record.matrix()) > 0.4


def test_code_and_settings_tell_learners_apart() -> None:
    class Configured(Majority):
        def __init__(self, value: Any) -> None:
            super().__init__()
            self.value = value

    many, other = np.zeros(5000), np.zeros(5000)
    other[2500] = 1
    settings = [0, 1, "0", many, other, [0, 1], lambda: 0, lambda: 1, {"a": 0}, many > 0]
    digests = [choose(Configured(value)).digest for value in settings]
    assert len(set(digests)) == len(settings)
    assert choose(Configured(many.copy())).digest == digests[3]


def test_code_typed_at_a_prompt_leaves_no_folder(tmp_path: Path) -> None:
    space: dict[str, Any] = {"__name__": "__main__", "Majority": Majority}
    exec("class Typed(Majority): pass", space)
    with pytest.raises(OnwardError, match="Define it in a file"):
        onward.run(tiny_benchmark(), space["Typed"], out=tmp_path)
    assert onward.run(tiny_benchmark(), space["Typed"]).complete
    assert list(tmp_path.iterdir()) == []


class Broken(Majority):
    def learn(self, view: View, budget: Budget) -> None:
        raise ZeroDivisionError("mine")


class BrokenMethod(Method):
    def compute_loss(self, batch: Batch) -> torch.Tensor:
        raise ZeroDivisionError("mine")


@pytest.mark.parametrize("kind", [Broken, BrokenMethod])
def test_an_error_of_a_learners_own_says_where_it_happened(kind: type) -> None:
    with pytest.raises(ZeroDivisionError, match="mine") as found:
        onward.run(tiny_benchmark(), kind, seed=3)
    (note,) = found.value.__notes__
    assert f"{kind.__name__}, seed 3, learning period " in note
