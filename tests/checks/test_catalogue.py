"""Everything in the catalogues passes its checks; methods on benchmarks do in `tests/grid`."""

import subprocess
import sys
from dataclasses import replace

import pytest
from river.naive_bayes import GaussianNB
from sklearn.linear_model import SGDClassifier

import onward
from onward.checks import check_method, check_metric, check_stream, tiny_benchmark
from onward.checks.tiny_editions import tiny_for
from onward.fit import IMAGES
from onward.grid import grid
from onward.learners import OneByOne, PartialFit
from onward.methods import METHODS
from onward.metrics import METRICS
from onward.protocols import MANY_LABELS, PROTOCOLS


def test_a_method_of_samples_without_labels_passes_the_quick_checks() -> None:
    only = ("seeded_runs_are_identical", "reads_only_what_it_is_shown", "predict_changes_nothing")
    assert len(check_method("pretrain_probe", only=only).passed) == len(only)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "er" else pytest.param(name, marks=pytest.mark.slow)
        for name, card in METHODS.items()
        if card.misfit(PROTOCOLS["online"].lacks) is None
    ],
)
def test_every_method_that_fits_passes_online(name: str) -> None:
    only = (
        "runs_to_the_end",
        "keeps_to_the_budget",
        "reads_only_what_it_is_shown",
        "keeps_only_what_it_holds",
        "online_shows_each_sample_once",
        "resumed_runs_equal_uninterrupted_ones",
    )
    assert len(check_method(name, tiny_for(name, "online"), only=only).passed) == len(only)


def test_a_scikit_learn_estimator_passes() -> None:
    assert check_method(PartialFit(SGDClassifier(random_state=0)), tiny_without_arrivals()).ok


def test_a_river_classifier_passes() -> None:
    only = ("seeded_runs_are_identical", "predict_changes_nothing", "sees_only_the_past")
    assert check_method(OneByOne(GaussianNB()), only=only).ok


def tiny_without_arrivals() -> onward.types.Benchmark:
    # partial_fit must be told all classes at its first call, so no class may arrive later.
    benchmark = tiny_benchmark()
    return replace(benchmark, cut=lambda *args: benchmark.cut(*args)[:2])


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_passes(name: str) -> None:
    assert len(check_metric(name).passed) == 9


@pytest.mark.parametrize("protocol", [*PROTOCOLS, *MANY_LABELS])
def test_the_tiny_stream_passes(protocol: str) -> None:
    assert check_stream(tiny_benchmark(protocol)).ok


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_clear_passes(protocol: str) -> None:
    assert check_stream(onward.load("clear", protocol=protocol)).ok


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        cell.method
        for cell in grid()
        if cell.benchmark == "clear" and cell.runs and IMAGES not in METHODS[cell.method].needs
    ],
)
def test_no_method_sees_ahead_in_clear(name: str) -> None:
    benchmark = onward.load("clear", protocol="streaming")
    quick = replace(benchmark.recipes["cpu"], epochs=1)
    benchmark = replace(benchmark, recipes={"cpu": quick})
    only = (
        "reads_only_what_it_is_shown",
        "holds_no_stream",
        "opens_no_file",
        "keeps_only_what_it_holds",
        "fresh_processes_agree",
        "sees_only_the_past",
    )
    assert len(check_method(name, benchmark, only=only).passed) == len(only)


def test_checks_load_no_learning_framework() -> None:
    code = "import onward.checks, sys; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
