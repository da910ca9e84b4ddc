"""Fréchet distance against scipy, total variation by hand, and what both are without drift."""

import numpy as np
import pytest
import scipy.linalg

from onward.metrics.drift import (
    frechet_distance,
    parts,
    total_variation,
    without_bias,
    without_drift,
)
from onward.types import Rows


def reference(a: np.ndarray, b: np.ndarray) -> float:
    apart = a.mean(0) - b.mean(0)
    first, second = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    root = scipy.linalg.sqrtm(first @ second)
    return float(apart @ apart + np.trace(first + second - 2 * np.real(root)))


def mixed(rng: np.random.Generator, count: int, width: int, shift: float) -> np.ndarray:
    """Return samples whose numbers go together, as those of a network do."""
    mixing = rng.normal(size=(width, width)) * np.linspace(1, 0.1, width) / np.sqrt(width)
    return rng.normal(size=(count, width)) @ mixing + shift


@pytest.mark.parametrize(
    ("count", "other", "width"), [(1200, 900, 512), (40, 700, 24), (300, 300, 5), (9000, 8500, 4)]
)
def test_as_scipys_square_root_of_a_matrix_says(count: int, other: int, width: int) -> None:
    rng = np.random.default_rng(0)
    a, b = mixed(rng, count, width, 0.0), mixed(rng, other, width, 0.05)
    assert frechet_distance(a, b) == pytest.approx(reference(a, b), abs=1e-6)


def test_fewer_samples_than_numbers() -> None:
    # A singular product has no square root that scipy finds to many digits. Within the span of the
    # first samples it is not singular, and has the same eigenvalues but for zeros.
    rng = np.random.default_rng(1)
    a, b = mixed(rng, 60, 128, 0.0), mixed(rng, 90, 128, 0.1)
    first, second = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    _, _, span = np.linalg.svd(a - a.mean(0), full_matrices=False)
    span = span[:59].T
    root = scipy.linalg.sqrtm((span.T @ first @ span) @ (span.T @ second @ span))
    inner = np.trace(np.real(root))
    apart = a.mean(0) - b.mean(0)
    expected = apart @ apart + np.trace(first) + np.trace(second) - 2 * inner
    assert frechet_distance(a, b) == pytest.approx(float(expected), abs=1e-6)


def test_frechet_is_symmetric_and_does_not_depend_on_the_kind_of_number() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=(50, 7)).astype(np.float16) for _ in range(2))
    forth = frechet_distance(a, b)
    assert forth == pytest.approx(frechet_distance(b, a), abs=1e-12)
    assert forth == frechet_distance(a.astype(np.float64), b.astype(np.float64))
    assert frechet_distance(a, a) == pytest.approx(0, abs=1e-12)


def test_what_is_no_embedding_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one width, got 3 numbers in a and 4 in b"):
        frechet_distance(np.zeros((5, 3)), np.zeros((5, 4)))
    with pytest.raises(ValueError, match="at least two embeddings"):
        frechet_distance(np.zeros((1, 3)), np.zeros((5, 3)))
    with pytest.raises(ValueError, match="finite"):
        frechet_distance(np.full((3, 3), np.nan), np.zeros((5, 3)))


def test_total_variation() -> None:
    assert total_variation([3, 1], [6, 2]) == 0
    assert total_variation([1, 0], [0, 1]) == 1
    assert total_variation({"a": 1}, {"b": 5}) == 1
    with pytest.raises(ValueError, match="got 2 in p and 3 in q"):
        total_variation([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="not all of them zero"):
        total_variation([0, 0], [1, 1])
    with pytest.raises(ValueError, match="one of each"):
        total_variation({"a": 1}, [1])


def test_deals_keep_groups_whole_and_sides_as_large() -> None:
    groups_a, groups_b = ["x", "x", "y", "z"], ["x", "u", "v", "v", "w"]
    seen: list[tuple[set[int], set[int]]] = []

    def watch(a: Rows, b: Rows) -> float:
        seen.append((set(a.tolist()), set(b.tolist())))
        return 0.0

    without_drift(watch, groups_a, groups_b, draws=60)
    for one, other in seen:
        assert one | other == set(range(9))
        assert not one & other
        # The two parts of x, which is in both, are on two sides; v is never torn apart.
        assert ({0, 1} <= one) != (4 in one)
        assert len({0, 1} & one) in (0, 2)
        assert len({6, 7} & one) in (0, 2)
        # Of what is on one side alone, as many groups as there were: y and z.
        assert sum(part <= one for part in ({2}, {3}, {5}, {6, 7}, {8})) == 2
    assert len({frozenset(one) for one, _ in seen}) > 5
    seen.clear()
    without_drift(watch, groups_a, groups_b, paired=False, draws=60)
    assert any({0, 1, 4} <= one for one, _ in seen)


def test_a_false_alarm_is_as_rare_as_it_says() -> None:
    rng, alarms = np.random.default_rng(3), 0
    for trial in range(100):
        values = rng.normal(size=(60, 3))

        def far(a: Rows, b: Rows, values: np.ndarray = values) -> float:
            return frechet_distance(values[a], values[b])

        null = without_drift(far, range(30), range(30, 60), draws=19, seed=trial)
        alarms += far(np.arange(30), np.arange(30, 60)) > null.max()
    assert 1 <= alarms <= 11  # one in twenty


def test_without_bias_is_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(4)
    raw, mended = [], []
    for trial in range(20):
        values = rng.normal(size=(200, 20))
        values[100:, 0] += 1  # the true distance is 1

        def far(a: Rows, b: Rows, values: np.ndarray = values) -> float:
            return frechet_distance(values[a], values[b])

        raw.append(far(np.arange(100), np.arange(100, 200)))
        mended.append(without_bias(far, range(100), range(100, 200), draws=4, seed=trial))
    assert abs(np.mean(mended) - 1) < abs(np.mean(raw) - 1) / 3


def test_parts_are_counted_from_a_place() -> None:
    assert [part.tolist() for part in parts([7, 8, 7], 10)] == [[10, 12], [11]]
