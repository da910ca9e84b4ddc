"""How precisely each class is found, domain after domain."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from onward.report.labels import short
from onward.report.pictures.domain_matrices import Runs
from onward.report.pictures.lines import MOST, looks, name_below
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.style import FAINT, panels, ruled, styled
from onward.report.summary import Summary
from onward.tasks import shown_of
from onward.types import Array


def class_precision_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the average precision of each class after each domain, for all methods."""
    del card
    runs: Runs = {
        item.label: item.records
        for item in setting[:MOST]
        if shown_of(item.spec.task).precisions and all(run.decisions for run in item.records)
    }
    if not runs:
        return []
    lines, classes = precision_over_domains(runs)
    parts = [
        f"{name}: " + ", ".join(f"{label} {line[name][-1]:.0f}" for label, line in lines.items())
        for name in classes
    ]
    return [
        Picture(
            "Classes, domain after domain",
            _curves(lines, classes, setting[0].spec.periods),
            "The average precision of a class, as a mean over the domains that have it, after "
            "each domain. Classes weigh alike, however few objects they have.",
            f"Average precision in percent after the last domain, {'; '.join(parts)}.",
        )
    ]


def precision_over_domains(runs: Runs) -> tuple[dict[str, dict[str, Array]], tuple[str, ...]]:
    """Return the precision of each class after each domain, in percent, by method, and classes.

    The mean over the domains that have an object of it, and over seeds; NaN before it was tested.
    """
    lines: dict[str, dict[str, Array]] = {}
    classes: tuple[str, ...] = ()
    for label, some in runs.items():
        found = [run.class_matrix() for run in some]
        classes = found[0][1]
        lines[label] = {}
        for number, name in enumerate(classes):
            of_class = np.stack([matrix[:, :, number] for matrix, _ in found])
            mean = np.full(of_class.shape[1], np.nan)
            # A class that a domain has no object of has no precision there.
            known = np.isfinite(of_class).any(2).all(0)
            mean[known] = 100 * np.nanmean(of_class[:, known], axis=2).mean(0)
            lines[label][name] = mean
    return lines, classes


def class_curves(runs: Runs) -> Figure:
    """Draw the average precision of each class, mean over domains, after each domain."""
    return _curves(*precision_over_domains(runs), next(iter(runs.values()))[0].spec.periods)


@styled
def _curves(
    lines: Mapping[str, Mapping[str, Array]], classes: Sequence[str], periods: Sequence[str]
) -> Figure:
    rows = 1 if len(classes) < 3 else 2
    names = 0.35 + 0.2 * -(-len(lines) // 4)
    figure, grid = panels(
        len(classes),
        -(-len(classes) // rows),
        lambda wide, high: (9.8, 2.5 * high + names),
        sharex=True,
        sharey=True,
    )
    places, styles = np.arange(len(periods)), looks(list(lines))
    for axes, name in zip(grid.ravel(), classes, strict=False):
        for label, of_classes in lines.items():
            known = np.isfinite(of_classes[name])
            style = {**styles[label], "marker": "o", "ms": 4, "gid": label}
            axes.plot(places[known], of_classes[name][known], **style)
        axes.set_title(short(name), loc="left", fontweight="bold")
        ruled(axes)
        axes.set_xticks(places, periods)
        axes.set_ylim(0, 100)
    figure.supylabel("average precision, mean over domains, %", fontsize=9, color=FAINT)
    # Not below the whole figure, where the names of methods stand.
    for axes in grid[-1]:
        axes.set_xlabel("after learning", color=FAINT)
    name_below(figure, styles)
    return figure
