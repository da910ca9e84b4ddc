import numpy as np
import pytest

from onward.errors import OnwardError
from onward.memory import Rarest
from onward.types import Array


def images(*counts: int, of: int = 5) -> Array:
    """Return the boxes of images with so many of one class, and one car each."""
    rows = np.full((len(counts), max(counts) + 1, 6), -1.0)
    for image, count in zip(rows, counts, strict=True):
        image[:count, 0] = of
        image[count] = (2, 0, 0, 9, 9, 0)
    return rows


def test_the_images_with_the_most_rare_boxes_of_each_call_stay() -> None:
    memory = Rarest(4, classes=(0, 5))
    memory.admit(np.arange(5), images(0, 3, 1, 4, 2))
    assert memory.rows.tolist() == [1, 2, 3, 4]
    memory.admit(
        np.arange(5, 8), np.pad(images(0, 1, 1, of=0), ((0, 0), (0, 3), (0, 0)), constant_values=-1)
    )
    # Two places for each call, however many rare boxes the other one has.
    assert memory.rows.tolist() == [1, 3, 6, 7]
    memory.admit(np.arange(8, 9), images(4))
    # What does not divide evenly goes to the first ones: two, one and one.
    assert memory.rows.tolist()[:2] == [1, 3]
    assert memory.rows.tolist()[3:] == [8]
    assert len(memory.labels) == 4


def test_chance_decides_among_equals_and_is_resumed() -> None:
    kept = {
        tuple(memory.rows.tolist())
        for seed in range(8)
        if (memory := Rarest(2, seed, classes=(5,))).admit(range(6), images(*[1] * 6)) is None
    }
    assert len(kept) > 2
    whole, again = Rarest(3, classes=(5,)), Rarest(3, classes=(5,))
    whole.admit(np.arange(6), images(1, 1, 1, 1, 1, 1))
    again.restore(whole.state())
    for memory in (whole, again):
        memory.admit(np.arange(6, 12), images(1, 1, 1, 1, 1, 1))
    assert whole.rows.tolist() == again.rows.tolist()
    assert (whole.labels == again.labels).all()


def test_labels_that_are_no_boxes_are_refused() -> None:
    with pytest.raises(OnwardError, match="expected boxes as labels"):
        Rarest(3, classes=(5,)).admit(np.arange(2), np.array([0, 1]))
