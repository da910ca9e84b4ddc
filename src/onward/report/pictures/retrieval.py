"""Whether an image still finds its text, a text its image, and an image the words of its class."""

from collections.abc import Sequence

import numpy as np

from onward.data.bags import ZERO_SHOT
from onward.report.pictures.lines import MOST, Panel, line_panels, spoken
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary
from onward.types import PERIOD, Array

_WAYS = {"image_to_text1": "an image finds its text", "text_to_image1": "a text finds its image"}


def retrieval_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw recall at 1 of the last model on every period, both ways."""
    del card
    if not any(score.scores.keys() >= _WAYS.keys() for score in setting[0].records[0].scores):
        return []
    panels = [
        Panel(heading, {item.label: _in_the_end(item, way, PERIOD) for item in setting[:MOST]})
        for way, heading in _WAYS.items()
    ]
    return _side_by_side(
        panels,
        setting[0].spec.periods,
        "Retrieval, year by year",
        "recall at 1",
        "The model that has learned the whole stream, on the test of each period; the first was "
        "learned longest ago. One candidate among all of a test is right. The band is one "
        "deviation over seeds.",
        "Recall at 1 of the last model. ",
    )


def zero_shot_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw how often the words of a class are found, when a period is new and in the end."""
    del card
    kept = [
        item
        for item in setting[:MOST]
        if all(ZERO_SHOT in run.period_tests for run in item.records)
    ]
    when = Panel("just after the period", {item.label: _when_new(item) for item in kept})
    last = {item.label: _in_the_end(item, None, ZERO_SHOT) for item in kept}
    panels = [when, Panel("in the end", last)]
    return _side_by_side(
        panels,
        setting[0].spec.periods,
        "Zero-shot: the words for a class",
        "right classes",
        "Each image is compared with a sentence for every class; nothing was trained to classify. "
        "Left, the model that has just learned the period; right, the last one.",
        "Zero-shot accuracy, ",
    )


def _side_by_side(
    panels: Sequence[Panel],
    periods: Sequence[str],
    title: str,
    score: str,
    caption: str,
    spoken_first: str,
) -> list[Picture]:
    """Return one picture of all panels, tested period by period; none where one is empty."""
    if not all(panel.known for panel in panels):
        return []
    words = " ".join(f"{panel.title}: {spoken(panel, periods)}." for panel in panels)
    figure = line_panels(panels, periods, score, "tested on")
    return [Picture(title, figure, caption, spoken_first + words)]


def _in_the_end(item: Summary, metric: str | None, test: str) -> Array:
    return np.stack([run.matrix(metric, test)[-1] for run in item.records])


def _when_new(item: Summary) -> Array:
    return np.stack([np.diagonal(run.matrix(None, ZERO_SHOT)) for run in item.records])
