"""All labels so far, period by period."""

from collections.abc import Sequence

import numpy as np

from onward.report.pictures.lines import MOST, Panel, line_panels, spoken
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary
from onward.report.words import score_words
from onward.results.predictions import POOLED


def pooled_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the score over the tests of all periods so far, after each period.

    References
    ----------
    IIRC, Figure 4.
    """
    del card
    panel = Panel(
        "",
        {
            item.label: np.stack([record.static(POOLED) for record in item.records])
            for item in setting[:MOST]
            if all(POOLED in record.static_tests for record in item.records)
        },
    )
    if not panel.known:
        return []
    periods, score = setting[0].spec.periods, score_words(setting[0].spec.task)
    return [
        Picture(
            "All labels so far, period by period",
            line_panels([panel], periods, f"{score} over all of the past", "after learning"),
            "After each period, every test sample of it and of all earlier ones is asked for all "
            "of its labels, each sample once. Classes arrive with every period, so that the "
            "question grows.",
            f"{score} over all periods so far: {spoken(panel, periods)}.",
        )
    ]
