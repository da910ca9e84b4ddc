"""What is known of each class and each domain, day after night."""

from collections.abc import Sequence

import numpy as np

from onward.report.drive import drive_picture, panels_of
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import TEST, Summary
from onward.report.verdict import BASELINE


def drive_curves_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the method that leads, and finetuning beside it, by class and by domain."""
    kept = [
        item
        for item in setting
        if all(TEST in run.static_tests and run.decisions for run in item.records)
    ]
    shown = [item for item in kept if item is kept[0] or item.label == BASELINE]
    return [_picture(item, card) for item in shown]


def _picture(item: Summary, card: StreamCard | None) -> Picture:
    panels = panels_of(item.records, None if card is None else card.domains())
    periods = item.spec.periods
    words = []
    for heading, lines in panels.items():
        ends = ", ".join(
            f"{value} {100 * known[-1]:.0f} %"
            for value, line in lines.items()
            if len(known := line[np.isfinite(line)])
        )
        words.append(f"{heading}: {ends}")
    domains = "and by domain" if len(panels) > 1 else "(this stream's card has no domains)"
    return Picture(
        f"{item.label}: classes and domains over the drive",
        drive_picture(panels, periods, "", columns=3),
        f"The same test after each day and night, by class {domains}. Nights are shaded. "
        "Mean over seeds.",
        f"Right answers of {item.label} after {periods[-1]}, {'; '.join(words)}.",
    )
