"""The stream itself: samples of its periods, which classes come when, how large periods are."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from onward.report import figures
from onward.report.content_figures import Numbers, Plot, Studio
from onward.report.numbers import evenly
from onward.report.provenance import CardPeriod, StreamCard
from onward.report.rendering import data_uri

_HEIGHT = 52
# How many times as wide as high a strip may be: what fits beside its date.
_WIDEST = 20
_MOST_CLASSES = 200
_MOST_PERIODS = 60


@dataclass(frozen=True)
class Strip:
    """Samples of one period, side by side."""

    name: str
    when: Sequence[str]
    image: str


@dataclass(frozen=True)
class StreamView:
    """What a page shows of the data."""

    strips: Sequence[Strip]
    mix: Sequence[Plot]
    sizes: Numbers
    periods: int


def stream_view(card: StreamCard, most_strips: int, studio: Studio) -> StreamView:
    """Return the pictures of a stream.

    Parameters
    ----------
    card
        What the results folder says about the data.
    most_strips
        Of how many periods samples are shown; first and last are among them.
    studio
        Where figures are drawn.
    """
    return StreamView(
        strips=_strips(card, most_strips),
        mix=_mix(card, studio),
        sizes=Numbers(
            ["period", "from", "to", "samples", "without label", "classes"],
            [
                [
                    period.name,
                    str(period.start or ""),
                    str(period.end or ""),
                    f"{period.samples:,}",
                    f"{period.unlabelled:,}",
                    f"{len(period.classes):,}",
                ]
                for period in card.periods
            ],
        ),
        periods=len(card.periods),
    )


def _strips(card: StreamCard, most: int) -> list[Strip]:
    kept = [(period, card.strip(at)) for at, period in enumerate(card.periods)]
    there = [(period, content) for period, content in kept if content is not None]
    return [
        Strip(period.name, _when(period), data_uri(_smaller(content), "webp"))
        for period, content in (there[place] for place in evenly(len(there), most))
    ]


def _smaller(png: bytes) -> bytes:
    """Cut a strip to what is seen of it, and pack it as photographs are packed."""
    with Image.open(io.BytesIO(png)) as image:
        # What is see-through stands on white paper, as in every other picture.
        whole = image.convert("RGBA")
        strip = Image.new("RGB", whole.size, "white")
        strip.paste(whole, mask=whole)
    strip = strip.crop((0, 0, min(strip.width, _WIDEST * strip.height), strip.height))
    size = (round(strip.width * _HEIGHT / strip.height), _HEIGHT)
    sink = io.BytesIO()
    strip.resize(size, Image.Resampling.LANCZOS).save(sink, "WEBP", quality=62, method=4)
    return sink.getvalue()


def _when(period: CardPeriod) -> list[str]:
    days = [f"{period.start} to {period.end}"] if period.start else []
    return [*days, f"{period.samples:,} samples"]


def _mix(card: StreamCard, studio: Studio) -> list[Plot]:
    names = dict.fromkeys(name for period in card.periods for name in period.classes)
    if not 1 < len(names) <= _MOST_CLASSES or len(card.periods) > _MOST_PERIODS:
        return []
    mix = {period.name: period.classes for period in card.periods}
    if len(mix) < len(card.periods):  # two periods of one name would hide each other
        mix = {f"{at + 1}": period.classes for at, period in enumerate(card.periods)}
    ranked = sorted(names, key=lambda name: -sum(counts.get(name, 0) for counts in mix.values()))
    rows = [[name, *(f"{counts.get(name, 0):,}" for counts in mix.values())] for name in ranked]
    words = Plot(
        title="Class mix",
        caption="Which share of its samples each class has, period by period.",
        alt="Class mix over time. Most samples: "
        + ", ".join(
            f"{name} {sum(counts.get(name, 0) for counts in mix.values()):,}" for name in ranked[:9]
        ),
        numbers=Numbers(["samples", *mix], rows[:40]),
    )
    return studio.show(lambda: figures.class_mix(mix), words, {})
