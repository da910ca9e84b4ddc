"""A picture: how well the last year was foreseen."""

from collections.abc import Sequence

from onward.report.pictures.lines import MOST, Panel, line_panels, spoken
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary


def last_year_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the score on the last year after each year."""
    del card
    panel = Panel("", {item.label: item.matrices[:, :, -1] for item in setting[:MOST]})
    if not panel.known:
        return []
    years = setting[0].spec.periods
    return [
        Picture(
            "How well the last year was foreseen",
            line_panels([panel], years, "score", "after"),
            "The score on the last year of each model that came before it.",
            f"Score on the last year after each: {spoken(panel, years)}.",
        )
    ]
