"""Names written beside lines and points, out of each other's way, in place of a legend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes

from onward.report.fields import shortened
from onward.report.style import settle

_LONGEST = 24
_SIZE = 9.5
_HEIGHT = 1.2 * _SIZE
# Where a point's name may stand, best first: to the right or left, in line, above or below.
_SIDES = [(side, level) for level in (0, 1, -1, 2, -2, 3, -3) for side in (1, -1)]


def short(label: str) -> str:
    """Cut a name that would push a figure aside."""
    return shortened(label, _LONGEST)


def spread_apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move ascending heights at least a gap apart, each group staying where it was on average.

    Examples
    --------
    >>> spread_apart([1, 5, 5, 5], gap=1)
    [1.0, 4.0, 5.0, 6.0]
    """
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _lowest(groups[-1], gap) < _lowest(groups[-2], gap) + gap * len(
            groups[-2]
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_lowest(group, gap) + at * gap for group in groups for at in range(len(group))]


def _lowest(group: list[float], gap: float) -> float:
    return sum(group) / len(group) - (len(group) - 1) * gap / 2


def label_ends(
    axes: Axes,
    ends: Mapping[str, tuple[float, float]],
    palette: Mapping[str, str],
    *,
    side: Literal["left", "right"],
) -> None:
    """Write the name of each line beside one of its ends.

    Parameters
    ----------
    axes
        Where the lines are drawn, with its final limits.
    ends
        That end of each line, by name.
    palette
        The colour of each name.
    side
        On which side of the axes names stand.
    """
    ordered = sorted(ends.items(), key=lambda item: item[1][1])
    (low, high), across = axes.get_ylim(), axes.get_xlim()
    heights = spread_apart([y for _, (_, y) in ordered], gap=(high - low) * 0.055)
    for (label, point), height in zip(ordered, heights, strict=True):
        place, colour = (-0.02 if side == "left" else 1.02), palette[label]
        axes.text(
            place,
            (height - low) / (high - low),
            short(label),
            transform=axes.transAxes,
            ha="right" if side == "left" else "left",
            va="center",
            color=colour,
            fontweight="bold",
            gid=label,
        )
        # From the line's end to its name; where the axes end depends on limits that are final.
        edge = axes.transData.inverted().transform(axes.transAxes.transform((place, 0)))[0]
        ends_at = ([point[0], edge], [point[1], height])
        leader = axes.plot(*ends_at, color=colour, lw=0.6, alpha=0.6, clip_on=False, gid=label)
        leader[0].set_in_layout(False)
    axes.set(xlim=across, ylim=(low, high))


@dataclass(frozen=True)
class _Box:
    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: "_Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top

    def inside(self, other: "_Box") -> bool:
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


@dataclass(frozen=True)
class Point:
    """A marker with an error bar: ``radius`` in typographic points, ``spread`` in units of y."""

    x: float
    y: float
    radius: float
    spread: float


def label_points(axes: Axes, points: Mapping[str, Point], palette: Mapping[str, str]) -> None:
    """Write the name of each point beside it, on no other name, marker or bar if possible.

    Parameters
    ----------
    axes
        Where the points are drawn, with its final limits.
    points
        The points, by name.
    palette
        The colour of each name.
    """
    root = axes.figure.get_figure(root=True)
    settle(root)
    scale = 72 / root.dpi
    frame = _Box(*(scale * edge for edge in axes.bbox.extents))
    middles, taken = {}, []
    for label, point in points.items():
        ends = axes.transData.transform([(point.x, point.y + d * point.spread) for d in (-1, 0, 1)])
        (x, low), (_, y), (_, high) = scale * ends
        middles[label] = (float(x), float(y))
        taken.append(_Box(x - 1, low, x + 1, high))
        taken.append(_Box(x - point.radius, y - point.radius, x + point.radius, y + point.radius))
    for label in sorted(middles, key=lambda name: -middles[name][1]):
        away = points[label].radius + 4
        beside = {
            (side * away, level * 0.8 * _HEIGHT): _beside(
                middles[label], short(label), side * away, level * 0.8 * _HEIGHT
            )
            for side, level in _SIDES
        }
        trouble = {
            offset: (not box.inside(frame), sum(box.meets(other) for other in taken))
            for offset, box in beside.items()
        }
        offset = min(trouble, key=trouble.__getitem__)
        taken.append(beside[offset])
        axes.annotate(
            short(label),
            (points[label].x, points[label].y),
            xytext=offset,
            textcoords="offset points",
            ha="left" if offset[0] > 0 else "right",
            va="center",
            fontsize=_SIZE,
            fontweight="bold",
            color=palette[label],
            gid=label,
        )


def _beside(middle: tuple[float, float], text: str, away: float, lift: float) -> _Box:
    width = 0.68 * _SIZE * len(text)
    left = middle[0] + away if away > 0 else middle[0] + away - width
    bottom = middle[1] + lift - _HEIGHT / 2
    return _Box(left, bottom, left + width, bottom + _HEIGHT)
