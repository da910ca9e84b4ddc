"""What a plan takes for granted, in words."""

from onward.planning.costs import Costs
from onward.planning.drift import Drift
from onward.planning.history import History
from onward.planning.replay import Timing
from onward.report.words import SAME_ROWS


def assumptions(
    history: History, costs: Costs, timing: Timing, reference: str, drift: Drift | None
) -> list[str]:
    """Return what a plan rests on, a sentence or two each."""
    told = [
        f"A lost point is one below the freshest model of {reference}, the method whose freshest "
        "models are best here; where another is above it, points are won.",
        "The first model is everybody's and is not paid for; an update at the end of a period "
        "serves from the next one on.",
        "Policies are replayed on models that had learned every period. One that skipped periods "
        "while it learned would be another model, which these runs do not know.",
        "Which number of periods or which threshold is best was found on this same history, which "
        "flatters the best one a little. Periods count alike, however long they are.",
    ]
    if timing.delay:
        how = "the runs were made with it" if timing.inside else "a model has learned no later ones"
        told.append(
            f"Labels come {timing.delay} periods late ({how}), and a score is measured once they "
            "are there."
        )
    if costs.cpu_hour:
        told.append(
            "An update takes a run's CPU time by the number of its periods, tests included; "
            "methods that learn everything again take more each time."
        )
    told.append(
        "No drift is known here: the stream's card has no class mix, and no file was given."
        if drift is None
        else f"Drift is {drift.words}, between the newest period that was learned and the present"
        + (", as far as labels are there." if drift.needs_labels else ".")
    )
    if history.same_rows:
        told.append(SAME_ROWS)
    elif len(history.seeds) == 1:
        told.append("One seed has no interval and decides nothing: run more, six or better ten.")
    return told
