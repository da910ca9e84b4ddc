import math

import numpy as np
import pytest
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    jaccard_score,
    top_k_accuracy_score,
)

from onward.metrics import static_tasks as metrics


@pytest.fixture
def answered() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of 9 classes, of which two have no samples, the answers by them, and the classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 7, 300)
    scores = rng.standard_normal((300, 9)) + 2 * np.eye(9)[classes]
    return scores, np.argsort(-scores, axis=1), classes


def test_as_scikit_learn(answered: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    scores, answers, classes = answered
    for k in (1, 5):
        expected = top_k_accuracy_score(classes, scores, k=k, labels=range(9))
        assert metrics.top_k(answers, classes, k) == pytest.approx(expected)
    said = answers[:, 0]
    balanced = np.mean([(said == c)[classes == c].mean() for c in range(7)])
    assert metrics.mean_per_class(answers, classes) == pytest.approx(balanced)
    there = np.isin(said, range(7))  # scikit-learn warns of answers that are no class
    expected = balanced_accuracy_score(classes[there], said[there])
    assert metrics.mean_per_class(answers[there], classes[there]) == pytest.approx(expected)
    assert {7, 8} & {*said.tolist()}
    expected = f1_score(classes, said, average="macro", labels=np.unique(classes))
    assert metrics.macro_f1(answers, classes) == pytest.approx(expected)
    everything = f1_score(classes, said, average="macro", zero_division=0)
    assert metrics.macro_f1(answers, classes) > everything


def test_one_answer_counts_where_nobody_says_how_many() -> None:
    assert metrics.top_k([[0, 1], [1, 0]], [0, 0]) == 0.5


def test_the_worst_group() -> None:
    answers, classes = [[0, 1], [1, 0], [0, 1], [1, 2], [2, 0]], [0, 0, 0, 2, 0]
    groups = [3, 3, 9, 9, 5]
    # Top 1: 1/2, 1/2 and 0; top 2: 1, 1 and 1.
    assert metrics.worst_group(answers, classes, groups) == 0
    assert metrics.worst_group(answers, classes, groups, without=[5]) == 0.5
    assert metrics.worst_group(answers, classes, groups, 2) == 1
    with pytest.raises(ValueError, match="other groups"):
        metrics.worst_group(answers, classes, groups, without=[3, 5, 9])
    with pytest.raises(ValueError, match="a group for each of 5"):
        metrics.worst_group(answers, classes, groups[:2])


def test_jaccard_as_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    answers = np.stack([rng.permutation(6) for _ in range(40)])
    counts = rng.integers(1, 5, 40)
    right = np.full((40, 4), -1)
    expected = []
    for row, count in enumerate(counts):
        right[row, :count] = rng.permutation(6)[:count]
        true = np.isin(np.arange(6), right[row, :count])
        chosen = np.isin(np.arange(6), answers[row, :count])
        expected.append(jaccard_score(true, chosen))
    assert metrics.jaccards(answers, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answers", "right", "message"),
    [
        ([[0, 1]], [[-1]], "1 of them empty"),
        ([[0]], [[0, 1]], "2 answers"),
        ([[0.5]], [[0]], "whole numbers"),
        (np.empty((0, 2), int), np.empty((0, 1), int), "0 questions"),
    ],
)
def test_jaccard_of_nonsense(answers: object, right: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.jaccards(answers, right)  # type: ignore[arg-type]


def test_bad_answers() -> None:
    with pytest.raises(ValueError, match="the same samples"):
        metrics.top_k([[0]], [0, 1])
    with pytest.raises(ValueError, match="k from 1 to 1"):
        metrics.top_k([[0]], [0], 5)


def test_averages_say_what_they_are_of() -> None:
    scores = {name: number / 10 for number, name in enumerate(metrics.SHIFTS)}
    shifts = metrics.imagenet_shifts({**scores, "MNIST": 1.0})
    assert (round(shifts.value, 6), shifts.of, shifts.lacking) == (0.25, metrics.SHIFTS, ())
    del scores["ObjectNet"]
    lacking = metrics.imagenet_shifts(scores)
    assert math.isnan(lacking.value)
    assert lacking.lacking == ("ObjectNet",)
    assert math.isnan(metrics.average({}).value)
