"""The figures of a page: drawn while there is room, each with its words and its numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from onward.errors import OnwardError
from onward.report import figures
from onward.report.decay import curve
from onward.report.figures_cost import Cost, pareto, priced
from onward.report.numbers import MISSING, percent
from onward.report.over_time import WORDS, counted, course, where_to_look
from onward.report.pictures import PICTURES
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard, years_by_distance
from onward.report.rendering import data_uri
from onward.report.style import to_png
from onward.report.summary import Summary, headline
from onward.report.themed import to_themed_svg
from onward.report.words import capital, metric_words, score_words

# A figure of thousands of paths is smaller, and faster to show, as an image.
_LARGEST_SVG = 90_000
# Inches that are still read well on half of a page; a wider figure has all of it.
_HALF = 6.5
# The smallest letters, of 8.5 points, are still read at this share of their size.
_READABLE = 0.72
# Pixels that a page of 390 leaves to a figure.
_TELEPHONE = 340
_MEET = (
    " Only the model of the first period reaches the largest distance: methods that learn it alike "
    "meet there."
)
_COSTS: tuple[tuple[Cost, str], ...] = (("cpu_seconds", "CPU seconds"), ("macs", "multiply-adds"))


@dataclass(frozen=True)
class Numbers:
    """The numbers of a figure as a small table."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Plot:
    """A figure with its words, ready for the page: part of it, or an image."""

    title: str
    alt: str
    caption: str
    svg: Markup | None = None
    image: str | None = None
    numbers: Numbers | None = None
    choice: str = ""
    inches: float = 0.0

    @property
    def wide(self) -> bool:
        """Whether it needs the whole width of a page."""
        return self.inches > _HALF

    @property
    def least(self) -> int:
        """How many pixels it takes at least, for its letters to be read."""
        return round(_READABLE * 96 * self.inches)

    @property
    def scrolls(self) -> bool:
        """Whether it is wider than a telephone, and moves sideways there."""
        return self.least > _TELEPHONE

    @property
    def size(self) -> int:
        """How many characters of the page it takes."""
        return len(self.svg or "") + len(self.image or "")


@dataclass
class Studio:
    """Draws figures until the page has enough of them: it stays small and quick to make.

    Parameters
    ----------
    room
        How many characters all figures may take.
    most
        How many figures there may be.
    """

    room: int = 460_000
    most: int = 30
    drawn: int = 0
    refused: int = 0

    def show(
        self, draw: Callable[[], Figure], words: Plot, methods: Mapping[str, int]
    ) -> list[Plot]:
        """Return the figure of some words, or nothing if there is no room for it."""
        if self.drawn >= self.most or self.room <= 0:
            self.refused += 1
            return []
        figure = draw()
        svg = to_themed_svg(figure, f"f{self.drawn}", methods)
        image = None
        if len(svg) > _LARGEST_SVG:
            image = data_uri(to_png(figure, dpi=110), "png")
        self.drawn += 1
        inches = float(figure.get_size_inches()[0])
        shown = replace(words, svg=None if image else svg, image=image, inches=inches)
        self.room -= shown.size
        return [shown]

    def show_picture(self, picture: Picture, methods: Mapping[str, int]) -> list[Plot]:
        """Return a picture that is drawn already, or nothing if there is no room for it."""
        words = Plot(picture.title, picture.alt, picture.caption)
        return self.show(lambda: picture.figure, words, methods)


@dataclass(frozen=True)
class Look:
    """How a chapter shows its methods: the number and the colour of each label."""

    numbers: Mapping[str, int]
    palette: Mapping[str, str]
    tag: str


def curves(
    shown: Sequence[Summary], card: StreamCard | None, look: Look, studio: Studio
) -> list[Plot]:
    """Draw scores over time, and against the time between learning and testing."""
    # A benchmark may have a picture of its own for this.
    own = card is not None and not {"next_period", "pooled"}.isdisjoint(card.pictures)
    over_time = [] if own else _over_time(shown, look, studio)
    return [*over_time, *_by_distance(shown, card, look, studio)]


