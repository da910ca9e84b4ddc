"""What a drive's picture shows is what was answered."""

import numpy as np
import pyarrow as pa
import pytest
from small_street import small_street

import onward
from onward.budget import REPORTED
from onward.report.drive import drive_picture, panels_of
from onward.results.record import RunRecord
from onward.types import Array, Benchmark, Budget, View


class Guessing:
    """Answers at random, and otherwise after every call."""

    metered = REPORTED  # all of its work, which is none

    def __init__(self, seed: int = 0) -> None:
        self.calls, self.seed = 0, seed

    def learn(self, view: View, budget: Budget) -> None:
        self.calls += 1

    def predict(self, view: View) -> Array:
        return np.random.default_rng([self.calls, self.seed]).integers(0, 6, len(view))


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return onward.load("clad-c", data=small_street(), size=8)


@pytest.fixture(scope="module")
def records(benchmark: Benchmark) -> list[RunRecord]:
    return [onward.run(benchmark, Guessing(seed), seed=seed) for seed in range(2)]


def test_classes_are_as_the_record_has_them(benchmark: Benchmark, records: list[RunRecord]) -> None:
    found = panels_of(records, benchmark.raw.columns)["by class"]
    both = [record.static_by_class("test") for record in records]
    expected = np.mean([values for values, _ in both], axis=0)
    for at, name in enumerate(both[0][1]):
        if name in found:
            np.testing.assert_allclose(found[name], expected[:, at])
        else:
            assert np.isnan(expected[:, at]).all()


def test_domains_are_joined_by_the_ids_of_objects(
    benchmark: Benchmark, records: list[RunRecord]
) -> None:
    columns = benchmark.raw.columns
    found = panels_of(records[:1], columns)["by weather"]
    table, _ = records[0].decisions[3]
    weather = dict(zip(columns["id"].to_pylist(), columns["weather"].to_pylist(), strict=True))
    right = np.array(table["target"].to_pylist()) == np.array(table["decision"].to_pylist())
    mine = np.array([weather[name] for name in table["id"].to_pylist()])
    for name, line in found.items():
        assert line[3] == pytest.approx(right[mine == name].mean())
    # A table in another order has the same ids.
    mixed = columns.take(pa.array(np.random.default_rng(0).permutation(len(columns))))
    again = panels_of(records[:1], mixed)["by weather"]
    np.testing.assert_array_equal(again["Clear"], found["Clear"])


def test_a_panel_for_classes_and_each_kind_of_domain_with_nights_shaded(
    benchmark: Benchmark, records: list[RunRecord]
) -> None:
    panels = panels_of(records, benchmark.raw.columns)
    figure = drive_picture(panels, records[0].spec.periods, "guessing")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["by class", "by light", "by weather", "by road", "by city"]
    for axes in figure.axes:
        assert len(axes.patches) == 3
    names = {text.get_text() for text in figure.axes[1].texts}
    assert names == {"Daytime", "Night"}
    assert figure.get_suptitle() == "guessing"
