import itertools

from hypothesis import given
from hypothesis import strategies as st

from onward.curate.cutting import cuts, equal_sizes
from onward.curate.rules import DAY

_KEYS = st.lists(
    st.tuples(st.integers(-2 * DAY, 2 * DAY), st.sampled_from("abc")), min_size=1, unique=True
)


@given(_KEYS, st.integers(1, 5), st.integers(1, 4))
def test_parts_are_where_a_sort_would_cut(
    keys: list[tuple[int, str]], buckets: int, most: int
) -> None:
    keys.sort()
    sizes = equal_sizes(len(keys), min(buckets, len(keys)))
    assert sum(sizes) == len(keys)
    assert max(sizes) - min(sizes) <= 1
    of_day = {
        day: list(held) for day, held in itertools.groupby(keys, key=lambda key: key[0] // DAY)
    }
    found = cuts(sizes, {day: len(held) for day, held in of_day.items()}, of_day.__getitem__, most)
    assert max(cut.rows for cut in found) <= most
    first = 0
    for cut in found:
        # As good as the key itself: nothing lies between.
        assert [key for key in keys if key >= cut.start] == keys[first:]
        first += cut.rows
    assert first == len(keys)
    in_bucket = [sum(cut.rows for cut in found if cut.bucket == b) for b in range(len(sizes))]
    assert in_bucket == sizes
    assert [cut.path for cut in found] == sorted(cut.path for cut in found)
