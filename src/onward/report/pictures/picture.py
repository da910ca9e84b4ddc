"""A figure with its words."""

from dataclasses import dataclass

from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, what is above and below it, and the words for who cannot see it.

    Lines and markers of one method may carry its label as their ``gid``: a page can then set one
    apart from the others.
    """

    title: str
    figure: Figure
    caption: str
    alt: str
