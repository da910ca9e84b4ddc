"""Judging between epochs: plateaus as torch has them, the best epoch, the same bits on resume."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from shown import begun, generator, shown

import onward
from onward.benchmarks import retrained
from onward.budget import Budget
from onward.checks import check_method, tiny_benchmark
from onward.errors import OnwardError
from onward.methods.finetune import Finetune
from onward.models.classifier import Classifier, linear_probe
from onward.stored import stored
from onward.tasks.many_labels import ManyLabels
from onward.train.learner import GradientLearner
from onward.train.recipe import Recipe
from onward.train.validation import Validation
from onward.types import Benchmark, Setting

RECIPE = Recipe(
    model="linear",
    lr=1.0,
    momentum=0.9,
    weight_decay=0.0,
    batch_size=8,
    epochs=4,
    patience=2,
)
INPUTS = np.random.default_rng(0).normal(size=(10, 3))
LABELS = np.array([[0, -1], [1, -1]] * 5)


class _Scripted(ManyLabels):
    """Gives the scores of a list, one after the other."""

    def __init__(self, scores: list[float]) -> None:
        super().__init__()
        object.__setattr__(self, "scores", iter(scores))

    def score(self, decisions: Any, targets: Any) -> dict[str, float]:
        return {"pw_jaccard": next(self.scores)}  # type: ignore[attr-defined]


def judged(
    scores: list[float], recipe: Recipe = RECIPE, *, keeps_best: bool = False
) -> tuple[Validation, Classifier, Budget]:
    budget, model = Budget(), linear_probe((3,), 2, generator())
    view = shown(INPUTS, np.arange(10), LABELS, 2, budget)
    task = _Scripted(scores)
    made = Validation(
        view, model, task, budget, recipe, keeps_best=keeps_best, average=None, state={}
    )
    return made, model, budget


@pytest.mark.parametrize("patience", [0, 2, 10])
def test_the_rate_falls_where_torchs_would(patience: int) -> None:
    rng = np.random.default_rng(patience)
    # A noisy rise that levels off, in steps around the threshold.
    scores = (np.tanh(np.arange(80) / 15) + rng.normal(size=80) / 500).round(3).tolist()
    validation, _, _ = judged(scores, replace(RECIPE, patience=patience))
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    reference = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser,
        mode="max",
        factor=0.1,
        patience=patience,
        threshold=1e-3,
        threshold_mode="abs",
        eps=0.0,
    )
    for score in scores:
        validation.evaluate()
        reference.step(score)
        assert validation.lr_factor == pytest.approx(optimiser.param_groups[0]["lr"])
    assert validation.lr_factor < 1


def test_the_weights_of_the_best_epoch_come_back_the_later_of_two() -> None:
    scores = [0.1, 0.5, 0.3, 0.5, 0.4]
    recipe = replace(RECIPE, patience=None)
    validation, model, budget = judged(scores, recipe, keeps_best=True)
    for epoch in range(len(scores)):
        model.head.weight.detach().fill_(float(epoch))
        validation.evaluate()
    validation.restore_best()
    assert model.head.weight.unique().tolist() == [3.0]
    assert validation.lr_factor == 1
    # Every look is paid for.
    assert budget.totals["macs"] == len(scores) * 10 * model.macs
    assert budget.totals["samples"] == len(scores) * 10


def test_without_a_reason_no_evaluation_is_made() -> None:
    validation, _, budget = judged([], replace(RECIPE, patience=None))
    validation.evaluate()
    validation.restore_best()
    assert (validation.macs, budget.totals["samples"]) == (0, 0)


def tiny(**training: Any) -> Benchmark:
    return retrained(tiny_benchmark("incomplete"), training)


def test_looks_and_first_epochs_are_counted() -> None:
    benchmark = tiny(epochs=2, first_epochs=5)
    stream = benchmark.stream(0)
    epochs = [5, 2, 2, 2]
    record = onward.run(benchmark, "finetune")
    looks = [len(period.train) + len(period.validation) for period in stream]
    assert record.cost is not None
    assert record.cost.samples == np.dot(epochs, looks)
    known = [len(period.classes) for period in stream]
    assert record.cost.macs == np.dot(epochs, np.multiply(looks, known)) * 8


def test_a_budget_of_macs_pays_for_the_looks_too() -> None:
    benchmark = tiny(epochs=20, first_epochs=20)
    free = onward.run(benchmark, "finetune")
    assert free.cost is not None
    limit = free.cost.macs / 10
    tight = onward.run(benchmark, "finetune", limits={"macs": limit})
    assert tight.cost is not None
    assert tight.cost.iterations < free.cost.iterations


def test_a_plateau_needs_validation_samples() -> None:
    with pytest.raises(OnwardError, match=r"wait for a plateau.* and this period has none"):
        onward.run(retrained(tiny_benchmark(), {"patience": 3}), "finetune")


@pytest.mark.parametrize("method", ["finetune", "lucir"])
def test_resuming_goes_on_with_the_plateau_and_the_best_weights(method: str) -> None:
    benchmark = tiny(epochs=6, first_epochs=9, patience=1, threshold=1.0)
    only = ("resumed_runs_equal_uninterrupted_ones",)
    report = check_method(method, benchmark, only=only)
    assert "inside" in str(report)


def test_a_checkpoint_has_what_was_judged(tmp_path: Path) -> None:
    benchmark = tiny(epochs=3, first_epochs=3)
    stream, saved = benchmark.stream(0), 0
    learner = GradientLearner(begun(Finetune()), Setting(ManyLabels(), benchmark.recipes["cpu"], 0))

    def stop(learner: Any) -> None:
        nonlocal saved
        saved += 1
        if saved == 7:
            learner.save(tmp_path)
            raise KeyboardInterrupt

    period, budget = stream[0], Budget()
    budget.open(period.shown)
    budget.checkpoint = stop
    view = onward.types.View(
        stream.table,
        period.train,
        period.classes,
        onward.types.Call(budget),
        validation=period.validation,
    )
    with pytest.raises(KeyboardInterrupt):
        learner.learn(view, budget)
    from onward.results.state import load_state

    found = load_state(tmp_path)["validation"]
    assert found["best"] is not None
    assert found["weights"]["head.weight"].shape == (2, 8)


def test_what_came_later_leaves_old_recipes_alone() -> None:
    later = {"first_epochs", "patience", "threshold", "exemplars_per_class", "hidden_dim"}
    assert not later & stored(replace(RECIPE, patience=None)).keys()
    assert stored(replace(RECIPE, hidden_dim=256)).keys() >= {"hidden_dim", "patience"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patience": -1}, "patience as a whole number of at least 0, found -1"),
        ({"first_epochs": 0}, "first_epochs as a whole number of at least 1"),
        ({"exemplars_per_class": 2.5}, "exemplars_per_class as a whole number of at least 1"),
        ({"hidden_dim": 0}, "hidden_dim as a whole number of at least 1"),
        ({"threshold": -1}, "threshold as a number of at least 0"),
    ],
)
def test_wrong_numbers_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        replace(RECIPE, **change)
