"""The pictures of an outcome whose samples have many labels: scores and confusions over time."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.report.confusion import confusion_of_methods, confusion_over_time
from onward.report.style import COLOURS, FAINT, ruled, styled
from onward.reproduce.claims import Cell
from onward.reproduce.engine import Outcome
from onward.reproduce.words import file_name


def label_pictures(outcome: Outcome) -> dict[str, tuple[str, Figure]]:
    """Return pictures with their file names, by title."""
    kept = [(row, runs[0]) for row, runs in outcome.runs() if runs[0].decisions]
    if not kept:
        return {}
    pictures = {
        f"{row.label}: which labels are said, over time": (
            f"confusion-{file_name(row.name)}",
            confusion_over_time(run, row.label),
        )
        for row, run in kept
    }
    methods = confusion_of_methods({row.label: run for row, run in kept})
    return {
        **pictures,
        "Which labels are said in the end": ("confusion.png", methods),
        "All labels so far, period by period": ("periods.png", followed(outcome)),
    }


@styled
def followed(outcome: Outcome) -> Figure:
    """Draw the score over all of the past after each period, ours and the published ones."""
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    ours, theirs = figure.subplots(1, 2, sharey=True)
    table = outcome.plan.table
    rows = outcome.plan.rows()
    for at, row in enumerate(rows):
        style = {"color": COLOURS[at % len(COLOURS)], "ls": ("-", "--", ":")[at // len(COLOURS)]}
        cells = {c.after: Cell(row.name, c.name) for c in table.columns if c.after is not None}
        measured = {after: outcome.ours(cell) for after, cell in cells.items()}
        known = {after: 100 * m.mean for after, m in measured.items() if m is not None}
        _line(ours, known, row.label, style)
        published = {after: table.published(cell).mean for after, cell in cells.items()}
        _line(theirs, {a: v for a, v in published.items() if v is not None}, row.label, style)
    plan = outcome.plan
    ours.set_title(f"ours: {plan.data}, {plan.recipe} recipe", loc="left", fontweight="bold")
    theirs.set_title("published", loc="left", fontweight="bold")
    for axes in (ours, theirs):
        axes.set_xlabel("after period")
        axes.set_ylim(0, 100)
        ruled(axes)
    ours.set_ylabel("pw-Jaccard over all of the past, %", color=FAINT)
    handles, labels = ours.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def _line(axes: Axes, values: dict[int, float], label: str, style: dict[str, str]) -> None:
    if values:
        axes.plot(
            list(values), list(values.values()), label=label, lw=1.8, marker="o", ms=3.5,
            color=style["color"], ls=style["ls"],
        )  # fmt: skip
