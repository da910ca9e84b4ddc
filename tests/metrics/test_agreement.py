"""Krippendorff's α against the package of that name."""

import krippendorff
import numpy as np
import pytest

from onward.metrics.agreement import krippendorff_alpha


@pytest.mark.parametrize("seed", range(8))
def test_as_the_package_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    table = np.where(rng.random((60, 7)) < 0.7, truth[:, None], rng.integers(0, 6, (60, 7)))
    table[rng.random((60, 7)) < 0.5] = -1
    coded = np.where(table < 0, np.nan, table).T
    expected = krippendorff.alpha(coded, level_of_measurement="nominal")
    assert krippendorff_alpha(table) == pytest.approx(expected, abs=1e-12)


def test_the_order_of_answers_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 3, (50, 4))
    assert krippendorff_alpha(rng.permuted(table, axis=1)) == pytest.approx(
        krippendorff_alpha(table), abs=1e-12
    )


def test_perfect_agreement_and_chance() -> None:
    assert krippendorff_alpha(np.repeat([[0], [1], [2]], 3, axis=1)) == 1
    rng = np.random.default_rng(0)
    assert abs(krippendorff_alpha(rng.integers(0, 3, (20_000, 3)))) < 0.02


def test_krippendorffs_own_example() -> None:
    # "Computing Krippendorff's Alpha-Reliability", data C: twelve units, four observers.
    units = [
        "111",
        "2232",
        "3333",
        "3333",
        "2222",
        "1234",
        "4444",
        "1121",
        "2222",
        "555",
        "11",
        "3",
    ]
    table = [[int(value) for value in unit] + [-1] * (4 - len(unit)) for unit in units]
    assert krippendorff_alpha(np.array(table) - 1) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("table", [[[1, 1], [1, 1]], [[0, -1], [-1, 1]], np.zeros((0, 3))])
def test_nothing_can_be_told(table: list[list[int]]) -> None:
    assert np.isnan(krippendorff_alpha(table))
