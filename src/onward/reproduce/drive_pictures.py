"""The pictures of an outcome on CLAD's drive: what each row knows of classes and domains."""

from matplotlib.figure import Figure

from onward.report.drive import drive_picture, panels_of
from onward.report.provenance import stream_card
from onward.reproduce.engine import Outcome
from onward.reproduce.words import file_name

_DRIVE = "clad-c"


def drive_pictures(outcome: Outcome) -> dict[str, tuple[str, Figure]]:
    """Return a picture of each row with its file name, by title; none of other benchmarks."""
    pictures = {}
    for each in outcome.plan.planned:
        if each.run.source.benchmark != _DRIVE:
            continue
        (summary,) = outcome.summaries[each.row.name]
        if summary.records[0].decisions:
            plan, records = outcome.plan, summary.records
            runs = f"mean of {len(records)} run{'' if len(records) == 1 else 's'}"
            title = f"{each.row.label} · {plan.data}, {plan.recipe} recipe · {runs}"
            card = stream_card(records)
            panels = panels_of(records, None if card is None else card.domains())
            pictures[f"{each.row.label}: classes and domains over the drive"] = (
                file_name(each.row.name),
                drive_picture(panels, records[0].spec.periods, f"{title}; nights are shaded"),
            )
    return pictures
