"""What holds for a linear probe holds for networks with hidden layers and running statistics."""

from dataclasses import replace

import pytest

from onward.checks import check_method, check_stream, tiny_benchmark
from onward.types import Benchmark

EVERYTHING = (
    "agem",
    "bic",
    "biased_reservoir",
    "cumulative",
    "cwr",
    "er",
    "er_infinite",
    "ewc",
    "gdumb",
    "icarl_cnn",
    "icarl_norm",
    "lucir",
    "lwf",
    "si",
)
ONLY = (
    "runs_to_the_end",
    "seeded_runs_are_identical",
    "predict_changes_nothing",
    "learn_leaves_its_view_alone",
    "holds_no_stream",
    "keeps_only_what_it_holds",
    "resumed_runs_equal_uninterrupted_ones",
)


@pytest.mark.parametrize(
    "method",
    [
        name if name in ("cwr", "ewc") else pytest.param(name, marks=pytest.mark.slow)
        for name in EVERYTHING
    ],
)
def test_methods_keep_the_rules_with_two_layers(method: str) -> None:
    assert len(check_method(method, tiny_benchmark(model="mlp"), only=ONLY).passed) == len(ONLY)


def short(protocol: str = "iid") -> Benchmark:
    """Return the tiny images up to the period that brings a new class, one pass each."""
    benchmark = tiny_benchmark(protocol, model="resnet18")
    return replace(
        benchmark,
        cut=lambda *args: benchmark.cut(*args)[:3],
        recipes={"cpu": replace(benchmark.recipes["cpu"], epochs=1)},
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", EVERYTHING)
def test_methods_keep_the_rules_with_resnet(method: str) -> None:
    # Its state has a hundred megabytes: to stop at every step takes minutes, so one method does.
    only = ONLY if method == "cwr" else ONLY[:-1]
    assert len(check_method(method, short(), only=only).passed) == len(only)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cwr", "er", "ewc", "lwf"])
def test_methods_run_online_with_resnet(method: str) -> None:
    only, benchmark = ("runs_to_the_end", "keeps_to_the_budget"), short("online")
    # The Fisher of so deep a network after two steps is anything from 1 to 1e9, by rounding alone.
    recipe = replace(benchmark.recipes["cpu"], lr=1e-6)
    benchmark = replace(benchmark, recipes={"cpu": recipe})
    assert len(check_method(method, benchmark, only=only).passed) == len(only)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["er", "icarl_cnn", "icarl_norm", "lucir", "bic"])
def test_iircs_methods_keep_the_rules_with_its_network(method: str) -> None:
    whole = tiny_benchmark("incomplete", model="resnet32")
    recipe = replace(whole.recipes["cpu"], epochs=1, first_epochs=1, augment="padded_crop_flip")
    benchmark = replace(whole, cut=lambda *args: whole.cut(*args)[:3], recipes={"cpu": recipe})
    assert len(check_method(method, benchmark, only=ONLY).passed) == len(ONLY)


def test_the_tiny_images_pass_as_a_stream() -> None:
    assert check_stream(tiny_benchmark(model="resnet18")).ok
