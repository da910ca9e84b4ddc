from pathlib import Path

import numpy as np
import pytest

import onward
from onward.budget import Budget
from onward.checks import tiny_benchmark
from onward.errors import BudgetSpentError, OnwardError
from onward.methods.pretrain_probe import PretrainProbe
from onward.types import Call, View


def test_features_are_refused_with_a_remedy() -> None:
    with pytest.raises(OnwardError, match="needs images as inputs"):
        onward.run(tiny_benchmark("semi_supervised"), "pretrain_probe")


def test_samples_without_labels_are_read_only_if_they_are_wanted() -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    stream = tiny.stream(0)
    labelled = sum(len(period.train) for period in stream)
    hidden = sum(len(period.unlabelled) for period in stream)
    assert hidden > labelled
    costs = [
        onward.run(tiny, "pretrain_probe", options={"unlabelled": use, "epochs": 3}).cost
        for use in (True, False)
    ]
    # Three epochs, and once more to read the features; what fills no batch of 128 is one batch.
    assert [cost.samples for cost in costs if cost] == [4 * (labelled + hidden), 4 * labelled]
    assert costs[0]
    assert costs[1]
    assert costs[0].macs > costs[1].macs > 0


def test_without_pre_training_only_the_linear_layer_learns() -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    cost = onward.run(tiny, "pretrain_probe", options={"epochs": 0}).cost
    assert cost
    # One batch an epoch, thirty epochs, four periods.
    assert cost.iterations == 30 * 4
    assert cost.parameters > 0


def test_a_budget_is_kept_by_less_pre_training() -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    options = {"epochs": 50}
    cost = onward.run(tiny, "pretrain_probe", options=options, limits={"iterations": 33}).cost
    assert cost
    assert cost.iterations == 33 * 4
    cost = onward.run(tiny, "pretrain_probe", options=options, limits={"passes": 3}).cost
    assert cost
    assert cost.iterations == (2 + 30) * 4
    with pytest.raises(BudgetSpentError, match="does not pay for reading features"):
        onward.run(tiny, "pretrain_probe", limits={"iterations": 29})
    with pytest.raises(BudgetSpentError, match="does not pay for reading features"):
        onward.run(tiny, "pretrain_probe", limits={"macs": 1000})


@pytest.mark.parametrize(
    ("options", "message"),
    [({"pretraining": "papr"}, "Did you mean 'paper'"), ({"epochs": -1}, "0 or more epochs")],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    with pytest.raises(OnwardError, match=message):
        onward.run(tiny, "pretrain_probe", options=options)


def test_multiply_accumulates_pay_for_all_steps_that_they_can() -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    bare = onward.run(tiny, "pretrain_probe", options={"epochs": 0}).cost
    once = onward.run(tiny, "pretrain_probe", options={"epochs": 1}).cost
    assert bare
    assert once
    step, periods = (once.macs - bare.macs) // 4, 4
    limit = bare.macs // periods + 3 * step
    cost = onward.run(tiny, "pretrain_probe", options={"epochs": 9}, limits={"macs": limit}).cost
    assert cost
    assert periods * (limit - step) - step < cost.macs <= periods * limit


def test_what_was_saved_answers_as_before(tmp_path: Path) -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    stream, budget = tiny.stream(0), Budget({})
    table, (period, *_) = stream.table, stream
    first = PretrainProbe(tiny.setting(0), epochs=1)
    budget.open(np.concatenate([period.train.rows, period.unlabelled]))
    call = Call(budget)
    first.learn(View(table, period.train, period.classes, call, period.unlabelled), budget)
    first.save(tmp_path)
    again = PretrainProbe(tiny.setting(0), epochs=1)
    again.load(tmp_path)
    test = View(table, period.test, period.classes, Call(None))
    assert np.array_equal(first.predict(test), again.predict(test))


def test_any_number_of_workers_gives_the_same_run() -> None:
    tiny = tiny_benchmark("semi_supervised", images=True)
    alone, ahead = (
        onward.run(
            tiny, "pretrain_probe", options={"epochs": 9}, limits={"iterations": 36}, workers=count
        )
        for count in (0, 2)
    )
    np.testing.assert_array_equal(alone.matrix(), ahead.matrix())
    assert alone.cost is not None
    assert ahead.cost is not None
    # What is read ahead of a step counts when the step is made.
    assert alone.cost.samples == ahead.cost.samples
