"""Tests that belong to no period, after each of them: what is learned for elsewhere."""

from collections.abc import Sequence

import numpy as np

from onward.report.pictures.lines import MOST, Panel, line_panels, spoken
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary
from onward.report.words import score_words
from onward.results.predictions import POOLED

# As many as a page's width and height hold.
_PANELS = 6


def static_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the score on every static test after each period, a panel each."""
    del card
    tests = list(
        dict.fromkeys(
            test
            for item in setting[:MOST]
            for test in item.records[0].static_tests
            if test != POOLED
        )
    )
    panels = [_panel(test, setting[:MOST]) for test in tests[:_PANELS]]
    panels = [panel for panel in panels if panel.known]
    if not panels:
        return []
    periods, score = setting[0].spec.periods, score_words(setting[0].spec.task)
    left_out = len(tests) - len(panels)
    more = f" {left_out} more are in the run folders." if left_out else ""
    words = " ".join(f"{panel.title}: {spoken(panel, periods)}." for panel in panels)
    named = panels[0].title if len(panels) == 1 else "tests of no period"
    return [
        Picture(
            f"Elsewhere: {named}",
            line_panels(panels, periods, score, "after learning"),
            "The same test after each period, of samples that no period brings. The band is one "
            f"deviation over seeds.{more}",
            f"{score} after each period. {words}",
        )
    ]


def _panel(test: str, setting: Sequence[Summary]) -> Panel:
    return Panel(
        test,
        {
            item.label: np.stack([run.static(test) for run in item.records])
            for item in setting
            if all(test in run.static_tests for run in item.records)
        },
    )
