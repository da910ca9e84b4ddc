"""Domain after domain: what is found on each of them, and how sure that is."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onward.report.labels import short
from onward.report.pictures.lines import MOST
from onward.report.pictures.picture import Picture
from onward.report.provenance import StreamCard
from onward.report.style import AS_DRAWN, FAINT, INK, MAP, panels, styled
from onward.report.summary import Summary
from onward.report.words import seeds
from onward.results.record import RunRecord
from onward.types import Array

# The longest name that leaves room for the number of seeds beside it.
_BESIDE = 14
Runs = Mapping[str, Sequence[RunRecord]]
"""Methods by label, each with its runs."""


def domain_matrix_picture(setting: Sequence[Summary], card: StreamCard | None) -> list[Picture]:
    """Draw the score on each domain after each, with its deviation."""
    del card
    shown = [item for item in setting[:MOST] if np.isfinite(item.matrix).any()]
    if not shown:
        return []
    periods = setting[0].spec.periods
    parts = []
    for item in shown:
        ends = zip(periods, 100 * item.matrix[-1], strict=True)
        known = ", ".join(f"{name} {value:.0f}" for name, value in ends if np.isfinite(value))
        parts.append(f"{item.label}: {known}")
    return [
        Picture(
            "Domain after domain",
            domain_matrices({item.label: item.records for item in shown}, width=2.45),
            "Rows: after learning a domain; columns: tested on. Where a column gets darker "
            "downwards, that domain is being forgotten; what is above the diagonal was not "
            "learned yet. ± is one deviation over seeds.",
            f"mAP in percent on each domain after the last one: {'; '.join(parts)}.",
        )
    ]


@styled
def domain_matrices(runs: Runs, width: float = 2.9) -> Figure:
    """Draw for each method the score on each domain after each, with its spread over seeds.

    Parameters
    ----------
    runs
        Methods by label, each with its runs.
    width
        Of a panel, in inches.
    """
    figure, grid = panels(
        len(runs), 4, lambda wide, high: (width * wide + 0.2, (width - 0.15) * high + 0.3)
    )
    values = {label: 100 * np.stack([run.matrix() for run in some]) for label, some in runs.items()}
    most = max(float(np.nanmax(matrices)) for matrices in values.values())
    for axes, (label, matrices) in zip(grid.ravel(), values.items(), strict=False):
        _matrix(axes, matrices, runs[label][0].spec.periods, most)
        axes.set_title(short(label), loc="left", fontsize=10.5, fontweight="bold")
        if len(label) <= _BESIDE:
            axes.set_title(seeds(len(matrices)), loc="right", fontsize=8, color=FAINT)
    figure.supxlabel("tested on; mAP at an overlap of 0.5, percent, ± deviation", fontsize=8.5)
    figure.supylabel("after learning", fontsize=8.5)
    return figure


def _matrix(axes: Axes, matrices: Array, periods: Sequence[str], most: float) -> None:
    mean = matrices.mean(0)
    spread = matrices.std(0, ddof=1) if len(matrices) > 1 else np.full(mean.shape, np.nan)
    axes.imshow(np.ma.masked_invalid(mean), cmap=MAP, vmin=0, vmax=most)
    for (i, j), value in np.ndenumerate(mean):
        if np.isnan(value):
            continue
        colour = "white" if value < 0.6 * most else INK
        look: dict[str, Any] = {"ha": "center", "va": "center", "color": colour, "gid": AS_DRAWN}
        axes.text(j, i - 0.1, f"{value:.0f}", fontsize=11, **look)
        if np.isfinite(spread[i, j]):
            axes.text(j, i + 0.28, f"±{spread[i, j]:.0f}", fontsize=7.5, **look)
    axes.set_xticks(range(len(periods)), periods)
    axes.set_yticks(range(len(periods)), periods)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
