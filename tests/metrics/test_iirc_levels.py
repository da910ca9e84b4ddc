"""At which level of a hierarchy samples are answered, on a case worked by hand."""

import numpy as np
import pytest

from onward.metrics import iirc_levels as levels

# animal, dog, cat, lamp: two subclasses under one superclass, and one without.
UNDER = np.array([-1, 0, 0, -1])
SUPER = np.array([True, False, False, False])
TRUE = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], bool)
SAID = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1]], bool)


def test_superclasses_count_for_samples_that_have_one() -> None:
    # Said for two of the three animals; the lamp that is called an animal does not count here.
    assert levels.over_superclasses(SAID, TRUE, SUPER) == pytest.approx(2 / 3)


def test_the_superclass_alone() -> None:
    # The second dog is called an animal and nothing more.
    assert levels.superclass_alone(SAID, TRUE, UNDER) == pytest.approx(1 / 3)


def test_precision_is_of_what_is_said_out_of_some_classes() -> None:
    assert levels.precision_among(SAID, TRUE, UNDER >= 0) == pytest.approx(2 / 3)
    assert levels.precision_among(SAID, TRUE, np.array([0, 0, 0, 1], bool)) == pytest.approx(1 / 2)
    assert np.isnan(levels.precision_among(SAID & False, TRUE, SUPER))


def test_recall_by_class() -> None:
    assert levels.recall(SAID, TRUE).tolist() == [pytest.approx(2 / 3), 0.5, 1.0, 1.0]


def test_the_confusion_of_the_truth_shows_the_hierarchy() -> None:
    truth = levels.confusion(TRUE, TRUE)
    assert truth[1, 0] == truth[2, 0] == 1.0
    assert truth[0].tolist() == [1.0, pytest.approx(2 / 3), pytest.approx(1 / 3), 0.0]
    assert np.isnan(levels.confusion(SAID, TRUE & SUPER)[1:]).all()
