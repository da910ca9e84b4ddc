"""Dates that were assigned, beside true ones."""

import numpy as np
from matplotlib.figure import Figure

from onward.report.style import BAR, DOT, FAINT, RULE, percent_axis, styled
from onward.types import Array

_MOST = 60


@styled
def assigned_and_true(real: Array, assigned: Array) -> Figure:
    """Draw how many pairs have which true and which assigned month, and how late they are.

    Parameters
    ----------
    real, assigned
        Months since 1970, one of each pair.
    """
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.1, 1])
    pairs, counts = np.unique(np.stack([real, assigned], 1), axis=0, return_counts=True)
    ends = [min(real.min(), assigned.min()) - 7, max(real.max(), assigned.max()) + 7]
    left.plot(ends, ends, color=RULE, linewidth=1.2, zorder=1)
    area = 14 + 220 * counts / counts.max()
    left.scatter(pairs[:, 0], pairs[:, 1], s=area, color=DOT, alpha=0.65, linewidth=0, zorder=2)
    left.set(xlim=ends, ylim=ends, xlabel="true month", ylabel="month first seen")
    left.set_aspect("equal")
    step = max(1, round((ends[1] - ends[0]) / 72))
    years = range(-(-int(ends[0]) // 12), int(ends[1]) // 12 + 1, step)
    for ticks in (left.set_xticks, left.set_yticks):
        ticks([12 * year for year in years], [str(1970 + year) for year in years])
    left.set_title("Each circle is a pair of months", loc="left", fontsize=9.5, color=FAINT)
    lag = assigned - real
    edges = np.arange(min(int(lag.min()), 0), min(max(int(lag.max()), 12), _MOST) + 2) - 0.5
    share = np.histogram(np.clip(lag, edges[0], edges[-1]), edges)[0] * 100 / len(lag)
    right.bar(edges[:-1] + 0.5, share, width=0.85, color=BAR)
    middle = float(np.median(lag))
    right.axvline(middle, color=DOT, linewidth=1.2)
    right.annotate(
        f"median {middle:g}", (middle, share.max()), xytext=(5, -2), textcoords="offset points",
        color=DOT, va="top",
    )  # fmt: skip
    right.set_xlabel("months from true date to first seen")
    right.set_title("How late pairs are seen", loc="left", fontsize=9.5, color=FAINT)
    percent_axis(right, "pairs")
    return figure
