import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onward.data.read_files import MAX_JSON_DEPTH, nesting_depth

texts = st.text(st.sampled_from('[]{}"\\ a\n'))
values = st.recursive(
    st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=9,
)


def depth_of(value: Any) -> int:
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth_of, inner), default=0)
    return 0


@settings(deadline=None)
@given(values, st.integers(1, 9))
def test_depth_is_the_same_however_a_file_is_cut_into_blocks(value: Any, size: int) -> None:
    content = json.dumps(value).encode()
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    assert nesting_depth(blocks) == depth_of(value)


@pytest.mark.parametrize("depth", [MAX_JSON_DEPTH, MAX_JSON_DEPTH + 1])
def test_depth_stops_above_the_deepest(depth: int) -> None:
    assert (nesting_depth([b"[" * depth, b"]" * depth]) > MAX_JSON_DEPTH) == (
        depth > MAX_JSON_DEPTH
    )
