from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import onward
from onward.benchmarks import BENCHMARKS
from onward.budget import Budget
from onward.checks import tiny_benchmark, tiny_pairs
from onward.checks.tiny_boxes import tiny_boxes
from onward.checks.tiny_editions import tiny_like
from onward.errors import OnwardError
from onward.methods.patching import Patching
from onward.tasks.boxes import Boxes
from onward.train.method import TrainingSet
from onward.train.weights import snapshot
from onward.turns import Event
from onward.types import Array, Benchmark, Samples, View


def learned(
    name: str, benchmark: Benchmark, seed: int = 0, **options: Any
) -> tuple[list[dict[str, torch.Tensor]], Any]:
    """The weights after each period, and the method that found them."""
    weights, methods = [], []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            weights.append(snapshot(event.learner._model))
            methods.append(event.learner.method)

    onward.run(benchmark, name, seed, options=options, watch=watch)
    return weights, methods[-1]


def test_weights_lie_between_those_before_and_those_learned() -> None:
    patched, method = learned("patching", tiny_pairs())
    # In the first period there is no past to judge by, and nothing to go back to.
    assert len(method.coefficients) == len(patched) - 1
    assert all(0 <= share <= 1 for share in method.coefficients)
    finetuned, _ = learned("finetune", tiny_pairs())
    assert all(torch.equal(patched[0][name], finetuned[0][name]) for name in patched[0])
    share = method.coefficients[0]
    for name, before in patched[0].items():
        mixed = before + share * (finetuned[1][name] - before)
        torch.testing.assert_close(patched[1][name], mixed)


def test_the_coefficient_is_the_best_on_the_past_and_of_equals_the_largest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = iter([0.1, 0.5, 0.2, 0.5, 0.5, 0.4, 0.0, 0.0, 0.0, 0.0, 0.3] * 2)
    monkeypatch.setattr(Patching, "_score", lambda self, model, new, past: next(scores))
    _, method = learned("patching", tiny_pairs())
    assert method.coefficients == [0.4, 0.4]


def test_where_nothing_comes_for_validation_some_samples_are_set_aside() -> None:
    benchmark = tiny_benchmark("iid")
    record, (_, method) = onward.run(benchmark, "patching"), learned("patching", benchmark)
    sizes = [len(period.train) for period in benchmark.stream(0)]
    assert min(sizes) < 40 < max(sizes), "a fifth is below eight, and above"
    assert record.cost is not None
    # A tenth of any of them is less than eight.
    assert record.cost.stored_samples == sum(min(8, size // 5) for size in sizes)
    assert len(method.coefficients) == len(sizes) - 1
    assert np.isfinite(record.matrix()).all()
    without = onward.run(benchmark, "patching", options={"share": 0.0})
    np.testing.assert_array_equal(without.matrix(), onward.run(benchmark, "finetune").matrix())


def test_online_a_window_is_judged_by_what_came_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = tiny_like(BENCHMARKS["clad-c"])
    enough = benchmark.recipes["cpu"].memory
    windows, learned_from, mixed = [list[int]()], set[int](), list[int]()
    mix, training_data = Patching._mix, Patching.training_data

    def noted_mix(self: Patching, model: Any, new: View, past: list[Samples]) -> None:
        judges = set(Samples.join(past).rows.tolist())
        assert judges.isdisjoint(windows[-1]), "samples of the window that ends"
        assert judges.isdisjoint(learned_from)
        mixed.append(len(windows))
        mix(self, model, new, past)

    def noted_trains_on(self: Patching, new: View, budget: Budget) -> TrainingSet:
        if len(windows[-1]) >= enough:
            windows.append([])
        windows[-1] += new.rows.tolist()
        training = training_data(self, new, budget)
        learned_from.update(training.view.rows.tolist())
        return training

    monkeypatch.setattr(Patching, "_mix", noted_mix)
    monkeypatch.setattr(Patching, "training_data", noted_trains_on)
    _, method = learned("patching", benchmark)
    # The first window has nothing to be judged by; the last one may not be full.
    full = [number for number, rows in enumerate(windows, start=1) if len(rows) >= enough]
    assert mixed == full[1:]
    assert len(method.coefficients) == len(mixed) > 3


def test_online_no_more_is_set_aside_than_may_be_stored() -> None:
    benchmark = tiny_like(BENCHMARKS["clad-c"])
    for share, expected in ((0.05, range(1, 20)), (0.5, range(20, 21))):
        record = onward.run(benchmark, "patching", options={"share": share})
        assert record.cost is not None
        assert record.cost.stored_samples in expected


@pytest.mark.parametrize(
    ("make", "seed", "share"),
    [
        (partial(tiny_benchmark, "incomplete"), 0, 0.1),
        (partial(tiny_like, BENCHMARKS["clad-c"]), 1, 0.3),
        (tiny_pairs, 1, 0.1),
    ],
)
def test_some_weights_are_mixed(make: Callable[[], Benchmark], seed: int, share: float) -> None:
    _, method = learned("patching", make(), seed, share=share)
    assert any(0 < part < 1 for part in method.coefficients)


def test_what_cannot_be_scored_says_nothing() -> None:
    class Blind(Boxes):
        def score(self, decisions: Array, targets: Array) -> dict[str, float]:
            return {self.headline: float("nan")}

    _, method = learned("patching", replace(tiny_boxes(), task=Blind()))
    assert method.coefficients == [1.0, 1.0]


def test_its_option_is_a_share() -> None:
    with pytest.raises(OnwardError, match="share"):
        Patching(share=0.9)