def _over_time(shown: Sequence[Summary], look: Look, studio: Studio) -> list[Plot]:
    where, periods = where_to_look(shown), shown[0].spec.periods
    if where is None or len(periods) < 2:
        return []
    score = counted(shown, where)
    tested = f"{capital(score)} on {WORDS[where]}"
    lines = [course(item, where) for item in shown]
    rows = [[line.label, *map(percent, line.mean)] for line in lines]
    ends = " ".join(
        f"{line.label}: {percent(known[0])} % to {percent(known[-1])} %."
        for line in lines
        if len(known := line.mean[np.isfinite(line.mean)])
    )
    words = Plot(
        title="Over time",
        caption=f"{tested}. Lines are means over seeds, bands one "
        "standard deviation to either side.",
        alt=f"{tested}, period after period. {ends}",
        numbers=Numbers(["percent", *periods], rows),
    )
    return studio.show(
        lambda: figures.score_over_time(lines, periods, look.palette, score), words, look.numbers
    )


def _by_distance(
    shown: Sequence[Summary], card: StreamCard | None, look: Look, studio: Studio
) -> list[Plot]:
    lines = [line for line in map(curve, shown) if len(line.by_distance) > 1]
    if not lines or shown[0].spec.protocol["tests"] == "last":
        return []
    years = None
    if card is not None and len(card.periods) == len(shown[0].spec.periods):
        years = years_by_distance(card.periods) or None
    distances = sorted({int(at) for line in lines for at in line.distances})
    rows = [
        [line.label]
        + [
            percent(line.by_distance[at].mean) if at in line.by_distance else MISSING
            for at in distances
        ]
        for line in lines
    ]
    ends = " ".join(
        f"{line.label}: {percent(line.mean[0])} % at {line.distances[0]:+d}, "
        f"{percent(line.mean[-1])} % at {line.distances[-1]:+d}."
        for line in lines
    )
    words = Plot(
        title="Against time distance",
        caption="The score by how many periods lie between the last one learned and "
        "the one tested." + (_MEET if distances[-1] > 0 else ""),
        alt=f"The score by distance in time. {ends}",
        numbers=Numbers(["percent", *(f"{at:+d}" if at else "0" for at in distances)], rows),
    )
    score = score_words(shown[0].spec.task)
    return studio.show(
        lambda: figures.accuracy_by_distance(lines, look.palette, years, score), words, look.numbers
    )


def costs(shown: Sequence[Summary], look: Look, studio: Studio) -> list[Plot]:
    """Draw the headline quality against CPU time and against arithmetic, with the Pareto front."""
    metric = headline(shown)
    if metric is None:
        return []
    name, what = metric_words(metric)
    found = []
    for cost, title in _COSTS:
        points = priced(shown, metric, cost)
        if len(points) < 2:
            continue
        front = [item.summary.label for item in pareto(points)]
        rows = [
            [item.summary.label, item.summary.metrics[metric].percent(), f"{item.cost:,.4g}"]
            for item in sorted(points, key=lambda item: item.cost)
        ]
        words = Plot(
            title=f"Quality against {title}",
            choice=title,
            caption=f"{capital(name)} ({what}) with one standard deviation over "
            "seeds. The dashed line joins the methods that no other beats on both counts: "
            f"{', '.join(front)}. A marker's area grows with the samples that a method keeps.",
            alt=f"{name} against {title}: "
            + ", ".join(f"{row[0]} {row[1]} % for {row[2]}" for row in rows),
            numbers=Numbers(["method", f"{name}, %", title], rows),
        )
        draw = partial(
            figures.quality_against_cost,
            shown,
            look.palette,
            metric=metric,
            cost=cost,
            quality=f"{score_words(shown[0].spec.task)}, {name}",
        )
        found += studio.show(draw, words, look.numbers)
    return found


def pictures(
    shown: Sequence[Summary], card: StreamCard | None, look: Look, studio: Studio
) -> tuple[list[Plot], list[str]]:
    """Draw what the benchmark's card asks for; return what could not be, too, and why."""
    found: list[Plot] = []
    notes = []
    for name in card.pictures if card is not None else ():
        if name not in PICTURES:
            notes.append(f"The benchmark asks for the picture {name!r}, which is unknown here.")
            continue
        try:
            drawn = PICTURES[name](shown, card)
        except OnwardError as error:
            notes.append(f"The picture {name!r} could not be drawn: {error}.")
            continue
        for picture in drawn:
            found += studio.show_picture(picture, look.numbers)
    return found, notes
