"""Which labels are said in the end, beside what would have been right."""

from collections.abc import Sequence

import numpy as np

from onward.metrics.iirc_levels import recall
from onward.report.answers import answers
from onward.report.confusion import confusion_of_methods
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.summary import Summary
from onward.results.record import RunRecord
from onward.tasks import shown_of

_SHOWN = 3


def confusion_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the truth, and the last answers of the methods that lead."""
    del card
    runs = _runs(setting)
    if not runs:
        return []
    (first, *_) = runs.values()
    parts = []
    for label, run in runs.items():
        seen = answers(run, max(run.decisions))
        found = 100 * float(np.nanmean(recall(seen.said, seen.true)))
        parts.append(
            f"{label} says {seen.said.sum(1).mean():.1f} labels for each sample, where "
            f"{seen.true.sum(1).mean():.1f} are right, and finds {found:.0f} % of a label's samples"
        )
    return [
        Picture(
            "Which labels are said in the end",
            confusion_of_methods(runs, side=2.3),
            "Rows are true labels, columns are labels that were said, both in the order in which "
            "they came. A model that forgets empties the columns on the left; one that answers "
            f"with everything it knows fills the rows. Runs with seed {first.spec.seed}: seeds "
            "bring classes in other orders.",
            f"After the last period, {'; '.join(parts)}.",
        )
    ]


def _runs(setting: Sequence[Summary]) -> dict[str, RunRecord]:
    """Return a run of each leading method, all under one seed: the first one's."""
    if not shown_of(setting[0].spec.task).sets:
        return {}
    kept = {
        item.label: {record.spec.seed: record for record in item.records if record.decisions}
        for item in setting
    }
    seed = next((seed for found in kept.values() for seed in found), None)
    runs = {label: found[seed] for label, found in kept.items() if seed in found}
    return dict(list(runs.items())[:_SHOWN])
