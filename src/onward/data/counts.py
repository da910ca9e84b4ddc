"""A number that somebody wrote down, beside the one that is there."""

from typing import NamedTuple


class Count(NamedTuple):
    """A number that was published, and the one that was found."""

    source: str
    what: str
    expected: int
    found: int

    @property
    def right(self) -> bool:
        """Whether the two agree."""
        return self.expected == self.found
