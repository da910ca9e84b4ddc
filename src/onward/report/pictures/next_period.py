"""Is it right tomorrow: the score on each period of the model that stopped right before it."""

from collections.abc import Sequence

import numpy as np

from onward.report.pictures.lines import MOST, Panel, line_panels, spoken
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary
from onward.report.words import score_words


def next_period_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw what next-domain averages, period by period."""
    del card
    panel = Panel("", {item.label: np.diagonal(item.matrices, 1, 1, 2) for item in setting[:MOST]})
    if not panel.known:
        return []
    periods = setting[0].spec.periods[1:]
    score = score_words(setting[0].spec.task)
    return [
        Picture(
            "Right tomorrow, period by period",
            line_panels([panel], periods, score, "tested on"),
            "Each period as the model sees it that has learned everything up to the one before. "
            "A dip is a period that nobody could foresee. The band is one deviation over seeds.",
            f"{score} on each period of the model that stopped right before it: "
            f"{spoken(panel, periods)}.",
        )
    ]
