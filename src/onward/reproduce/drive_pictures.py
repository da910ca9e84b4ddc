"""The pictures of an outcome on CLAD's drive: what each row knows of classes and domains."""

from matplotlib.figure import Figure

from onward.report.drive import drive_picture
from onward.reproduce.engine import Outcome
from onward.reproduce.words import file_name
from onward.sweep import benchmark_of

_DRIVE = "clad-c"


def drive_pictures(outcome: Outcome) -> dict[str, tuple[str, Figure]]:
    """Return a picture of each row with its file name, by title; none of other benchmarks."""
    pictures = {}
    for each in outcome.plan.planned:
        if each.run.source.benchmark != _DRIVE:
            continue
        (summary,) = outcome.summaries[each.row.name]
        if summary.records[0].decisions:
            plan = outcome.plan
            title = f"{each.row.label} · {plan.data}, {plan.recipe} recipe"
            objects = benchmark_of(each.run.source).raw.columns
            pictures[f"{each.row.label}: classes and domains over the drive"] = (
                file_name(each.row.name),
                drive_picture(summary.records, objects, title),
            )
    return pictures
