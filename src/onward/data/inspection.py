"""A folder of official data, looked through: what it says of itself, and what is really there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onward.data.counts import Count
from onward.data.gaps import Flaw

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Inspection:
    """What is known before images are read, and how to read them all.

    Parameters
    ----------
    layout
        What kind of folder it is, for people.
    counts
        Numbers that have to be as somebody wrote them down.
    shown
        Those of them that are to be seen; the others are told by how many they are.
    agreed
        How people say that counts are right, such as ``as published``.
    published
        Numbers that inform and judge nothing.
    notes, problems
        What else is to be told, and what is wrong before any image was read.
    flaws
        Samples that are known to be broken.
    images
        How many images `read` reads.
    read
        Reads all images, calls its argument with how many more were read, and returns what is
        broken.
    """

    layout: str
    counts: Sequence[Count]
    shown: Sequence[Count]
    agreed: str
    images: int
    read: Callable[[Progress], list[Flaw]]
    published: Sequence[Count] = ()
    notes: Sequence[str] = ()
    problems: Sequence[str] = ()
    flaws: Sequence[Flaw] = ()

    @property
    def wrong(self) -> list[Count]:
        """The counts that are not as they have to be."""
        return [count for count in self.counts if not count.right]

    def as_json(self, broken: Sequence[Flaw]) -> dict[str, Any]:
        """Return it as plain data, with what reading all images found."""
        return {
            "layout": self.layout,
            "counts": [count._asdict() for count in self.counts],
            "published": [count._asdict() for count in self.published],
            "notes": list(self.notes),
            "problems": [*self.problems, *(flaw.problem for flaw in broken)],
        }
