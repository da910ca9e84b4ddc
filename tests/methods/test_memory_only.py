from dataclasses import replace
from typing import Any

import pytest
from last_outputs import last_outputs

import onward
from onward.checks import tiny_benchmark
from onward.errors import OnwardError


@pytest.mark.parametrize("method", ["reservoir", "biased_reservoir", "gdumb_reservoir"])
def test_the_memory_is_one_bucket_and_all_that_is_trained_on(method: str) -> None:
    record = onward.run(tiny_benchmark(), method)
    stream, recipe = tiny_benchmark().stream(0), tiny_benchmark().recipes["cpu"]
    assert record.cost is not None
    assert record.cost.stored_samples == len(stream[0].train)
    assert record.cost.samples == len(stream[0].train) * len(stream) * recipe.epochs


def test_with_room_for_everything_the_reservoir_is_cumulative_up_to_order() -> None:
    large = onward.run(tiny_benchmark(), "reservoir", options={"memory": 1000})
    everything = onward.run(tiny_benchmark(), "cumulative")
    assert large.cost is not None
    assert everything.cost is not None
    assert large.cost.samples == everything.cost.samples
    assert large.cost.stored_samples == everything.cost.stored_samples


def test_start_alpha_and_replacement_make_a_difference() -> None:
    runs = [
        last_outputs("reservoir"),
        last_outputs("reservoir", start="random"),
        last_outputs("biased_reservoir", alpha="0.5*i/k"),
        last_outputs("biased_reservoir", alpha="0.5*i/k", replacement="tail"),
        last_outputs("biased_reservoir", alpha=0.5),
        last_outputs("biased_reservoir", alpha=0.5, start="random"),
        last_outputs("gdumb"),
        last_outputs("gdumb_reservoir"),
        last_outputs("cumulative"),
        last_outputs("cumulative", start="random"),
    ]
    assert len({run.tobytes() for run in runs}) == len(runs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": "a lot"}, "a number or as a text such as"),
        ({"alpha": -1}, "alpha of 0 or more"),
        ({"replacement": "head"}, "'random' or 'tail'"),
        ({"start": "first"}, "'last' or 'random'"),
        ({"memory": 0}, "at least 1, found 0"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.run(tiny_benchmark(), "biased_reservoir", options=options)


def test_oracle_trains_on_everything_as_many_times_as_there_were_periods() -> None:
    benchmark = tiny_benchmark()
    recipe = replace(benchmark.recipes["cpu"], max_steps=5)
    counted = replace(benchmark, recipes={"cpu": recipe})
    oracle, restart = (onward.run(counted, method).cost for method in ("oracle", "restart"))
    assert oracle is not None
    assert restart is not None
    periods = len(benchmark.stream(0))
    assert oracle.iterations == restart.iterations * (periods + 1) / 2
