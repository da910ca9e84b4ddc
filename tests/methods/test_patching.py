from typing import Any

import numpy as np
import pytest
import torch

import onward
from onward.checks import tiny_benchmark, tiny_pairs
from onward.errors import OnwardError
from onward.methods.patching import Patching
from onward.train.weights import snapshot
from onward.turns import Event
from onward.types import Benchmark


def learned(name: str, benchmark: Benchmark) -> tuple[list[dict[str, torch.Tensor]], Any]:
    """The weights after each period, and the method that found them."""
    weights, methods = [], []

    def watch(event: Event) -> None:
        if event.kind == "learned":
            weights.append(snapshot(event.learner._model))
            methods.append(event.learner.method)

    onward.run(benchmark, name, watch=watch)
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
    record = onward.run(benchmark, "patching")
    sizes = [int(0.1 * len(period.train)) for period in benchmark.stream(0)]
    assert record.cost is not None
    assert record.cost.stored_samples == sum(size for size in sizes if size >= 8)
    assert np.isfinite(record.matrix()).all()


def test_its_option_is_a_share() -> None:
    with pytest.raises(OnwardError, match="share"):
        Patching(share=0.9)
