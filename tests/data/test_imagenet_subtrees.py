import json
from pathlib import Path

import pytest

from onward.data.iirc_official import official_classes, official_hierarchy
from onward.data.imagenet_subtrees import IMAGENET, imagenet_subtrees, parts_of, read_subtrees
from onward.errors import OnwardError


def test_what_is_known_of_imagenet() -> None:
    """Its first 398 classes are the animals, and IIRC's superclass of dogs is WordNet's."""
    found = imagenet_subtrees()
    assert found["animal"] == tuple(range(398))
    names = sorted(official_classes("imagenet", incremental=True).classes)
    dogs = {names[number] for number in found["dog"]}
    assert dogs == {*official_hierarchy("imagenet").superclasses["dog"]}
    assert {*found["garment"]} < {*found["clothing"]}
    assert {*found["cat"]} < {*found["animal"]}
    assert {*found["phone"]} | {*found["computer"]} | {*found["machine"]} <= {*range(398, IMAGENET)}
    assert len(found) == 11


def test_parts_of_your_own(tmp_path: Path) -> None:
    path = tmp_path / "parts.json"
    path.write_text(json.dumps({"warm": ["red"], "cold": ["blue", "green"]}))
    named = read_subtrees(path)
    classes = ["red", "green", "blue"]
    assert parts_of(classes, named) == {"warm": (0,), "cold": (2, 1)}
    assert parts_of(["red", "green"], named) == {}  # a file for other classes
    assert parts_of(classes, None) == {}
    assert len(parts_of(["x"] * IMAGENET, None)) == 11


@pytest.mark.parametrize("text", ["{", "[]", '{"a": "b"}', '{"a": []}'])
def test_a_file_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "parts.json"
    path.write_text(text)
    with pytest.raises(OnwardError, match="classes by part as JSON"):
        read_subtrees(path)
